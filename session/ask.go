package session

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
)

// isAsked reports whether the policy is asked about a call now: a policy that needs
// arguments is asked when they are complete.
func (e *entry) isAsked(c *Call) bool {
	return e.enabled && (c.Args.IsValid() || e.keyless)
}

// CheckAll asks every policy that governs the call. It returns all objections in
// registration order, and the first as the primary decision (X2): the first that denies, or
// where none does, the first that asks. Without objections the primary decision allows, which
// does not permit the call by itself (TPS-12).
func (s *Set) CheckAll(v View, c Call) (primary Decision, all []Decision) {
	return s.CheckEach(&v, &c, func(_ Policy, f func() Decision) Decision { return f() })
}

// CheckEach is CheckAll that calls run for every policy that is not [Bounded], so that the
// caller can set a deadline for it. Such policies get copies of v and c.
func (s *Set) CheckEach(v *View, c *Call, run func(Policy, func() Decision) Decision) (primary Decision, all []Decision) {
	entries := s.govern(c.Tool).entries
	for i := range entries {
		e := &entries[i]
		if !e.isAsked(c) {
			continue
		}
		var d Decision
		if e.bounded {
			d = e.check(v, c)
		} else {
			d = e.checkForeign(*v, *c, run)
		}
		if d.Allowed {
			continue
		}
		if d.Policy = e.policy.Name(); !d.Code.Valid() {
			d.Code, d.Ask = stopgate.CodeInvalidPolicyResult, false
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return Allow(), nil
	}
	for i := range all {
		if !all[i].Ask {
			return all[i], all
		}
	}
	return all[0], all
}

func (e *entry) check(v *View, c *Call) Decision {
	if e.active != nil && !e.active.Active(*v) {
		return Allow()
	}
	return e.policy.Check(*v, *c)
}

// checkForeign is check for a policy that is not [Bounded].
func (e *entry) checkForeign(v View, c Call, run func(Policy, func() Decision) Decision) Decision {
	return run(e.policy, func() Decision { return e.check(&v, &c) })
}

// Observed reports whether a policy is an [Observer] of the tool's results.
func (s *Set) Observed(tool stopgate.ToolName) bool { return s.govern(tool).results }

// ObserverNeeds returns the cells that the observers of a call's result read.
func (s *Set) ObserverNeeds(c Call) (keys []Key) {
	for _, e := range s.govern(c.Tool).entries {
		if e.observer != nil {
			keys = append(keys, e.policy.Needs(c)...)
		}
	}
	return keys
}

// NotifyResult is [Set.Learn] without the errors of policies.
func (s *Set) NotifyResult(v View, r Result) []Fact {
	notes, _ := s.Learn(v, r)
	return notes
}

// Learn calls the observers of a call that did not fail (TPS-08) and returns their
// Noted facts. Facts of another kind, or on cells of another policy, are dropped. After the error
// of a [Remote] policy it returns the notes of the others.
func (s *Set) Learn(v View, r Result) (notes []Fact, err error) {
	if r.Kind != Succeeded && r.Kind != Finished {
		return nil, nil
	}
	for _, e := range s.govern(r.Call.Tool).entries {
		if e.observer == nil {
			continue
		}
		facts, failed := e.observer(v, r)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("session policy %q: %w", e.policy.Name(), failed))
			continue
		}
		for _, f := range facts {
			if f.Kind == Noted && f.Key.Space == SpaceNote && f.Key.Name == f.Name && hasName(e.policy, f.Name) {
				f.At, f.Proposal, f.Tool, f.Observed = r.At, r.Call.Proposal, r.Call.Tool, r.Seen
				notes = append(notes, f)
			}
		}
	}
	return notes, err
}

// observerOf returns the function by which a policy learns from results, nil if it has none.
func observerOf(p Policy) func(View, Result) ([]Fact, error) {
	if r, ok := as[Remote](p); ok {
		return r.Learn
	}
	if o, ok := as[Observer](p); ok {
		return func(v View, r Result) ([]Fact, error) { return o.OnResult(v, r), nil }
	}
	return nil
}

// hasName reports whether a policy, or a policy that it wraps, has a name. A policy notes
// facts under its own name, without the prefix of its wrappers.
func hasName(p Policy, name string) bool {
	for p != nil && p.Name() != name {
		w, wraps := p.(Unwrapper)
		if !wraps {
			return false
		}
		p = w.Unwrap()
	}
	return p != nil
}
