package mcpgate

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate/mirror"
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

// expected reports whether a request may come from where it says it comes from: a page
// of a browser is let in only if its origin is known, and under names that are ours, so
// that no name can be bound to us (CVE-2025-66414).
func (h *Handler) expected(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	bare := host
	if name, _, err := net.SplitHostPort(host); err == nil {
		bare = name
	}
	if !h.hosts[host] && !h.hosts[strings.Trim(bare, "[]")] {
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 || h.origins[strings.ToLower(origins[0])] {
		return len(origins) == 1
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// credential is the token of a request, and its path without it. Of two tokens that
// differ neither counts: whose request it is would be a guess (G10).
func credential(r *http.Request) (path, token string) {
	path = r.URL.Path
	token, known := bearerOf(r)
	if rest, ok := strings.CutPrefix(path, "/k/"); ok {
		inPath, rest, _ := strings.Cut(rest, "/")
		if !known || token != "" && token != inPath {
			inPath = ""
		}
		return "/" + rest, inPath
	}
	return path, token
}

// bearerOf is the token in the one Authorization header of a request; not known, where
// it is not plainly one. What has another scheme is none: it may be the password for a
// proxy in front of the gate.
func bearerOf(r *http.Request) (token string, known bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", len(values) == 0
	}
	scheme, given, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	token = strings.TrimSpace(given)
	return token, token != ""
}

// fail answers what is no MCP request yet.
func fail(w http.ResponseWriter, status int, code stopgate.Code) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	env := stopgate.Envelope{Status: "denied", Code: code, PublicReason: code.Public()}
	_, _ = w.Write(envelopeText(env))
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
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the message cannot be read", status)
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
		fail(w, http.StatusServiceUnavailable, stopgate.CodeOverloaded)
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
		fail(w, http.StatusServiceUnavailable, stopgate.CodeOverloaded)
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

// legacy takes a message in one of the revisions with sessions.
func (h *Handler) legacy(w http.ResponseWriter, r *http.Request, who stopgate.Principal, m *jsonrpc.Message) {
	id, ok := only(r, "Mcp-Session-Id")
	if !ok {
		http.Error(w, "Mcp-Session-Id stands there twice", http.StatusBadRequest)
		return
	}
	var s *httpSession
	switch {
	case m.Method == "initialize" && m.Kind == jsonrpc.Request && id == "":
		if s = h.sessions.begin(who); s == nil {
			fail(w, http.StatusServiceUnavailable, stopgate.CodeOverloaded)
			return
		}
		w.Header().Set("Mcp-Session-Id", s.id)
	case id == "":
		failure(w, http.StatusBadRequest, m.ID, jsonrpc.InvalidRequest, "Mcp-Session-Id is missing: initialize first", nil)
		return
	default:
		if s = h.sessions.find(id, who); s == nil {
			failure(w, http.StatusNotFound, m.ID, jsonrpc.InvalidRequest, "there is no such session", nil)
			return
		}
	}
	defer s.leave()
	if m.Kind != jsonrpc.Request {
		s.peer.note(r.Context(), m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := newResponder(w, false)
	if m.Method != "initialize" {
		out.log = s.replay()
	}
	// A client that is gone has not cancelled what it asked for; what waits for somebody
	// is denied all the same.
	answer := out.alive(func() reply { return s.peer.serve(r.Context(), m, out.send) })
	if m.Method == "initialize" && !s.peer.ready("tools/list") {
		h.sessions.end(s)
		w.Header().Del("Mcp-Session-Id")
	}
	out.finish(answer)
}

// session takes GET, the stream of a session, and DELETE, its end.
func (h *Handler) session(w http.ResponseWriter, r *http.Request, who stopgate.Principal) {
	id, ok := only(r, "Mcp-Session-Id")
	if !ok {
		http.Error(w, "Mcp-Session-Id stands there twice", http.StatusBadRequest)
		return
	}
	s := h.sessions.find(id, who)
	if s == nil {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return
	}
	defer s.leave()
	switch {
	case r.Method == http.MethodDelete:
		h.sessions.end(s)
		w.WriteHeader(http.StatusNoContent)
	case r.Header.Get("Last-Event-ID") != "":
		log, n := s.find(r.Header.Get("Last-Event-ID"))
		if log == nil {
			http.Error(w, "there is no such event, or not any more", http.StatusBadRequest)
			return
		}
		s.resume(r.Context(), w, log, n)
	case !accepts(r) && !strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		http.Error(w, "accept text/event-stream", http.StatusNotAcceptable)
	default:
		s.stream(r.Context(), w)
	}
}
