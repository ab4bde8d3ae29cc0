package session

import (
	"github.com/stopgate/stopgate"
)

// asked reports whether a policy is asked about a call as far as it is known: one
// that needs arguments waits for them.
func (e *entry) asked(c *Call) bool {
	return e.enabled && (c.Args.IsValid() || e.keyless)
}

// CheckAll asks every policy that governs the call. All objections are collected,
// in registration order, and the first is the primary one (X2); without
// any the primary decision allows (TPS-12: that is no objection, not a permission).
func (s *Set) CheckAll(v View, c Call) (primary Decision, all []Decision) {
	return s.CheckEach(&v, &c, func(_ Policy, f func() Decision) Decision { return f() })
}

// CheckEach is CheckAll with every policy that is not [Bounded] run by a function,
// for a caller that bounds what code from elsewhere may take: that gets copies.
func (s *Set) CheckEach(v *View, c *Call, run func(Policy, func() Decision) Decision) (primary Decision, all []Decision) {
	entries := s.govern(c.Tool).entries
	for i := range entries {
		e := &entries[i]
		if !e.asked(c) {
			continue
		}
		var d Decision
		if e.bounded {
			d = e.check(v, c)
		} else {
			d = e.elsewhere(*v, *c, run)
		}
		if d.Allowed {
			continue
		}
		if d.Policy = e.policy.Name(); !d.Code.Valid() {
			d.Code = stopgate.CodeInvalidPolicyResult
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return Allow(), nil
	}
	return all[0], all
}

func (e *entry) check(v *View, c *Call) Decision {
	if e.active != nil && !e.active.Active(*v) {
		return Allow()
	}
	return e.policy.Check(*v, *c)
}

// elsewhere is check of a policy that somebody else wrote.
func (e *entry) elsewhere(v View, c Call, run func(Policy, func() Decision) Decision) Decision {
	return run(e.policy, func() Decision { return e.check(&v, &c) })
}

// Observes reports whether a policy wants to hear of the tool's results, and the
// cells it then looks at.
func (s *Set) Observes(c Call) (keys []Key, ok bool) {
	for _, e := range s.govern(c.Tool).entries {
		if _, is := as[Observer](e.policy); is {
			keys, ok = append(keys, e.policy.Needs(c)...), true
		}
	}
	return keys, ok
}

// NotifyResult lets the policies note the result of a call that did not fail
// (TPS-08): what they return are the Noted facts on their own cells, everything else is
// dropped.
func (s *Set) NotifyResult(v View, r Result) []Fact {
	var notes []Fact
	if r.Kind != Succeeded && r.Kind != Finished {
		return nil
	}
	for _, e := range s.govern(r.Call.Tool).entries {
		o, ok := as[Observer](e.policy)
		if !ok {
			continue
		}
		for _, f := range o.OnResult(v, r) {
			if f.Kind == Noted && f.Key.Space == SpaceNote && f.Key.Name == f.Name && named(e.policy, f.Name) {
				f.At, f.Proposal, f.Tool, f.Observed = r.At, r.Call.Proposal, r.Call.Tool, r.Seen
				notes = append(notes, f)
			}
		}
	}
	return notes
}

// named reports whether a policy, or one inside it, has a name: a policy does not know
// what it is wrapped in.
func named(p Policy, name string) bool {
	for p != nil && p.Name() != name {
		w, wraps := p.(Unwrapper)
		if !wraps {
			return false
		}
		p = w.Unwrap()
	}
	return p != nil
}
