package serve

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
)

// Options configure a [Handler].
type Options struct {
	Path  string   // of the MCP endpoint
	Hosts []string // accepted values of the Host header
	// Origins are accepted values of the Origin header, in addition to the host itself.
	Origins []string
	// Identify authenticates clients with other tokens than those of SetTokens. It may be nil.
	Identify Authenticate
	// Shared keeps sessions for several gates; nil for one.
	Shared Shared
}

// Handler serves clients over streamable HTTP. It is safe for concurrent use.
type Handler struct {
	g        Gateway
	path     string
	tokens   atomic.Pointer[[]Token]
	hosts    map[string]bool
	origins  map[string]bool
	identify Authenticate
	sessions sessions
}

// NewHandler returns a handler without tokens: it refuses every request until SetTokens is called. The caller must close it.
func NewHandler(g Gateway, o Options) *Handler {
	h := &Handler{g: g, path: o.Path, identify: o.Identify, hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, host := range o.Hosts {
		h.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range o.Origins {
		h.origins[strings.ToLower(origin)] = true
	}
	h.SetTokens(nil)
	h.sessions.start(g, o.Shared)
	return h
}

// SetTokens replaces the tokens. A session stays usable if its client has a token of the
// same name.
func (h *Handler) SetTokens(tokens []Token) {
	tokens = slices.Clone(tokens)
	h.tokens.Store(&tokens)
}

// Close ends all sessions and their connections to servers.
func (h *Handler) Close() {
	h.sessions.close()
	h.g.Wait()
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !h.allowedOrigin(r) {
		writeDenial(w, http.StatusForbidden, stopgate.CodeOriginRejected)
		return
	}
	path, given := credential(r)
	if path != h.path {
		writeDenial(w, http.StatusNotFound, stopgate.CodeRouteUnknown)
		return
	}
	who, r, ok := h.authenticate(r, given, r.URL.Path != path)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="stopgate"`)
		writeDenial(w, http.StatusUnauthorized, stopgate.CodeUnauthenticated)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, who)
	case http.MethodGet, http.MethodDelete:
		if r.Header.Get("Mcp-Protocol-Version") >= protocol.Modern || r.Header.Get("Mcp-Session-Id") == "" {
			w.Header().Set("Allow", "POST")
			http.Error(w, "this protocol version has no sessions", http.StatusMethodNotAllowed)
			return
		}
		h.serveSession(w, r, who)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "this method is not served", http.StatusMethodNotAllowed)
	}
}

// writeDenial writes the response to a request that is refused before MCP.
func writeDenial(w http.ResponseWriter, status int, code stopgate.Code) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	env := stopgate.Envelope{Status: "denied", Code: code, PublicReason: code.Public()}
	_, _ = w.Write(protocol.EnvelopeText(env))
}

// Reasons of writeOverloaded.
const (
	tooManySessions = "As many sessions are at work as there may be, 256 for one principal: end one with DELETE, or try again later."
	tooManyRequests = "As many requests of this session are at work as there may be: try again when one is answered."
)

// writeOverloaded refuses a request because a limit is reached (FM14).
func writeOverloaded(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(protocol.EnvelopeText(stopgate.Envelope{Status: "denied", Code: stopgate.CodeOverloaded, PublicReason: why}))
}

// writeError writes a JSON-RPC error.
func writeError(w http.ResponseWriter, status int, id jsonrpc.ID, code int, message string, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(jsonrpc.AppendError(nil, id, code, message, data))
}

// post handles one message.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, who stopgate.Principal) {
	kind, _ := singleHeader(r, "Content-Type")
	if t, _, err := mime.ParseMediaType(kind); err != nil || len(r.Header["Content-Type"]) > 1 || t != "application/json" || r.Header.Get("Content-Encoding") != "" {
		http.Error(w, "the content type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r) {
		http.Error(w, "the Accept header must include application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, jsonrpc.MaxBytes))
	if err != nil {
		status, why := http.StatusBadRequest, "reading the message failed"
		if errors.As(err, new(*http.MaxBytesError)) {
			status, why = http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is longer than %d MiB (fixed limit)", jsonrpc.MaxBytes>>20)
		}
		http.Error(w, why, status)
		return
	}
	m, err := jsonrpc.Read(body)
	if err != nil {
		o := h.sessionlessOwner(r, who)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(h.g.RefuseText(r.Context(), o, err))
		return
	}
	meta := protocol.ReadMeta(m.Params)
	switch version, ok := singleHeader(r, "Mcp-Protocol-Version"); {
	case !ok:
		writeError(w, http.StatusBadRequest, m.ID, jsonrpc.HeaderMismatch, "the header Mcp-Protocol-Version is repeated", nil)
	case version >= protocol.Modern || meta.Version != "":
		h.modern(w, r, who, m, meta, version)
	case version != "" && !slices.Contains(protocol.Legacy, version):
		h.unsupported(w, m, version)
	default:
		h.legacy(w, r, who, m)
	}
}

// accepts reports whether the client accepts both forms of a response.
func accepts(r *http.Request) bool {
	var asJSON, asStream bool
	for _, list := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(list, ",") {
			t, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(t)) {
			case "*/*":
				asJSON, asStream = true, true
			case "application/json", "application/*":
				asJSON = true
			case "text/event-stream", "text/*":
				asStream = true
			}
		}
	}
	return asJSON && asStream
}

// singleHeader returns the value of a header, "" for none. It returns false if the header
// is repeated.
func singleHeader(r *http.Request, name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", true
	}
	return strings.TrimSpace(values[0]), len(values) == 1
}
