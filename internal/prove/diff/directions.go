package diff

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
)

// directions are the directions in which an edit may change a verdict.
type directions struct{ loosened, tightened bool }

func (d *directions) allow(from, to stopgate.Mode) {
	switch {
	case from == to:
	case directionOf(from, to) == Loosened:
		d.loosened = true
	default:
		d.tightened = true
	}
}

func (d *directions) add(other directions) {
	d.loosened, d.tightened = d.loosened || other.loosened, d.tightened || other.tightened
}

// possible returns the directions in which an edit may change verdicts, by the modes of the
// rules that decide before and after it.
func (e *toolEdits) possible(n int) (may directions) {
	if looks := [2]bool{e.bound[0].looks(), e.bound[1].looks()}; looks[0] != looks[1] {
		may = directions{loosened: looks[0], tightened: looks[1]} // lines that cannot be parsed
	}
	for side, b := range e.bound {
		for j, r := range b.rules {
			if e.rules[side][j] != n {
				continue
			}
			twin := e.twin(1-side, n, r)
			if twin != nil && side == 1 {
				continue // seen from the old side
			}
			was, is := r, twin
			if side == 1 {
				was, is = nil, r
			}
			may.add(e.ofRule(n, was, is))
		}
		for j := range b.origin {
			if e.guards[side][j] == n {
				may.add(e.ofGuard(e.all[n]))
			}
		}
		if b.commands {
			for _, g := range b.written {
				if g == e.all[n].old || g == e.all[n].new || e.concerns(n, g) {
					may.add(e.ofGuard(e.all[n]))
				}
			}
		}
	}
	return may
}

// concerns reports a guard that an edit of a named list changed.
func (e *toolEdits) concerns(n int, g *syntax.Rule) bool {
	return slices.ContainsFunc(e.pairs[n], func(pair [2]*syntax.Rule) bool { return pair[0] == g || pair[1] == g })
}

// twin finds the rule of the other side that an edit pairs with one.
func (e *toolEdits) twin(side, n int, r *symbolic.Rule) *symbolic.Rule {
	for _, pair := range e.pairs[n] {
		if pair[1-side] != r.Rule {
			continue
		}
		for _, other := range e.bound[side].rules {
			if other.Rule == pair[side] {
				return other
			}
		}
	}
	return nil
}

// ofRule bounds the directions of calls when a rule is replaced by another one, nil for none.
func (e *toolEdits) ofRule(n int, was, is *symbolic.Rule) (may directions) {
	shrinks, grows := true, true
	if was != nil && is != nil {
		shrinks, grows = change(was.Rule, is.Rule, e.asksAnyway(0, was) && e.asksAnyway(1, is))
		may.allow(was.Mode, is.Mode)
	}
	shrinks = shrinks && (was == nil || !shadowed(e.bound[0], was) && !e.allCovered(0, n, was, is))
	grows = grows && (is == nil || !shadowed(e.bound[1], is) && !e.allCovered(1, n, is, was))
	if was != nil && shrinks {
		for _, to := range e.instead(1, n, is, was) {
			may.allow(was.Mode, to)
		}
	}
	if is != nil && grows {
		for _, from := range e.instead(0, n, was, is) {
			may.allow(from, is.Mode)
		}
	}
	may.add(e.refusedFirst(n, was, is))
	// A rule that suspects uses of files also asks if the files are unknown.
	may.loosened = may.loosened || was != nil && shrinks && looksAtFiles(was) && !e.asksAnyway(0, was)
	may.tightened = may.tightened || is != nil && grows && looksAtFiles(is) && !e.asksAnyway(1, is)
	return may
}

// refusedFirst are the directions that come from the order of two refusals in one call: where
// a rule or one below it skips and a guard denies, or the other way around, a call that
// the guard answered may be answered by the list.
func (e *toolEdits) refusedFirst(n int, was, is *symbolic.Rule) (may directions) {
	for side, r := range [2]*symbolic.Rule{was, is} {
		if r == nil {
			continue
		}
		other := was
		if side == 0 {
			other = is
		}
		ends := append(e.instead(1-side, n, other, r), r.Mode)
		for _, b := range e.bound {
			for _, g := range b.written {
				if g.Mode == stopgate.Deny && slices.Contains(ends, stopgate.Skip) || g.Mode == stopgate.Skip && slices.Contains(ends, stopgate.Deny) {
					may = directions{loosened: true, tightened: true}
				}
			}
		}
	}
	return may
}

