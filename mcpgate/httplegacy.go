package mcpgate

import (
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

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
			overloaded(w, tooManySessions)
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
