package mcpgate

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
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// HTTPOptions set up a [Handler].
type HTTPOptions struct {
	// Tokens let clients in. Every request needs one, on the loopback too (THREATS G9):
	// as a bearer token, or in the path, /k/TOKEN/mcp, for clients that can only be
	// given a URL.
	Tokens []Token
	// Hosts are the values of the Host header that are let in, beside those of
	// [Settings]: the names of the address listened on.
	Hosts []string
}

// Path is where the MCP endpoint is.
const Path = "/mcp"

// Handler serves clients over streamable HTTP. It is safe for concurrent use.
type Handler struct {
	g        *Gateway
	tokens   atomic.Pointer[[]Token]
	hosts    map[string]bool
	origins  map[string]bool
	sessions sessions
}

// Handler returns the HTTP side of the gateway. Close it when it serves no more.
func (g *Gateway) Handler(o HTTPOptions) (*Handler, error) {
	if len(o.Tokens) == 0 {
		return nil, errors.New("mcpgate: over HTTP there is no client without a token")
	}
	h := &Handler{g: g, hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, host := range append(slices.Clone(o.Hosts), g.set.Hosts...) {
		h.hosts[strings.ToLower(host)] = true
	}
	for _, origin := range g.set.Origins {
		h.origins[strings.ToLower(origin)] = true
	}
	h.SetTokens(o.Tokens)
	h.sessions.start(g)
	return h, nil
}

// SetTokens replaces the tokens that let clients in. Sessions go on as long as their
// client has a token of the same name.
func (h *Handler) SetTokens(tokens []Token) {
	tokens = slices.Clone(tokens)
	h.tokens.Store(&tokens)
}

// Close ends all sessions and the servers that belong to them.
func (h *Handler) Close() {
	h.sessions.close()
	h.g.work.Wait()
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store, no-transform")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !h.expected(r) {
		fail(w, http.StatusForbidden, stopgate.CodeOriginRejected)
		return
	}
	path, given := credential(r)
	if path != Path {
		fail(w, http.StatusNotFound, stopgate.CodeRouteUnknown)
		return
	}
	who, ok := bearer(*h.tokens.Load(), given)
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="stopgate"`)
		fail(w, http.StatusUnauthorized, stopgate.CodeUnauthenticated)
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, who)
	case http.MethodGet, http.MethodDelete:
		if r.Header.Get("Mcp-Protocol-Version") >= modernRevision || r.Header.Get("Mcp-Session-Id") == "" {
			w.Header().Set("Allow", "POST")
			http.Error(w, "there are no sessions here", http.StatusMethodNotAllowed)
			return
		}
		h.session(w, r, who)
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "this method is not served", http.StatusMethodNotAllowed)
	}
}

// fail answers what is no MCP request yet.
func fail(w http.ResponseWriter, status int, code stopgate.Code) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	env := stopgate.Envelope{Status: "denied", Code: code, PublicReason: code.Public()}
	_, _ = w.Write(envelopeText(env))
}

// What there is too much of, and what makes room.
const (
	tooManySessions = "As many sessions are at work as there may be, 256 for one principal: end one with DELETE, or try again later."
	tooManyRequests = "As many requests of this session are at work as there may be: try again when one is answered."
)

// overloaded refuses what there is no room for now (FM14).
func overloaded(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write(envelopeText(stopgate.Envelope{Status: "denied", Code: stopgate.CodeOverloaded, PublicReason: why}))
}

// failure answers with a JSON-RPC error.
func failure(w http.ResponseWriter, status int, id jsonrpc.ID, code int, message string, data []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(jsonrpc.AppendError(nil, id, code, message, data))
}

// post takes one message.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, who stopgate.Principal) {
	kind, _ := only(r, "Content-Type")
	if t, _, err := mime.ParseMediaType(kind); err != nil || len(r.Header["Content-Type"]) > 1 || t != "application/json" || r.Header.Get("Content-Encoding") != "" {
		http.Error(w, "send application/json", http.StatusUnsupportedMediaType)
		return
	}
	if !accepts(r) {
		http.Error(w, "accept application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, jsonrpc.MaxBytes))
	if err != nil {
		status, why := http.StatusBadRequest, "the message cannot be read"
		if errors.As(err, new(*http.MaxBytesError)) {
			status, why = http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is longer than %d MiB, which no setting changes", jsonrpc.MaxBytes>>20)
		}
		http.Error(w, why, status)
		return
	}
	m, err := jsonrpc.Read(body)
	if err != nil {
		o := h.weak(r, who)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(h.g.broken(r.Context(), o, err))
		return
	}
	meta := readMeta(m.Params)
	switch version, ok := only(r, "Mcp-Protocol-Version"); {
	case !ok:
		failure(w, http.StatusBadRequest, m.ID, jsonrpc.HeaderMismatch, "Mcp-Protocol-Version stands there twice", nil)
	case version >= modernRevision || meta.version != "":
		h.modern(w, r, who, m, meta, version)
	case version != "" && !slices.Contains(legacyRevisions, version):
		h.unsupported(w, m, version)
	default:
		h.legacy(w, r, who, m)
	}
}

// accepts reports whether the client takes both forms of an answer.
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

// only is the single value of a header, "" for none; false where there are several.
func only(r *http.Request, name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", true
	}
	return strings.TrimSpace(values[0]), len(values) == 1
}