// looksAtFiles reports a rule that suspects commands for the files that they touch.
func looksAtFiles(r *symbolic.Rule) bool {
	return !r.Mode.Permissive() && slices.ContainsFunc(r.Bound, func(k *symbolic.Condition) bool {
		return k.Spec.Kind == condition.Reads || k.Spec.Kind == condition.Writes || k.Spec.Kind == condition.Outside
	})
}

// asksAnyway reports that unedited rules of the list ask too where the files are not known that
// the conditions of a rule judge.
func (e *toolEdits) asksAnyway(side int, r *symbolic.Rule) bool {
	b := e.bound[side]
	return !slices.ContainsFunc(r.Bound, func(k *symbolic.Condition) bool {
		if k.Spec.Kind != condition.Reads && k.Spec.Kind != condition.Writes && k.Spec.Kind != condition.Outside {
			return false
		}
		for i, other := range b.rules {
			if e.rules[side][i] < 0 && other.When == nil && !other.Mode.Permissive() &&
				slices.ContainsFunc(other.Bound, func(l *symbolic.Condition) bool { return l.Spec.Kind == k.Spec.Kind && l.Key == k.Key && !l.Several }) {
				return false
			}
		}
		return true
	})
}

// instead returns the modes that may apply on the other side to the calls that one side
// decides by a rule.
func (e *toolEdits) instead(side, n int, twin, given *symbolic.Rule) []stopgate.Mode {
	b := e.bound[side]
	from := 0
	if twin != nil {
		from = slices.Index(b.rules, twin) + 1
	} else {
		from = e.below(side, given)
	}
	modes := []stopgate.Mode{b.end}
	caught := false
	for i, r := range b.rules {
		if (i >= from || e.rules[side][i] >= 0) && !e.apart(n, given, r) {
			modes = append(modes, r.Mode)
		}
		caught = caught || i >= from && r.CatchAll()
	}
	if caught {
		modes = modes[1:]
	}
	return modes
}

// below is the first position of one side below the place of a rule of the other.
func (e *toolEdits) below(side int, r *symbolic.Rule) int {
	other := e.bound[1-side]
	at := slices.Index(other.rules, r)
	for i := at - 1; i >= 0; i-- {
		if e.rules[1-side][i] >= 0 {
			continue
		}
		key := meanings([]*syntax.Rule{other.rules[i].Rule})[0]
		for j, mine := range e.bound[side].rules {
			if e.rules[side][j] < 0 && meanings([]*syntax.Rule{mine.Rule})[0] == key {
				return j + 1
			}
		}
	}
	return 0
}

// change reports whether a rule that becomes another one may match fewer calls, and whether
// it may match more.
// asksAnyway reports that other rules ask if files are unknown.
func change(was, is *syntax.Rule, asksAnyway bool) (shrinks, grows bool) {
	if fewer, more, ok := members(was, is, asksAnyway); ok {
		return fewer, more
	}
	if len(was.Conditions) != len(is.Conditions) || was.Match != is.Match || whenText(was) != whenText(is) || !slices.EqualFunc(was.Ignores, is.Ignores, slices.Equal) {
		return true, true
	}
	shrinks, grows = !was.SameText && is.SameText, was.SameText && !is.SameText
	for i := range was.Conditions {
		k, l := &was.Conditions[i], &is.Conditions[i]
		same := slices.EqualFunc(k.Spec.Values, l.Spec.Values, func(a, b condition.Literal) bool { return a.JSON == b.JSON })
		switch {
		case k.On != l.On || k.Arg.String() != l.Arg.String() || k.Match != l.Match || k.Spec.Kind != l.Spec.Kind || !slices.Equal(k.Spec.Options, l.Spec.Options):
			return true, true
		case same:
		case k.Spec.Kind == condition.Outside: // another place takes matches away
			shrinks = shrinks || !contains(k.Spec.Values, l.Spec.Values)
			grows = grows || !contains(l.Spec.Values, k.Spec.Values)
		case !listOfAlternatives(&k.Spec):
			return true, true
		default:
			shrinks = shrinks || !contains(l.Spec.Values, k.Spec.Values)
			grows = grows || !contains(k.Spec.Values, l.Spec.Values)
		}
		shrinks = shrinks || !k.IgnoreBelow && l.IgnoreBelow
		grows = grows || k.IgnoreBelow && !l.IgnoreBelow
	}
	// A rule that suspects also matches uncertain values, one that permits does not.
	if was.Mode.Permissive() != is.Mode.Permissive() {
		shrinks = shrinks || is.Mode.Permissive()
		grows = grows || was.Mode.Permissive()
	}
	return shrinks, grows
}

