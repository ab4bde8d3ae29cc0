package diff

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/usage"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
)

// moved are the values by which an edited condition matches calls that the other side gives to
// another rule: those that the other side of the edit lacks, but for usages that a rule of the
// same mode covers there.
func (e *toolEdits) moved(side, n int, r *symbolic.Rule, k *symbolic.Condition) []condition.Literal {
	if list, ok := e.movedBy[k]; ok {
		return list
	}
	list := slices.DeleteFunc(slices.Clone(e.changed(n, k)), func(lit condition.Literal) bool { return e.covered(side, n, r, k, lit) })
	e.movedBy[k] = list
	return list
}

// allCovered reports that the other side answers all that an edited rule loses, or wins, as
// this side does.
func (e *toolEdits) allCovered(side, n int, r, twin *symbolic.Rule) bool {
	if twin != nil && !e.sameOtherwise(r, twin) {
		return false
	}
	for _, k := range r.Bound {
		if k.Spec.Kind == condition.Usage {
			return len(e.moved(side, n, r, k)) == 0
		}
	}
	return false
}

// sameOtherwise reports rules that are equal except for the values of their usages.
func (e *toolEdits) sameOtherwise(r, other *symbolic.Rule) bool {
	plain := func(r *symbolic.Rule) []string {
		one := *r.Rule
		one.Conditions = slices.Clone(one.Conditions)
		for i := range one.Conditions {
			if k := &one.Conditions[i]; k.Spec.Kind == condition.Usage {
				k.Spec.Values = nil
			}
		}
		return meanings([]*syntax.Rule{&one})
	}
	return slices.Equal(plain(r), plain(other))
}

// covered reports a usage of a rule that permits, each command of which a rule of the other
// side permits in the same mode: one above, or one before which no other rule judges it.
func (e *toolEdits) covered(side, n int, r *symbolic.Rule, k *symbolic.Condition, lit condition.Literal) bool {
	if !r.Mode.Permissive() || k.Spec.Kind != condition.Usage || !oneUsage(r) {
		return false
	}
	other := e.bound[1-side]
	at := e.below(1-side, r)
	if twin := e.twin(1-side, n, r); twin != nil {
		at = slices.Index(other.rules, twin)
	}
	for j, candidate := range other.rules {
		if candidate.Mode == r.Mode && oneUsage(candidate) && e.sameOtherwise(r, candidate) && covers(candidate, k, lit) {
			return true
		}
		if j >= at && candidate.Mode != r.Mode && !e.keepsOff(candidate, k, lit) {
			return false
		}
	}
	return false
}

// oneUsage reports a rule of which exactly one condition is on usages.
func oneUsage(r *symbolic.Rule) bool {
	count := 0
	for _, k := range r.Bound {
		if k.Spec.Kind == condition.Usage {
			count++
		}
	}
	return count == 1
}

// covers reports that a rule's usages cover one of another rule.
func covers(r *symbolic.Rule, k *symbolic.Condition, lit condition.Literal) bool {
	for _, l := range r.Bound {
		if l.Spec.Kind == condition.Usage && l.Key == k.Key {
			return usage.Covers(texts(l.Spec.Values), lit.Text)
		}
	}
	return false
}

// keepsOff reports a rule that matches no command which certainly follows a usage.
func (e *toolEdits) keepsOff(r *symbolic.Rule, k *symbolic.Condition, lit condition.Literal) bool {
	for _, l := range r.Bound {
		if l.Spec.Kind == condition.Usage && l.Key == k.Key && !slices.ContainsFunc(l.Spec.Values, func(other condition.Literal) bool { return !usage.Apart(lit.Text, other.Text) }) {
			return true
		}
	}
	return false
}

func texts(values []condition.Literal) (list []string) {
	for _, lit := range values {
		list = append(list, lit.Text)
	}
	return list
}

// apart reports that no plain command which an edit gives to one rule matches the other: they
// need different words.
func (e *toolEdits) apart(n int, given, r *symbolic.Rule) bool {
	side := 0
	if !e.first[given] {
		side = 1
	}
	for _, k := range given.Bound {
		for _, l := range r.Bound {
			if k.Key != l.Key || k.Spec.Kind != condition.Usage || l.Spec.Kind != condition.Usage {
				continue
			}
			moved := e.moved(side, n, given, k)
			if given.Mode.Permissive() && r.Mode.Permissive() && symbolic.ApartByNames(k, moved, l) || distinct(given.Mode, moved, r.Mode, l.Spec.Values) {
				return true
			}
		}
	}
	return false
}

// distinct reports that no command follows a usage of each list. Rules that permit only match
// commands that certainly follow one.
func distinct(mode stopgate.Mode, values []condition.Literal, other stopgate.Mode, others []condition.Literal) bool {
	for _, a := range values {
		for _, b := range others {
			switch {
			case mode.Permissive() && other.Permissive():
				if !usage.Disjoint(a.Text, b.Text) && !usage.Disjoint(b.Text, a.Text) {
					return false
				}
			case mode.Permissive() && !usage.Apart(a.Text, b.Text), other.Permissive() && !usage.Apart(b.Text, a.Text), !mode.Permissive() && !other.Permissive():
				return false
			}
		}
	}
	return true
}

// shadowed reports a rule below one with the same conditions, which matches all its calls.
func shadowed(b *boundPolicy, r *symbolic.Rule) bool {
	same := func(one *symbolic.Rule) string {
		plain := *one.Rule
		plain.Mode, plain.Compound, plain.Ignores = stopgate.Deny, false, nil
		if one.Mode.Permissive() {
			plain.Mode = stopgate.Unattended
		}
		return meanings([]*syntax.Rule{&plain})[0]
	}
	at := slices.Index(b.rules, r)
	return at > 0 && len(r.Ignores) == 0 && slices.ContainsFunc(b.rules[:at], func(above *symbolic.Rule) bool { return len(above.Ignores) == 0 && same(above) == same(r) })
}
