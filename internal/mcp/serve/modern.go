package serve

import (
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/mirror"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/stream"
)

// modern handles a message of the revision without sessions. The headers must agree with
// the body.
func (h *Handler) modern(w http.ResponseWriter, r *http.Request, who stopgate.Principal, m *jsonrpc.Message, meta protocol.Meta, version string) {
	wrong, code := "", jsonrpc.HeaderMismatch
	switch {
	case version == "":
		wrong = "Mcp-Protocol-Version is missing"
	case m.Kind == jsonrpc.Request && meta.Version == "":
		wrong, code = "_meta has no "+protocol.MetaVersion, jsonrpc.InvalidParams
	case meta.Version != "" && meta.Version != version:
		wrong = "Mcp-Protocol-Version differs from the message's"
	case version != protocol.Modern:
		h.unsupported(w, m, version)
		return
	case m.Kind == jsonrpc.Request && !meta.Capabilities.IsValid():
		wrong, code = "_meta has no "+protocol.MetaCapabilities, jsonrpc.InvalidParams
	default:
		wrong = checkMirrored(r, m)
	}
	if wrong != "" {
		h.recordRefused(r, who, m, code)
		writeError(w, http.StatusBadRequest, m.ID, code, wrong, nil)
		return
	}
	p := h.sessions.sessionlessClient(h.sessionlessOwner(r, who))
	if p == nil {
		writeOverloaded(w, tooManySessions)
		return
	}
	if m.Kind != jsonrpc.Request {
		// Without sessions, notifications and responses of a client have no recipient.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := stream.NewResponder(w, true)
	handle, ok := p.Begin(r.Context(), m, out.Send, func(name string) (string, bool) {
		values := r.Header.Values(name)
		if len(values) != 1 {
			return "", len(values) > 0
		}
		return values[0], true
	})
	if !ok {
		writeOverloaded(w, tooManyRequests)
		return
	}
	var answer Reply
	out.Keepalive(func() { answer = handle() })
	out.Finish(answer.Text, answer.Status, answer.Stream)
}

// unsupported responds to an unknown protocol version.
func (h *Handler) unsupported(w http.ResponseWriter, m *jsonrpc.Message, version string) {
	var o jsonrpc.Object
	list := []byte("[")
	for _, v := range append(protocol.Legacy[1:len(protocol.Legacy):len(protocol.Legacy)], protocol.Modern) {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), v...), '"')
	}
	o.Raw("supported", append(list, ']')).Text("requested", version)
	writeError(w, http.StatusBadRequest, m.ID, jsonrpc.UnsupportedVersion, "Unsupported protocol version", o.End())
}

// recordRefused records a call whose message is refused.
func (h *Handler) recordRefused(r *http.Request, who stopgate.Principal, m *jsonrpc.Message, code int) {
	if m.Method != "tools/call" {
		return
	}
	reason := stopgate.CodeProtocolViolation
	if code == jsonrpc.HeaderMismatch {
		reason = stopgate.CodeEnvelopeMismatch
	}
	h.g.RefuseCall(r.Context(), h.sessionlessOwner(r, who), m, reason)
}

// checkMirrored compares the headers that mirror the method and the name. It returns the
// difference, "" if there is none.
func checkMirrored(r *http.Request, m *jsonrpc.Message) string {
	if m.Method == "" {
		return ""
	}
	method, ok := singleHeader(r, mirror.Method)
	if !ok || method != m.Method {
		return "Mcp-Method must be the message's method"
	}
	want := protocol.NameOf(m)
	name, ok := singleHeader(r, mirror.Name)
	decoded, valid := mirror.Decode(name)
	if needs := m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"; needs && (!ok || !valid || decoded != want) {
		return "Mcp-Name must be the name in the message"
	}
	return ""
}
