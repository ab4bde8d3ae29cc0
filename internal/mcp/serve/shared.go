package serve

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Shared keeps how sessions began, for gates that share it: any of them can go on with a session
// that another has begun.
type Shared interface {
	// PutLogEntries stores entries of a principal, and LogEntry returns one, nil if there is none.
	PutLogEntries(ctx context.Context, p stopgate.Principal, entries map[string][]byte) error
	LogEntry(ctx context.Context, p stopgate.Principal, key string) ([]byte, error)
}

// entryOf is the key of a session's entry.
func entryOf(id string) string { return "mcp-session:" + id }

// ended is the entry of a session that a client has ended.
var ended = []byte("ended")

// share stores how a session began. Without it the session is known to this gate only.
func (s *sessions) share(ctx context.Context, h *httpSession) error {
	if s.shared == nil {
		return nil
	}
	return s.shared.PutLogEntries(ctx, h.owner.Principal, map[string][]byte{entryOf(h.id): h.client.Handshake()})
}

// unshare keeps other gates from going on with a session.
func (s *sessions) unshare(ctx context.Context, h *httpSession) error {
	if s.shared == nil {
		return nil
	}
	return s.shared.PutLogEntries(ctx, h.owner.Principal, map[string][]byte{entryOf(h.id): ended})
}

// overElsewhere reports whether the client has ended a session at another gate.
func (s *sessions) overElsewhere(ctx context.Context, h *httpSession) (bool, error) {
	if s.shared == nil || h.id == "" {
		return false, nil
	}
	entry, err := s.shared.LogEntry(ctx, h.owner.Principal, entryOf(h.id))
	return string(entry) == string(ended), err
}

// sweepTime bounds how long a sweep reads whether sessions were ended at other gates.
const sweepTime = 10 * time.Second

// endElsewhere ends the sessions in use, such as those with open streams, that their clients have ended at
// other gates: nothing asks for them here.
func (s *sessions) endElsewhere() {
	if s.shared == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sweepTime)
	defer cancel()
	s.mu.Lock()
	var used []*httpSession
	for _, h := range s.byID {
		if _, idle := h.idleSince(); !idle {
			used = append(used, h)
		}
	}
	s.mu.Unlock()
	for _, h := range used {
		if over, err := s.overElsewhere(ctx, h); err != nil {
			return // the next sweep finds them
		} else if over {
			s.end(h)
		}
	}
}

// take goes on with a session that another gate has begun, and acquires it. It returns nil if there
// is none. The connections to servers are new: they repeat the client's handshake.
func (s *sessions) take(ctx context.Context, id string, who stopgate.Principal) (*httpSession, error) {
	if s.shared == nil || !validSession(id) {
		return nil, nil
	}
	begun, err := s.shared.LogEntry(ctx, who, entryOf(id))
	if err != nil || len(begun) == 0 || string(begun) == string(ended) {
		return nil, err
	}
	h := newSession(id, who)
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.byID[id]; other != nil { // another request was faster
		if other.owner.Principal != who {
			return nil, nil
		}
		other.acquire()
		return other, nil
	}
	if s.closed || !s.evictIdle(who) || len(s.byID) >= maxSessions {
		return nil, nil
	}
	h.client = s.g.NewClient(h.owner, Connection{Session: id, Send: h.sendUnsolicited})
	if err := h.client.Resume(begun); err != nil {
		s.evicted.Go(h.close)
		return nil, err
	}
	s.byID[id] = h
	return h, nil
}

// newSession returns a session with one user.
func newSession(id string, who stopgate.Principal) *httpSession {
	return &httpSession{id: id, owner: session.Owner{Principal: who, Session: stopgate.SessionID("mcp:" + id)}, users: 1, lastUsed: time.Now(), done: make(chan struct{})}
}
