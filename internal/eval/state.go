package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
)

// phase is the state of a condition or a rule. It leaves waiting once.
type phase uint8

const (
	waiting phase = iota
	holds
	failed
)

// condState is the state of one condition in an evaluation.
type condState struct {
	phase phase
	leaf  bool // a leaf matched
	// limited is set if a value satisfied it by its length; see [match.Matcher.Exceeds].
	limited    bool
	undeclared bool       // by an undeclared string
	doubt      flow.Doubt // why its result follows from texts that are not known
	open       int32      // number of sites at which a leaf can still appear
	at         int64      // byte that decided it
	path       span       // pointer of the value that decided it
	value      span       // the text of that value, if it was a path
}

// ruleState is the state of one rule in an evaluation.
type ruleState struct {
	phase phase
	open  int32 // conditions not known to hold
	at    int64
	cond  int32 // the condition that decided it
}

// listState is the set of possible results of a list.
type listState struct {
	low, high stopgate.Mode // the strictest and the weakest possible mode
	cursor    int32         // every earlier rule has failed; for guards: the one that holds
	step      int32         // the same among the rules in no bundle
	end       int32         // of the first rule that holds; later rules do not matter
	lane      int32         // the command whose lane decides, or none
	holds     bool          // the rule at cursor does
	abstains  bool          // guards of which none holds: they do not restrict
	dirty     bool
}

// span is a part of an evaluation's pointer text.
type span struct{ start, end int32 }

// state is the part of an evaluation that tracks rules: the effect of the values so far on
// conditions, rules and lists. Walkers drive it.
type state struct {
	plan    *plan
	conds   []condState
	rules   []ruleState // rules in no bundle
	bundles []bundleState
	lists   []listState
	done    []bool // sites at which no further leaf can appear

	at    int64 // the current byte
	dirty bool  // something changed with it
	spine spine
	lanes lanes
	// segments are the commands that decided conditions on their own.
	segments []condSegment
	// uncovered are the values so far that some permit does not cover.
	uncovered []uncoveredLeaf
	// same are the texts that have all values so far of a rule with same_text.
	same []commonTexts
}

// leaf takes the result of a condition for a value at a site. sole is set if no other value can be
// at the site.
func (s *state) leaf(site int32, hit, sole bool) {
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
	if sole {
		s.exhaust(site)
	}
}

// present takes a value for present. An unsure one counts as present and as absent for a
// restrictive rule, as neither for a permissive one (K5).
func (s *state) present(site int32, unsure, sole bool) {
	k := &s.plan.conds[s.plan.sites[site]]
	s.leaf(site, k.want && !unsure || unsure && !k.permissive, sole)
}

// presentNull takes null for present: no value for a condition that requires one, otherwise unsure.
func (s *state) presentNull(site int32, sole bool) {
	if s.plan.conds[s.plan.sites[site]].value {
		s.leaf(site, false, sole)
		return
	}
	s.present(site, true, sole)
}

// missing takes a branch that ends without a value at the site.
func (s *state) missing(site int32) {
	c := s.plan.sites[site]
	switch k := &s.plan.conds[c]; {
	case k.command >= 0:
		s.lanes.answer(s.plan, c, false)
		s.endCommand()
	case k.bundle >= 0:
		s.fail(c)
	case k.all:
		s.resolve(c, failed)
	}
}

// empty takes an empty array: a branch without a value (K3). For present it is unsure, like null; an
// optional member without a value has no origin that a permissive condition could miss.
func (s *state) empty(site int32, optional bool) {
	k := &s.plan.conds[s.plan.sites[site]]
	switch {
	case k.kind == condition.Present && !k.permissive, optional && k.vacuous():
		s.leaf(site, true, false)
	default:
		s.missing(site)
	}
}

// absent takes an absent member of an object. If commands are evaluated one by one, it is a command
// only if the schema has a default, or as an element's branch without a value (B5).
func (s *state) absent(a absence, command bool) {
	c := s.plan.sites[a.site]
	if s.plan.conds[c].command >= 0 {
		if command {
			s.lanes.answer(s.plan, c, a.kind == byDefault)
		}
		return
	}
	if s.plan.conds[c].bundle >= 0 && a.kind == byDefault {
		s.defaulted(a)
		return
	}
	switch a.kind {
	case byDefault:
		s.leaf(a.site, true, false)
	case notDefault:
		s.leaf(a.site, false, false)
	case notPresent:
		s.leaf(a.site, !s.plan.conds[c].want, false)
	case notGiven:
		s.leaf(a.site, true, false)
	default:
		s.missing(a.site)
	}
}

// exhaust takes the end of a site: no further leaf can appear there (K11).
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
		s.lists[k.list].dirty, s.dirty = true, true
	case k.bundle >= 0:
		s.endBundle(k, st)
	case k.all && st.leaf:
		s.resolve(c, holds)
	default:
		s.resolve(c, failed)
	}
}

