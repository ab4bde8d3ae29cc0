package turn

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// sibling is a call of a turn without an outcome, with the cells in which its success would
// add a permit. A prerequisite that the model calls in the same response is pending and not
// missing: the code is the same whether the calls are decided one after the other or all at
// the end of the response.
type sibling struct {
	id       stopgate.ProposalID
	permits  []session.Key
	complete bool // permits is all of them
}

// Join adds an open call to the turn.
func (t *State) Join(id stopgate.ProposalID, permits ...session.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.siblings = append(t.siblings, sibling{id: id, permits: permits})
}

// Completes adds the cells that the complete call would permit.
func (t *State) Completes(id stopgate.ProposalID, permits []session.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.siblings {
		if s := &t.siblings[i]; s.id == id {
			s.permits, s.complete = append(s.permits, permits...), true
		}
	}
}

// Leave removes a call that is denied or whose release is recorded.
func (t *State) Leave(id stopgate.ProposalID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.siblings = slices.DeleteFunc(t.siblings, func(s sibling) bool { return s.id == id })
}

// UnderWay returns the cells that the open calls before this one would permit.
func (t *State) UnderWay(id stopgate.ProposalID) (keys []session.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.siblings {
		if s.id == id {
			break
		}
		keys = append(keys, s.permits...)
	}
	return keys
}

// Arriving reports whether a call before this one is still incomplete, so that the cells
// that it would permit are unknown.
func (t *State) Arriving(id stopgate.ProposalID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.siblings {
		if s.id == id {
			return false
		}
		if !s.complete {
			return true
		}
	}
	return false
}