// members compares suspicious rules of which one has all conditions of the other: with fewer of
// them it matches more. A permit also depends on its other conditions.
func members(was, is *syntax.Rule, asksAnyway bool) (shrinks, grows, ok bool) {
	if was.Mode.Permissive() || is.Mode.Permissive() || len(was.Conditions) == len(is.Conditions) || was.Match != is.Match || whenText(was) != whenText(is) ||
		len(was.Ignores)+len(is.Ignores) > 0 || len(was.Conditions) == 0 || len(is.Conditions) == 0 {
		return false, false, false
	}
	all, some := was, is
	if len(was.Conditions) < len(is.Conditions) {
		all, some = is, was
	}
	written := func(k *syntax.Condition) string {
		return (&syntax.Rule{Conditions: []syntax.Condition{*k}, Mode: stopgate.Ask}).Meaning()
	}
	has := func(r *syntax.Rule, k *syntax.Condition) bool {
		return slices.ContainsFunc(r.Conditions, func(other syntax.Condition) bool { return written(&other) == written(k) })
	}
	for i := range some.Conditions {
		if !has(all, &some.Conditions[i]) {
			return false, false, false
		}
	}
	for i := range all.Conditions { // one on files asks where it does not know them
		if k := &all.Conditions[i]; (k.Spec.Kind == condition.Reads || k.Spec.Kind == condition.Writes) && !asksAnyway && !has(some, k) {
			return false, false, false
		}
	}
	return all == is, all == was, true
}

func whenText(r *syntax.Rule) string {
	plain := syntax.Rule{When: r.When, Mode: stopgate.Ask}
	return plain.Meaning()
}

// listOfAlternatives reports matchers of which one value is enough: another value never
// takes a match away.
func listOfAlternatives(s *condition.Spec) bool {
	d := s.Row()
	return d.Listed && !d.Excludes && s.Kind != condition.Const
}

// contains reports whether all values of one list are in another.
func contains(all, some []condition.Literal) bool {
	return !slices.ContainsFunc(some, func(lit condition.Literal) bool {
		return !slices.ContainsFunc(all, func(have condition.Literal) bool { return have.JSON == lit.JSON })
	})
}

// ofGuard returns the directions of an edit of a guard. A guard only makes calls stricter that
// rules answer with a weaker mode, except a skip that comes before a deny.
func (e *toolEdits) ofGuard(edit *Edit) (may directions) {
	was, is := edit.old, edit.new
	shrinks, grows := was != nil, is != nil
	if was != nil && is != nil {
		shrinks, grows = change(was, is, false)
		may.allow(was.Mode, is.Mode)
	}
	if was != nil && is != nil && slices.Equal(meanings([]*syntax.Rule{withBelow(was)}), meanings([]*syntax.Rule{withBelow(is)})) {
		asks := e.weaker(stopgate.Ask) // files below are asked about, whatever the mode of the guard is
		return directions{loosened: shrinks && asks, tightened: grows && asks}
	}
	may.loosened = may.loosened || shrinks && e.weaker(was.Mode)
	may.tightened = may.tightened || grows && e.weaker(is.Mode)
	if was != nil && was.Mode == stopgate.Skip || is != nil && is.Mode == stopgate.Skip {
		return directions{loosened: true, tightened: true}
	}
	return may
}

// withBelow is a guard that also asks about files that a command reads without naming them.
func withBelow(g *syntax.Rule) *syntax.Rule {
	all := *g
	all.Conditions = slices.Clone(g.Conditions)
	for i := range all.Conditions {
		all.Conditions[i].IgnoreBelow = false
	}
	return &all
}

// weaker reports whether a list of the tool answers some calls with a weaker mode.
func (e *toolEdits) weaker(mode stopgate.Mode) bool {
	for _, b := range e.bound {
		caught := false
		for _, r := range b.rules {
			if caught = caught || r.CatchAll(); directionOf(mode, r.Mode) == Loosened && r.Mode != mode {
				return true
			}
		}
		if !caught && directionOf(mode, b.end) == Loosened && b.end != mode {
			return true
		}
	}
	return false
}

// looks reports whether some rule or guard looks at command lines.
func (b *boundPolicy) looks() bool {
	command := func(r *symbolic.Rule) bool { return slices.ContainsFunc(r.Bound, (*symbolic.Condition).IsCommand) }
	return b.commands && (slices.ContainsFunc(b.rules, command) || slices.ContainsFunc(b.guards, command) ||
		slices.ContainsFunc(b.written, func(g *syntax.Rule) bool { return len(g.Conditions) == 1 && g.Conditions[0].On == "path" }))
}
