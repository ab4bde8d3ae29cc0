package policy

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy/match"
)

// phase is what is known of a condition or a rule. It leaves waiting once.
type phase uint8

const (
	waiting phase = iota
	holds
	failed
)

// condState is what one evaluation knows of one condition.
type condState struct {
	phase phase
	leaf  bool  // a leaf matched
	open  int32 // sites at which a leaf can still appear
	at    int64 // byte that decided it
	path  span  // pointer of the value that decided it
	value span  // the text of that value, if it was a path
}

// ruleState is what one evaluation knows of one rule.
type ruleState struct {
	phase phase
	open  int32 // conditions not known to hold
	at    int64
	cond  int32 // the condition that decided it
}

// listState is what can still come out of a list.
type listState struct {
	low, high stopgate.Mode // the strictest and the weakest mode possible
	cursor    int32         // every rule before it has failed
	lane      int32         // the command whose way through the list counts, or none
	dirty     bool
}

// span is a piece of an evaluation's pointer text.
type span struct{ start, end int32 }

// state is the part of an evaluation that knows rules: what the values seen so far
// did to conditions, rules and lists. It is driven by walkers.
type state struct {
	plan  *plan
	conds []condState
	rules []ruleState
	lists []listState
	done  []bool // sites at which no further leaf can appear

	at    int64 // the byte being looked at
	dirty bool  // something changed with it
	spine spine
	lanes lanes
}

// reset prepares the state for a new call.
func (s *state) reset(p *plan) {
	s.plan = p
	s.conds = resize(s.conds, len(p.conds))
	s.rules = resize(s.rules, len(p.rules))
	s.lists = resize(s.lists, len(p.lists))
	s.done = resize(s.done, len(p.sites))
	for i := range p.conds {
		s.conds[i].open = p.conds[i].sites
	}
	s.at, s.dirty = 0, true
	s.spine.reset()
	s.lanes.reset(p)
	for i := range p.lists {
		s.lists[i] = listState{cursor: p.lists[i].first, lane: noLane, dirty: true}
	}
	for i := range p.rules {
		r := &p.rules[i]
		s.rules[i].open = r.end - r.first
		s.rules[i].cond = -1
		if r.first == r.end {
			s.rules[i].phase = holds
		}
	}
	// A condition without any place to look at can never hold: rules under "*" whose
	// pointer the tool lacks are left out of the plan, this is what remains.
	for i := range p.conds {
		if p.conds[i].sites == 0 {
			s.resolve(int32(i), failed)
		}
	}
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

// leaf takes a value at a site: it matches the condition or it does not. alone
// says that no other value can stand at the site.
func (s *state) leaf(site int32, hit, alone bool) {
	c := s.plan.sites[site]
	k, st := &s.plan.conds[c], &s.conds[c]
	switch {
	case st.phase != waiting:
		return
	case k.command >= 0:
		s.lanes.answer(s.plan, c, hit)
		return
	case hit && !k.all:
		s.resolve(c, holds)
		return
	case !hit && k.all:
		s.resolve(c, failed)
		return
	}
	st.leaf = st.leaf || hit
	if alone {
		s.exhaust(site)
	}
}

// present takes a value for present. An unsure one counts as present and as absent
// where that restricts, as neither where it permits (K5).
func (s *state) present(site int32, unsure, alone bool) {
	k := &s.plan.conds[s.plan.sites[site]]
	s.leaf(site, k.want && !unsure || unsure && !k.permissive, alone)
}

// missing takes a branch that ends without a value at the site.
func (s *state) missing(site int32) {
	c := s.plan.sites[site]
	switch k := &s.plan.conds[c]; {
	case k.command >= 0:
		s.lanes.answer(s.plan, c, false)
		s.endCommand()
	case k.all:
		s.resolve(c, failed)
	}
}

// empty takes an array without elements: a branch without a value (K3). For
// present it is, like null, a value and none.
func (s *state) empty(site int32) {
	k := &s.plan.conds[s.plan.sites[site]]
	if k.kind == match.Present && !k.permissive {
		s.leaf(site, true, false)
		return
	}
	s.missing(site)
}

// absent takes a member that an object lacks. Where commands are judged one by one,
// it is a command only if the schema gives it a default, or as an element's branch
// without a value (B5).
func (s *state) absent(a absence, command bool) {
	c := s.plan.sites[a.site]
	if s.plan.conds[c].command >= 0 {
		if command {
			s.lanes.answer(s.plan, c, a.kind == byDefault)
		}
		return
	}
	switch a.kind {
	case byDefault:
		s.leaf(a.site, true, false)
	case notDefault:
		s.leaf(a.site, false, false)
	case notPresent:
		s.leaf(a.site, !s.plan.conds[c].want, false)
	default:
		s.missing(a.site)
	}
}

// exhaust says that no further leaf can appear at a site (K11).
func (s *state) exhaust(site int32) {
	if s.done[site] {
		return
	}
	s.done[site] = true
	c := s.plan.sites[site]
	st := &s.conds[c]
	if st.open--; st.open > 0 || st.phase != waiting {
		return
	}
	switch k := &s.plan.conds[c]; {
	case k.command >= 0:
		s.lists[s.plan.rules[k.rule].list].dirty, s.dirty = true, true
	case k.all && st.leaf:
		s.resolve(c, holds)
	default:
		s.resolve(c, failed)
	}
}

// resolve ends a condition, and with it perhaps its rule.
func (s *state) resolve(c int32, p phase) {
	st := &s.conds[c]
	if st.phase != waiting {
		return
	}
	st.phase, st.at, st.path = p, s.at, s.spine.mark()
	r := s.plan.conds[c].rule
	rs := &s.rules[r]
	if rs.phase != waiting {
		return
	}
	if p == holds {
		if rs.open--; rs.open > 0 {
			if s.plan.rules[r].commands { // it may hold for one command already
				s.lists[s.plan.rules[r].list].dirty, s.dirty = true, true
			}
			return
		}
	}
	rs.phase, rs.at, rs.cond = p, s.at, c
	s.lists[s.plan.rules[r].list].dirty = true
	s.dirty = true
}

// walk recomputes what can come out of a list.
func (s *state) walk(i int) {
	l, st := &s.plan.lists[i], &s.lists[i]
	st.dirty = false
	if l.commands > 0 {
		s.walkLanes(i)
		return
	}
	for st.cursor < l.end && s.rules[st.cursor].phase == failed {
		st.cursor++
	}
	st.low, st.high = s.possible(l, st.cursor, noLane)
}

// possible says which modes can come out of a list from a rule on (THREATS 4.3): skip
// failed rules, collect the modes of the undecided ones, stop at the first that holds.
func (s *state) possible(l *list, from, lane int32) (low, high stopgate.Mode) {
	low, high = stopgate.Unattended, stopgate.Deny
	for r := from; r < l.end; r++ {
		p := s.phaseOf(r, lane)
		if p == failed {
			continue
		}
		m := s.plan.rules[r].mode
		low, high = stopgate.Strictest(low, m), weakest(high, m)
		if p == holds {
			return low, high
		}
	}
	return stopgate.Strictest(low, l.fallback), weakest(high, l.fallback)
}

// weakest returns the weaker of two modes.
func weakest(a, b stopgate.Mode) stopgate.Mode {
	if stopgate.Strictest(a, b) == a {
		return b
	}
	return a
}
