package gate

import (
	"context"
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

// join adds an open call to the turn.
func (t *turn) join(id stopgate.ProposalID, permits ...session.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.siblings = append(t.siblings, sibling{id: id, permits: permits})
}

// completes adds what the complete call would permit.
func (t *turn) completes(id stopgate.ProposalID, permits []session.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.siblings {
		if s := &t.siblings[i]; s.id == id {
			s.permits, s.complete = append(s.permits, permits...), true
		}
	}
}

// leave removes a call that is denied or whose release is recorded.
func (t *turn) leave(id stopgate.ProposalID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.siblings = slices.DeleteFunc(t.siblings, func(s sibling) bool { return s.id == id })
}

// underWay returns what the open calls that the model made before this one would permit.
func (t *turn) underWay(id stopgate.ProposalID) (keys []session.Key) {
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

// arriving reports that a call that the model made before this one is not complete yet:
// what it would permit is not known.
func (t *turn) arriving(id stopgate.ProposalID) bool {
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

// premature reports that the objections are about prerequisites that an incomplete call of the
// same turn may satisfy: the policies are asked again when the call is complete.
func (p *pending) premature(all []session.Decision) bool {
	for _, d := range all {
		if d.Code != stopgate.CodePrerequisiteMissing && d.Code != stopgate.CodeReadRequired {
			return false
		}
	}
	return p.shared() && p.turn.arriving(p.id)
}

// shared reports that other calls may belong to the call's turn.
func (p *pending) shared() bool { return p.turn != &p.solo && p.kind == ToolCall }

// announce adds the cells that the complete call would permit to its turn; p.mu is held, and
// released while policies in Go are called.
func (p *pending) announce() {
	if !p.shared() || !p.governed || p.terminal || p.final == nil {
		return
	}
	var c session.Call
	if !p.sessionCall(&c) {
		return // denied when the session policies are asked
	}
	foreign := p.set.Foreign(p.tool)
	if foreign {
		p.mu.Unlock()
	}
	_, marks, r := p.cachedNeeds(context.Background(), &c) // bounded by the limit of policies
	if foreign {
		p.mu.Lock()
	}
	if r.fault != none {
		return // asked again, and denied, before the call leaves
	}
	var keys []session.Key
	for _, m := range marks {
		if m.Permits && m.Opens {
			keys = append(keys, m.Key)
		}
	}
	p.turn.completes(p.id, keys)
}
