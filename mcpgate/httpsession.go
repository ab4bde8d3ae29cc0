package mcpgate

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// httpSession is one session of the revisions that have sessions. Its id is the gate's
// own and means something to its principal only.
type httpSession struct {
	id   string
	peer *peer

	mu     sync.Mutex
	users  int // requests and streams that are open
	used   time.Time
	get    *responder // the session's own stream, nil while there is none
	kept   [][]byte   // messages that wait for it
	gone   chan struct{}
	closed bool
	// What was said on the streams of requests, the newest last, and how many there were.
	replays []*replay
	streams int
}

const (
	maxSessions = 4096
	maxOwn      = 256 // of one principal: each of them has servers of its own
	idle        = 30 * time.Minute
	maxKept     = 64
)

// sessions are the clients over HTTP.
type sessions struct {
	g      *Gateway
	stop   chan struct{}
	swept  chan struct{}
	mu     sync.Mutex
	byID   map[string]*httpSession
	peers  map[session.Owner]*httpSession // of the revision without sessions
	closed bool
}

func (s *sessions) start(g *Gateway) {
	s.g, s.byID, s.peers = g, map[string]*httpSession{}, map[session.Owner]*httpSession{}
	s.stop, s.swept = make(chan struct{}), make(chan struct{})
	go s.sweep()
}

// begin makes a session; nil if there are too many.
func (s *sessions) begin(who stopgate.Principal) *httpSession {
	id := rand.Text() + rand.Text()
	h := &httpSession{id: id, users: 1, used: time.Now(), gone: make(chan struct{})}
	h.peer = s.g.newPeer(session.Owner{Principal: who, Session: stopgate.SessionID("mcp:" + id)}, h.stray)
	h.peer.session = id
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.makeRoom(who) || len(s.byID) >= maxSessions {
		return nil
	}
	s.byID[id] = h
	return h
}

// makeRoom lets a principal have one more session: the one that it has not used for the
// longest time ends for it, if it has many. It reports whether there is room. Called with
// mu held.
func (s *sessions) makeRoom(who stopgate.Principal) bool {
	own, forget := 0, func() {}
	var oldest *httpSession
	var since time.Time
	look := func(h *httpSession, leave func()) {
		if h.peer.owner.Principal != who {
			return
		}
		own++
		if used, ok := h.atRest(); ok && (oldest == nil || used.Before(since)) {
			oldest, since, forget = h, used, leave
		}
	}
	for id, h := range s.byID {
		look(h, func() { delete(s.byID, id) })
	}
	for o, h := range s.peers {
		look(h, func() { delete(s.peers, o) })
	}
	if own < maxOwn {
		return true
	}
	if oldest == nil {
		return false
	}
	forget()
	s.g.work.Go(oldest.close)
	return true
}

// find returns a principal's session and uses it; nil if it has none of this id.
func (s *sessions) find(id string, who stopgate.Principal) *httpSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.byID[id]
	if h == nil || h.peer.owner.Principal != who {
		return nil
	}
	h.enter()
	return h
}

// shared returns the peer of a principal in the revision without sessions.
func (s *sessions) shared(o session.Owner) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.peers[o]
	if h == nil {
		if s.closed || !s.makeRoom(o.Principal) || len(s.peers) >= maxSessions {
			return nil
		}
		h = &httpSession{gone: make(chan struct{})}
		h.peer = s.g.newPeer(o, nil)
		h.peer.shared = true
		s.peers[o] = h
	}
	h.mu.Lock()
	h.used = time.Now()
	h.mu.Unlock()
	return h.peer
}

// end ends one session.
func (s *sessions) end(h *httpSession) {
	s.mu.Lock()
	if s.byID[h.id] == h {
		delete(s.byID, h.id)
	}
	s.mu.Unlock()
	h.close()
}

func (h *httpSession) close() {
	h.mu.Lock()
	first := !h.closed
	h.closed = true
	h.mu.Unlock()
	if first {
		close(h.gone)
		h.peer.close()
	}
}

func (h *httpSession) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users++
}

func (h *httpSession) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
	h.used = time.Now()
}

// resting reports whether nobody has used a session for long.
func (h *httpSession) resting(now time.Time) bool {
	used, ok := h.atRest()
	return ok && now.Sub(used) > idle
}

// atRest reports whether nobody uses a session now, and when somebody did.
func (h *httpSession) atRest() (used time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.used, h.users == 0 && !h.peer.busy()
}

// sweep ends sessions that nobody uses any more.
func (s *sessions) sweep() {
	defer close(s.swept)
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case now := <-tick.C:
			for _, h := range s.rested(now) {
				h.close()
			}
		}
	}
}

func (s *sessions) rested(now time.Time) (list []*httpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, h := range s.byID {
		if h.resting(now) {
			delete(s.byID, id)
			list = append(list, h)
		}
	}
	for o, h := range s.peers {
		if h.resting(now) {
			delete(s.peers, o)
			list = append(list, h)
		}
	}
	return list
}

func (s *sessions) close() {
	close(s.stop)
	<-s.swept
	s.mu.Lock()
	s.closed = true
	var all []*httpSession
	for _, h := range s.byID {
		all = append(all, h)
	}
	for _, h := range s.peers {
		all = append(all, h)
	}
	s.mu.Unlock()
	var work sync.WaitGroup
	for _, h := range all {
		work.Go(h.close)
	}
	work.Wait()
}

// busy reports whether a request is open.
func (p *peer) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.order) > 0
}

// stray takes a message that belongs to no request: to the session's own stream, else
// to the newest request, else it waits for the stream.
func (h *httpSession) stray(text []byte) bool {
	h.mu.Lock()
	get := h.get
	h.mu.Unlock()
	if get != nil && get.send(text) {
		return true
	}
	if x := h.peer.newest(); x != nil && x.tell(text) {
		return true
	}
	h.mu.Lock()
	full := len(h.kept) == maxKept
	if full {
		h.kept = h.kept[1:]
	}
	h.kept = append(h.kept, text)
	h.mu.Unlock()
	if full {
		h.peer.renew()
	}
	return true
}

// stream is the session's own stream, until the client goes or the session ends.
func (h *httpSession) stream(ctx context.Context, w http.ResponseWriter) {
	out := newResponder(w, false)
	h.mu.Lock()
	if h.get != nil {
		h.mu.Unlock()
		http.Error(w, "the session has its stream already", http.StatusConflict)
		return
	}
	h.get = out
	kept := h.kept
	h.kept = nil
	h.mu.Unlock()
	h.peer.renew() // what was said on a stream that broke off may be lost
	out.open()
	for _, text := range kept {
		out.send(text)
	}
	out.idle(ctx, h.gone)
	h.mu.Lock()
	h.get = nil
	h.mu.Unlock()
	out.end()
}

// weak is whose state a request without a session belongs to: what the client calls its
// session, else all that the principal sends (DECISIONS S22).
func (h *Handler) weak(r *http.Request, who stopgate.Principal) session.Owner {
	o := session.Owner{Principal: who, Session: "mcp:weak"}
	if id, ok := only(r, "X-Stopgate-Session"); ok && validSession(id) {
		o.Session = stopgate.SessionID(id)
	}
	return o
}

// validSession reports whether a client can call its session so (WIRE 7.3).
func validSession(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return id != "" && len(id) <= 128
}