// resolve decides a condition, and with it possibly its rule.
func (s *state) resolve(c int32, p phase) {
	st := &s.conds[c]
	if st.phase != waiting {
		return
	}
	st.phase, st.at, st.path = p, s.at, s.spine.mark()
	k := &s.plan.conds[c]
	rule := &s.plan.rules[k.rule]
	rs := &s.rules[rule.own]
	if rs.phase != waiting {
		return
	}
	if p == holds {
		if rs.open--; rs.open > 0 {
			if rule.commands { // it may already hold for one command
				s.changed(k)
			}
			return
		}
	}
	rs.phase, rs.at, rs.cond = p, s.at, c
	s.changed(k)
}

// changed marks the list of a condition as changed.
func (s *state) changed(k *cond) { s.lists[k.list].dirty, s.dirty = true, true }

// walk recomputes the possible results of a list: it skips failed rules, collects the modes of the
// undecided ones, and stops at the first that holds.
func (s *state) walk(i int) {
	l, st := &s.plan.lists[i], &s.lists[i]
	st.dirty = false
	switch {
	case l.commands > 0:
		s.walkLanes(i)
		return
	case l.guard:
		s.walkGuards(i)
		return
	case l.coverage && len(s.uncovered) > 0:
		s.walkUncovered(i)
		return
	}
	s.walkRules(l, st)
	st.abstains = l.session && st.low == stopgate.Unattended && st.high == stopgate.Unattended
}

// walkRules is walk for a list of rules without exceptions.
func (s *state) walkRules(l *list, st *listState) {
	for int(st.step) < len(l.own) && s.rules[l.firstOwn+st.step].phase == failed {
		st.step++
	}
	open, end := s.bundledIn(l)
	for i := st.step; int(i) < len(l.own) && l.own[i] < end; i++ {
		switch r := l.own[i]; s.rules[l.firstOwn+i].phase {
		case holds:
			end = r
		case waiting:
			open.Add(r, uint8(s.plan.rules[r].mode))
		}
	}
	o := s.outcomeOf(l, &open, end)
	st.low, st.high, st.cursor, st.end, st.holds = o.low, o.high, o.cursor, end, o.holds
}

// bundledIn returns the rules of a list's bundles that wait, and the first one that holds, the end of
// the list if none does, without bundles that are evaluated command by command.
func (s *state) bundledIn(l *list) (open literal.Summary, end int32) {
	open, end = literal.Empty(), l.end
	for i := l.firstBundle; i < l.endBundle; i++ {
		b := &s.bundles[i]
		if s.plan.bundles[i].commands {
			continue
		}
		open.Merge(&b.open)
		end = min(end, b.hit.First())
	}
	return open, end
}

// walkGuards recomputes the results of the guards of a file. A guard that skips or denies ends the
// call, whatever the others may result in. Guards on undeclared strings that are still to come keep
// no verdict waiting, just as floors do not.
func (s *state) walkGuards(i int) {
	l, st := &s.plan.lists[i], &s.lists[i]
	hit, open := literal.Empty(), literal.Empty()
	for i := l.firstBundle; i < l.endBundle; i++ {
		b := &s.bundles[i]
		hit.Merge(&b.hit)
		open.Merge(&b.open)
	}
	for i, r := range l.own {
		switch s.rules[l.firstOwn+int32(i)].phase {
		case holds:
			hit.Add(r, uint8(s.plan.rules[r].mode))
		case waiting:
			if !l.suspects {
				open.Add(r, uint8(s.plan.rules[r].mode))
			}
		}
	}
	st.low, st.high, st.cursor, st.end, st.holds, st.abstains = l.fallback, l.fallback, l.end, literal.None, false, true
	for mode, r := range hit.Of() {
		if m := stopgate.Mode(mode); r != literal.None {
			st.low, st.high = stopgate.Strictest(st.low, m), stopgate.Strictest(st.high, m)
		}
	}
	for mode, r := range open.Of() {
		if m := stopgate.Mode(mode); r != literal.None && !st.high.Terminal() {
			st.low = stopgate.Strictest(st.low, m)
		}
	}
	if st.low == st.high && hit.Of()[st.low] != literal.None {
		st.cursor, st.holds, st.abstains = hit.Of()[st.low], true, false
	}
}

// possible is walk for the rules from one on, in one lane.
func (s *state) possible(l *list, from, lane int32) (low, high stopgate.Mode) {
	low, high = stopgate.Unattended, stopgate.Deny
	for r := from; r < l.end; r++ {
		p := s.phaseOf(r, lane)
		if p == failed {
			continue
		}
		m := s.modeOf(r)
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
