package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/literal"
)

// bundleState is the state of the rules of a bundle in one evaluation. Only the first rule of each
// mode that holds, or waits, is tracked, since a list needs no more.
type bundleState struct {
	hit   literal.Summary // rules that hold
	open  literal.Summary // rules that wait; it may contain some that hold
	paths [literal.Classes]span
	// found are the rules that a leaf matched, or, if every leaf has to, those that all leaves
	// matched. seen is set after the first leaf.
	found []int32
	seen  bool
	// limited are rules that a value satisfied by its length; see [match.Matcher.Exceeds].
	limited []int32
	// index and text determine which rules the current string leaves waiting, nil for all.
	index *index.Index
	text  *index.State
}

func (b *bundleState) reset(of *bundle) {
	b.hit, b.open, b.found, b.seen, b.index, b.text = literal.Empty(), of.all, b.found[:0], false, nil, nil
	b.limited = b.limited[:0]
}

// matched takes the rules that a value at a site of condition c, a bundle, satisfies. sole is set
// if no other value can be there.
func (s *state) matched(c, site int32, hits *index.Hits, sole bool) {
	k, st := &s.plan.conds[c], &s.conds[c]
	if st.phase != waiting {
		return
	}
	b := &s.bundles[k.bundle]
	b.index, b.text = nil, nil
	if sole && st.open == 1 && hits.First() == literal.None && !s.done[site] {
		// The last value that can come satisfies no condition.
		if k.all {
			b.found = b.found[:0]
		}
		b.seen, s.done[site], st.open = true, true, 0
		s.endBundle(k, st)
		if l := &s.plan.lists[k.list]; l.foreseen && len(s.uncovered) == 0 && b.hit.First() == literal.None {
			s.lists[k.list] = l.otherwise
		}
		return
	}
	switch {
	case !k.all:
		if len(hits.Members) > 0 && len(b.found) < maxFound {
			b.found = append(b.found, hits.Members...)
		}
		s.hold(k, st, &hits.Summary)
	case !b.seen:
		b.found = append(b.found[:0], hits.Members...)
		if sole && st.open == 1 {
			s.hold(k, st, &hits.Summary)
		}
		s.leave(k, &hits.Summary)
	default:
		b.found = slices.DeleteFunc(b.found, func(r int32) bool { return !slices.Contains(hits.Members, r) })
		open := s.summary(b.found)
		s.leave(k, &open)
	}
	b.seen = true
	if sole {
		s.exhaust(site)
	}
}

// leave determines which rules of a bundle are still waiting. Lists consider only the modes of
// these rules: while these are the same, so are the possible results of a list.
func (s *state) leave(k *cond, open *literal.Summary) {
	b := &s.bundles[k.bundle]
	same := b.open == *open // in lanes a list ends at several rules
	if len(s.uncovered) == 0 && s.plan.lists[k.list].commands == 0 {
		same = b.open.Same(open, s.lists[k.list].end)
	}
	if b.open = *open; !same {
		s.changed(k)
	}
}

// maxFound is the maximum number of recorded rules that hold, if the first of each mode decides;
// all others are for explanations.
const maxFound = 64

// rules returns the rules that the leaves so far satisfied, as far as they matter.
func (b *bundleState) rules(all bool) []int32 {
	if all && b.hit.First() == literal.None { // more leaves may follow
		return slices.Clone(b.found)
	}
	var first []int32
	for _, r := range b.hit.Of() {
		if r != literal.None {
			first = append(first, r)
		}
	}
	return first
}

// summary returns the first rule of each mode.
func (s *state) summary(rules []int32) literal.Summary {
	sum := literal.Empty()
	for _, r := range rules {
		sum.Add(r, uint8(s.plan.rules[r].mode))
	}
	return sum
}

