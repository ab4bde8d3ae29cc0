package serve

import (
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/stream"
)

// noStore is the answer while it is not known whether another gate has begun a session.
const noStore = "the store of sessions cannot be reached: try again"

// legacy handles a message of the revisions with sessions.
func (h *Handler) legacy(w http.ResponseWriter, r *http.Request, who stopgate.Principal, m *jsonrpc.Message) {
	id, ok := singleHeader(r, "Mcp-Session-Id")
	if !ok {
		http.Error(w, "the header Mcp-Session-Id is repeated", http.StatusBadRequest)
		return
	}
	var s *httpSession
	switch {
	case m.Method == "initialize" && m.Kind == jsonrpc.Request && id == "":
		if s = h.sessions.begin(who); s == nil {
			writeOverloaded(w, tooManySessions)
			return
		}
		w.Header().Set("Mcp-Session-Id", s.id)
	case id == "":
		writeError(w, http.StatusBadRequest, m.ID, jsonrpc.InvalidRequest, "the header Mcp-Session-Id is missing: send initialize first", nil)
		return
	default:
		var err error
		if s, err = h.session(r, id, who); err != nil {
			http.Error(w, noStore, http.StatusServiceUnavailable)
			return
		}
		if s == nil {
			writeError(w, http.StatusNotFound, m.ID, jsonrpc.InvalidRequest, "unknown session", nil)
			return
		}
	}
	defer s.release()
	if m.Kind != jsonrpc.Request {
		s.client.HandleMessage(r.Context(), m)
		if m.Method == "notifications/initialized" && h.sessions.share(r.Context(), s) != nil {
			http.Error(w, noStore, http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := stream.NewResponder(w, false)
	if m.Method != "initialize" {
		out.Log = s.logs.New(s.client.ExpectsPrimer())
	}
	// A disconnect does not cancel the request at the server. A call that waits for an
	// approval is denied.
	answer := refused(m.ID)
	out.Keepalive(func() {
		if handle, ok := s.client.Begin(r.Context(), m, out.Send, nil); ok {
			answer = handle()
		}
	})
	if m.Method == "initialize" {
		begun := s.client.Initialized()
		if begun && h.sessions.share(r.Context(), s) != nil {
			begun, answer = false, Refuse(m.ID, jsonrpc.InternalError, noStore)
		}
		if !begun {
			h.sessions.end(s)
			w.Header().Del("Mcp-Session-Id")
		}
	}
	out.Finish(answer.Text, answer.Status, answer.Stream)
}

// serveSession handles GET, the stream of a session, and DELETE, its end.
func (h *Handler) serveSession(w http.ResponseWriter, r *http.Request, who stopgate.Principal) {
	id, ok := singleHeader(r, "Mcp-Session-Id")
	if !ok {
		http.Error(w, "the header Mcp-Session-Id is repeated", http.StatusBadRequest)
		return
	}
	s, err := h.session(r, id, who)
	if err != nil {
		http.Error(w, noStore, http.StatusServiceUnavailable)
		return
	}
	if s == nil {
		http.Error(w, "unknown session", http.StatusNotFound)
		return
	}
	defer s.release()
	switch {
	case r.Method == http.MethodDelete:
		if h.sessions.unshare(r.Context(), s) != nil {
			http.Error(w, noStore, http.StatusServiceUnavailable)
			return
		}
		h.sessions.end(s)
		w.WriteHeader(http.StatusNoContent)
	case r.Header.Get("Last-Event-ID") != "":
		log, n := s.logs.Find(r.Header.Get("Last-Event-ID"))
		if log == nil {
			http.Error(w, "unknown or expired event id", http.StatusBadRequest)
			return
		}
		log.Resume(r.Context(), w, n, s.done)
	case !accepts(r) && !strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		http.Error(w, "the Accept header must include text/event-stream", http.StatusNotAcceptable)
	default:
		s.stream(r.Context(), w)
	}
}

// session returns and acquires a session, nil if the principal has none of this id.
func (h *Handler) session(r *http.Request, id string, who stopgate.Principal) (*httpSession, error) {
	if s := h.sessions.find(id, who); s != nil {
		over, err := h.sessions.overElsewhere(r.Context(), s)
		if !over && err == nil {
			return s, nil
		}
		s.release()
		if over {
			h.sessions.end(s)
		}
		return nil, err
	}
	return h.sessions.take(r.Context(), id, who)
}
