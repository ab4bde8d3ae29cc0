package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
)

// coverage is the set algebra that reachability stands on: whether the plainly
// written values of one text condition are among those of another, for one reading
// of the values. Both conditions have the same readings.
type coverage interface {
	covers(e, l *checkedCondition, reading int) match.Answer
}

// pairCoverage decides pairs: a sample of the one that fails the other is a proof,
// and so is what the matchers know about each other. That can cost milliseconds, so
// only so many pairs are looked at.
type pairCoverage struct {
	budget int
}

func (c *pairCoverage) covers(e, l *checkedCondition, reading int) match.Answer {
	for _, sample := range l.samples() {
		if !e.matchers[reading].Whole([]byte(sample)) {
			return match.No
		}
	}
	if c.budget--; c.budget < 0 {
		return match.NotProven
	}
	return match.Covers(e.matchers[reading], l.matchers[reading])
}

// coveredBy reports whether every value that satisfies l satisfies one of the
// entries, and which entries that takes.
func coveredBy(cover coverage, l *checkedCondition, entries []*groupEntry) (bool, []*groupEntry) {
	for _, e := range entries {
		switch {
		case everyValue(e.condition) && (leafTest(l.Spec.Kind) || everyValue(l)):
			return true, []*groupEntry{e}
		case !leafTest(l.Spec.Kind) && e.condition.coversCount(l):
			return true, []*groupEntry{e}
		}
	}
	switch {
	case everyValue(l):
		return universal(l, entries), entries
	case !leafTest(l.Spec.Kind):
		return false, nil
	case isFinite(l):
		return coveredLiterals(l, entries)
	case isRange(l.Spec.Kind):
		return coveredRange(l, entries)
	}
	for _, e := range entries {
		if coversText(cover, e.condition, l) == match.Yes {
			return true, []*groupEntry{e}
		}
	}
	return false, nil
}

// leafTest reports matchers that look at single values; the others count.
func leafTest(k match.Kind) bool {
	return k != match.Present && k != match.MinItems && k != match.MaxItems
}

// coversCount compares what two conditions say about absence or about how many
// elements there are. The quantifiers have to be the same.
func (k *checkedCondition) coversCount(l *checkedCondition) bool {
	if k.Spec.Kind != l.Spec.Kind || k.all != l.all {
		return false
	}
	wide, narrow := k.Spec.Values[0].Text, l.Spec.Values[0].Text
	switch k.Spec.Kind {
	case match.MinItems:
		return wide == narrow || shorter(wide, narrow)
	case match.MaxItems:
		return wide == narrow || shorter(narrow, wide)
	}
	// A restrictive rule also takes null and defaults for absent, a permissive one
	// does not (K5).
	return wide == narrow && (k.rule.Mode.Permissive() == l.rule.Mode.Permissive() || !k.rule.Mode.Permissive())
}

// shorter compares two counts as they are written.
func shorter(a, b string) bool {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	return errX == nil && errY == nil && x < y
}

// everyValue reports a condition that every value satisfies.
func everyValue(k *checkedCondition) bool {
	return k.Spec.Kind == match.Present && k.Spec.Values[0].Text == "true"
}

// coversText asks every reading: a value is one of them, nobody knows which.
func coversText(cover coverage, e, l *checkedCondition) match.Answer {
	if len(e.readings) == 0 || !slices.Equal(e.readings, l.readings) {
		return match.NotProven
	}
	answer := match.Yes
	for i := range l.readings {
		switch cover.covers(e, l, i) {
		case match.No:
			return match.No
		case match.NotProven:
			answer = match.NotProven
		}
	}
	return answer
}

// coveredLiterals asks the matchers of the entries about each literal.
func coveredLiterals(l *checkedCondition, entries []*groupEntry) (bool, []*groupEntry) {
	var by []*groupEntry
	for _, lit := range l.Spec.Values {
		i := slices.IndexFunc(entries, func(e *groupEntry) bool { return holdsLiteral(e.condition, lit) })
		if i < 0 {
			return false, nil
		}
		if !slices.Contains(by, entries[i]) {
			by = append(by, entries[i])
		}
	}
	return true, by
}

// holdsLiteral reports whether a value written as this literal satisfies the
// condition, however it is read.
func holdsLiteral(k *checkedCondition, lit match.Literal) bool {
	if !leafTest(k.Spec.Kind) || len(k.matchers) == 0 {
		return everyValue(k)
	}
	for _, m := range k.matchers {
		var hit bool
		switch lit.Kind {
		case match.LiteralString:
			hit = m.Whole([]byte(lit.Text))
		case match.LiteralNumber:
			d, err := jsonstream.ParseDecimal([]byte(lit.Text))
			hit = err == nil && m.Number(d)
		case match.LiteralBool:
			hit = m.Bool(lit.Text == "true")
		case match.LiteralObject:
			hit = m.Canonical([]byte(lit.JSON))
		}
		if !hit {
			return false
		}
	}
	return true
}

// undecided returns an entry of which it is not known whether it covers l, nil if
// some value of l is known to pass all of them.
func undecided(cover coverage, l *checkedCondition, entries []*groupEntry) *groupEntry {
	if isFinite(l) || isRange(l.Spec.Kind) || !leafTest(l.Spec.Kind) {
		return nil
	}
	var unknown *groupEntry
	for _, e := range entries {
		if leafTest(e.condition.Spec.Kind) && !isFinite(e.condition) && coversText(cover, e.condition, l) == match.NotProven {
			unknown = e
		}
	}
	if unknown == nil {
		return nil
	}
	for _, text := range l.samples() {
		lit := match.Literal{Kind: match.LiteralString, Text: text}
		if !slices.ContainsFunc(entries, func(e *groupEntry) bool { return holdsLiteral(e.condition, lit) }) {
			return nil
		}
	}
	return unknown
}

// samples lists some values that satisfy a text condition.
func (k *checkedCondition) samples() []string {
	if k.sampled == nil {
		k.sampled = []string{}
		for _, lit := range k.Spec.Values[:min(len(k.Spec.Values), 8)] {
			for _, text := range guesses(k.Spec.Kind, lit.Text) {
				if holdsLiteral(k, match.Literal{Kind: match.LiteralString, Text: text}) {
					k.sampled = append(k.sampled, text)
				}
			}
		}
	}
	return k.sampled
}

// guesses lists texts that may satisfy a matcher with this literal.
func guesses(kind match.Kind, text string) []string {
	switch kind {
	case match.Prefix:
		text = strings.TrimRight(text, "/")
		return []string{text, text + "x", text + "/x", text + "/q7/w9.z", text + " x"}
	case match.Suffix:
		return []string{text, "q7" + text, "q7/w9" + text}
	case match.Glob:
		var list []string
		for _, glob := range alternatives(text)[:1] {
			for _, filler := range []string{"x", "q7w9"} {
				sample := strings.NewReplacer("**", filler, "*", filler, "?", "x").Replace(glob)
				list = append(list, sample, strings.NewReplacer("**/", "", "*", filler, "?", "x").Replace(glob))
			}
		}
		return list
	case match.Pattern:
		var list []string
		for _, part := range strings.Split(text, "|") {
			list = append(list, strings.Map(func(r rune) rune {
				if strings.ContainsRune("^$()?:*+", r) {
					return -1
				}
				return r
			}, part))
		}
		return list[:min(len(list), 8)]
	case match.MaxLength:
		if n, err := strconv.Atoi(text); err == nil && n <= 4096 {
			return []string{strings.Repeat("q", n), strings.Repeat("7", n)}
		}
	}
	return nil
}