// hold adds rules that hold from now on.
func (s *state) hold(k *cond, st *condState, sum *literal.Summary) {
	if sum.First() == literal.None {
		return
	}
	b := &s.bundles[k.bundle]
	for class, r := range sum.Of() {
		if r < b.hit.Of()[class] {
			b.hit.Add(r, uint8(class))
			b.paths[class] = s.spine.mark()
			st.at = s.at
			s.changed(k)
		}
	}
}

// defaulted applies the default of an absent value.
func (s *state) defaulted(a absence) {
	hits := index.Hits{Summary: s.summary(a.found), Members: a.found}
	s.matched(s.plan.sites[a.site], a.site, &hits, false)
}

// fail takes a branch without a value: no rule has all leaves matching.
func (s *state) fail(c int32) {
	k, st := &s.plan.conds[c], &s.conds[c]
	if b := &s.bundles[k.bundle]; k.all && st.phase == waiting {
		b.found = b.found[:0]
		s.endBundle(k, st)
	}
}

// endBundle is called when no further leaf can appear: rules that are not known to hold have
// failed, except those that all leaves matched.
func (s *state) endBundle(k *cond, st *condState) {
	b := &s.bundles[k.bundle]
	if k.all && b.seen {
		sum := s.summary(b.found)
		s.hold(k, st, &sum)
	}
	st.phase, st.at, st.path = failed, s.at, s.spine.mark()
	if b.open.First() != literal.None {
		b.open = literal.Empty()
		s.changed(k)
	}
}

// bundled returns the phase of one rule of a bundle.
func (s *state) bundled(r int32) phase {
	rule := &s.plan.rules[r]
	k, st := &s.plan.conds[rule.first], &s.conds[rule.first]
	b := &s.bundles[k.bundle]
	found := slices.Contains(b.found, r)
	switch {
	case b.hit.Of()[rule.mode] == r, found && (!k.all || st.phase != waiting):
		return holds
	case st.phase != waiting, k.all && b.seen && !found, b.index != nil && !b.index.Alive(b.text, r):
		return failed
	}
	return waiting
}

// progress takes the decisions about a bundle from the current string. only is set if the string
// has no other test, so that reading continues after they have been settled.
func (e *leafTests) progress(x *textTest, only bool) {
	c := x.test.cond
	k, st := &e.plan.conds[c], &e.conds[c]
	if st.phase != waiting {
		return
	}
	if x.index.Lost(&x.arriving) {
		x.result = condition.Miss
		e.undecided--
		e.hits.Reset()
		e.matched(c, x.test.site, &e.hits, x.sole)
		return
	}
	b := &e.bundles[k.bundle]
	last := x.sole && st.open == 1 // only this string leaves rules open
	if hit, open, ok := x.index.Known(&x.arriving); ok && !k.all {
		e.hold(k, st, hit)
		if last {
			x.keep(b, only)
			e.leave(k, open)
		}
		return
	}
	sum := literal.Empty()
	switch {
	case k.all && b.seen:
		for _, r := range b.found {
			if last && x.index.Sure(&x.arriving, r) {
				sum.Add(r, uint8(e.plan.rules[r].mode))
			}
		}
	case last || !k.all:
		x.index.Hit(&x.arriving, &sum)
	}
	e.hold(k, st, &sum)
	if !last && !k.all {
		return
	}
	open := literal.Empty()
	if k.all && b.seen {
		for _, r := range b.found {
			if x.index.Alive(&x.arriving, r) {
				open.Add(r, uint8(e.plan.rules[r].mode))
			}
		}
	} else {
		x.index.Open(&x.arriving, &open)
		if k.all {
			x.index.Hit(&x.arriving, &open)
		}
	}
	x.keep(b, only)
	e.leave(k, &open)
}

// keep records the state of the string, for queries about one rule of a bundle.
func (x *textTest) keep(b *bundleState, only bool) {
	if b.index, b.text = x.index, &x.arriving; !only || !x.index.Steady() {
		x.shown.Set(&x.arriving)
		b.text = &x.shown
	}
}
