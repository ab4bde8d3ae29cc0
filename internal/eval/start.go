package eval

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/literal"
)

// start is the state of every rule before the first byte, which is the same for every call.
type start struct {
	conds   []condState
	rules   []ruleState
	lists   []listState
	verdict stopgate.Verdict // the verdict, if it is already known
}

// blank sets the start of a plan to one without any evaluation.
func (p *plan) blank() {
	p.start = start{conds: make([]condState, len(p.conds)), rules: make([]ruleState, p.own), lists: make([]listState, len(p.lists))}
	for i := range p.conds {
		p.start.conds[i].open = p.conds[i].sites
	}
	for i := range p.lists {
		p.start.lists[i] = listState{lane: noLane, dirty: true}
	}
	for i := range p.rules {
		if r := &p.rules[i]; r.own >= 0 {
			st := &p.start.rules[r.own]
			if st.open, st.cond = r.end-r.first, -1; r.first == r.end {
				st.phase = holds
			}
		}
	}
}

// prepare computes the start of a plan.
func (p *plan) prepare() {
	p.blank()
	for i := range p.conds {
		if k := &p.conds[i]; k.sites == 0 && k.bundle >= 0 {
			p.bundles[k.bundle].all = literal.Empty()
		}
	}
	e := new(Evaluation)
	e.reset(p)
	// A condition without any location can never hold. It remains after rules under "*" were
	// skipped because the tool lacks their pointer.
	for i := range p.conds {
		switch k := &p.conds[i]; {
		case k.sites > 0 || k.suspects:
		case k.bundle >= 0:
			e.endBundle(k, &e.conds[i])
		default:
			e.resolve(int32(i), failed)
		}
	}
	e.dirty = true
	e.settle()
	p.start = start{conds: e.conds, rules: e.rules, lists: e.lists, verdict: e.verdict}
	for i := range p.lists {
		p.lists[i].foresee(p, int32(i))
	}
}

// foresee computes the result of a list in which only one bundle is undecided from the start, for
// the case that no condition of the bundle holds.
func (l *list) foresee(p *plan, i int32) {
	if l.commands > 0 || l.endBundle-l.firstBundle != 1 {
		return
	}
	for r := range l.own {
		if p.start.rules[int(l.firstOwn)+r].phase == waiting {
			return
		}
	}
	e := new(Evaluation)
	e.reset(p)
	e.bundles[l.firstBundle].open = literal.Empty()
	e.walk(int(i))
	l.otherwise, l.foreseen = e.lists[i], true
}

// reset prepares the state for a new call.
func (s *state) reset(p *plan) {
	s.plan = p
	s.conds = begin(s.conds, p.start.conds)
	s.rules = begin(s.rules, p.start.rules)
	s.lists = begin(s.lists, p.start.lists)
	s.done = resize(s.done, len(p.sites))
	s.at, s.dirty = 0, false
	s.spine.reset()
	s.lanes.reset(p)
	s.segments, s.uncovered = s.segments[:0], s.uncovered[:0]
	if n := int(p.same); n > 0 || len(s.same) > 0 {
		s.same = resize(s.same, n)
	}
	for len(s.bundles) < len(p.bundles) {
		s.bundles = append(s.bundles, bundleState{})
	}
	for i := range p.bundles {
		s.bundles[i].reset(&p.bundles[i])
	}
}

// begin returns a copy, in the old memory if it is large enough.
func begin[T any](old, from []T) []T {
	if cap(old) < len(from) {
		return slices.Clone(from)
	}
	old = old[:len(from)]
	copy(old, from)
	return old
}

// resize returns n zero elements, in the old memory if it is large enough.
func resize[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}
