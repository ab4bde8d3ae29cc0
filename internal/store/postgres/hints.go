package postgres

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate/approve"
)

var _ approve.FleetStore = (*Store)(nil)

// Hints that other gates are given when a change is committed.
const (
	question = "question"
	lockdown = "lockdown"
)

// hints wakes those who wait for a change by another gate.
type hints struct {
	mu        sync.Mutex
	next      chan struct{} // nil: nobody waits
	listening bool
}

// Hints implements [approve.FleetStore]. The first call begins to listen, on a connection of its own.
func (s *Store) Hints() <-chan struct{} {
	h := &s.hints
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.listening {
		h.listening = true
		go s.db.Listen(context.Background(), h.hear)
	}
	if h.next == nil {
		h.next = make(chan struct{})
	}
	return h.next
}

// hear wakes them. A new connection may have missed hints.
func (h *hints) hear(hint string) {
	if hint != question && hint != "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next != nil {
		close(h.next)
		h.next = nil
	}
}
