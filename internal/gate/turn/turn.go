// Package turn has the state that the calls of one turn share: the position of the facts that
// they see, the one transition to another agent, and the cells that the calls without an
// outcome would permit.
//
//	var t turn.State
//	horizon := t.Begin(head) // the first call fixes it for all calls (S8)
//	t.Join(id, permits)
package turn

import (
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// State is the shared state of the calls of one turn. The zero State is that of a new turn. It
// is safe for concurrent use, except for the fields that are set before the first call.
type State struct {
	mu       sync.Mutex
	known    bool
	head     uint64
	transfer stopgate.ProposalID         // the transition that was taken
	policies atomic.Pointer[session.Set] // those in Go, see PoliciesAtStart
	siblings []sibling                   // its calls without an outcome, in the order of the response

	// Isolated is the state of a turn in a guessed session; nil: the session's own facts.
	Isolated *Isolated
	// Unreadable reports that the state of the session could not be read.
	Unreadable bool
}

// PoliciesAtStart returns the policies in Go that were registered when the first call of the
// turn was opened (S37).
func (t *State) PoliciesAtStart(r *session.Registry) *session.Set {
	if t.policies.Load() == nil {
		t.policies.CompareAndSwap(nil, r.Set())
	}
	return t.policies.Load()
}

// Horizon returns the position of the facts that the turn sees, if it is known.
func (t *State) Horizon() (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, t.known
}

// Begin fixes the position unless another call did, and returns it.
func (t *State) Begin(head uint64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known {
		t.known, t.head = true, head
	}
	return t.head
}

// TakeTransition reserves the turn's one transition.
func (t *State) TakeTransition(id stopgate.ProposalID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.transfer != "" && t.transfer != id {
		return false
	}
	t.transfer = id
	return true
}

// ReturnTransition gives the transition back if it was not made.
func (t *State) ReturnTransition(id stopgate.ProposalID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.transfer == id {
		t.transfer = ""
	}
}
