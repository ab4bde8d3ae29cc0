package mcpgate

import (
	"net/http"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate/mirror"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// modern takes a message in the revision without sessions. What the headers say must be
// what the body says (WIRE 8.7).
func (h *Handler) modern(w http.ResponseWriter, r *http.Request, who stopgate.Principal, m *jsonrpc.Message, meta requestMeta, version string) {
	wrong, code := "", jsonrpc.HeaderMismatch
	switch {
	case version == "":
		wrong = "Mcp-Protocol-Version is missing"
	case m.Kind == jsonrpc.Request && meta.version == "":
		wrong, code = "_meta has no "+metaVersion, jsonrpc.InvalidParams
	case meta.version != "" && meta.version != version:
		wrong = "Mcp-Protocol-Version differs from the message's"
	case version != modernRevision:
		h.unsupported(w, m, version)
		return
	case m.Kind == jsonrpc.Request && !meta.capabilities.IsValid():
		wrong, code = "_meta has no "+metaCapabilities, jsonrpc.InvalidParams
	default:
		wrong = mirrorsEnvelope(r, m)
	}
	if wrong != "" {
		h.refused(r, who, m, code)
		failure(w, http.StatusBadRequest, m.ID, code, wrong, nil)
		return
	}
	p := h.sessions.shared(h.weak(r, who))
	if p == nil {
		overloaded(w, tooManySessions)
		return
	}
	if m.Kind != jsonrpc.Request {
		// Without sessions there is nothing that a client's own message could be about.
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := newResponder(w, true)
	ctx, x, ok := p.begin(r.Context(), m, out.send)
	if !ok {
		overloaded(w, tooManyRequests)
		return
	}
	x.header = func(name string) (string, bool) {
		values := r.Header.Values(name)
		if len(values) != 1 {
			return "", len(values) > 0
		}
		return values[0], true
	}
	out.finish(out.alive(func() reply { return p.answer(ctx, m, x) }))
}

// unsupported answers for a revision that the gate does not know.
func (h *Handler) unsupported(w http.ResponseWriter, m *jsonrpc.Message, version string) {
	var o object
	list := []byte("[")
	for _, v := range append(legacyRevisions[1:len(legacyRevisions):len(legacyRevisions)], modernRevision) {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), v...), '"')
	}
	o.raw("supported", append(list, ']')).text("requested", version)
	failure(w, http.StatusBadRequest, m.ID, jsonrpc.UnsupportedVersion, "Unsupported protocol version", o.end())
}

// refused puts a call on record whose message is refused.
func (h *Handler) refused(r *http.Request, who stopgate.Principal, m *jsonrpc.Message, code int) {
	if m.Method != "tools/call" {
		return
	}
	reason := stopgate.CodeProtocolViolation
	if code == jsonrpc.HeaderMismatch {
		reason = stopgate.CodeEnvelopeMismatch
	}
	o := h.weak(r, who)
	p := &peer{g: h.g, owner: o}
	p.refuseCall(r.Context(), stopgate.Call{
		Tool: stopgate.ToolName(textOf(m.Params, "name")), ID: stopgate.CallID(m.ID), Session: o.Session, Principal: o.Principal,
		Surface: stopgate.SurfaceMCP, Dialect: dialect,
	}, reason)
}

// mirrorsEnvelope compares the headers that mirror the method and the name.
func mirrorsEnvelope(r *http.Request, m *jsonrpc.Message) string {
	if m.Method == "" {
		return ""
	}
	method, ok := only(r, mirror.Method)
	if !ok || method != m.Method {
		return "Mcp-Method must be the message's method"
	}
	want := nameOf(m)
	name, ok := only(r, mirror.Name)
	decoded, valid := mirror.Decode(name)
	if needs := m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read"; needs && (!ok || !valid || decoded != want) {
		return "Mcp-Name must be the name in the message"
	}
	return ""
}
