package policy

import (
	"math/big"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

func isRange(k match.Kind) bool { return k >= match.Minimum && k <= match.ExclusiveMaximum }

// cut is a place between numbers: just below or just above at, or an end of the
// line. An interval of numbers lies between two cuts, so that open and closed ends
// need no cases of their own.
type cut struct {
	end   int // -1: below all numbers, 1: above all
	at    jsonstream.Decimal
	above bool
}

func (c cut) cmp(d cut) int {
	if c.end != d.end || c.end != 0 {
		return c.end - d.end
	}
	if n := c.at.Cmp(d.at); n != 0 {
		return n
	}
	switch {
	case c.above == d.above:
		return 0
	case c.above:
		return 1
	}
	return -1
}

var (
	belowAll = cut{end: -1}
	aboveAll = cut{end: 1}
)

type interval struct{ low, high cut }

// decimal is the number of a literal that was compiled into a matcher.
func decimal(lit match.Literal) jsonstream.Decimal {
	d, _ := jsonstream.ParseDecimal([]byte(lit.Text))
	return d
}

// rangeOf is the interval of a range condition.
func rangeOf(k *checkedCondition) interval {
	d := decimal(k.Spec.Values[0])
	switch k.Spec.Kind {
	case match.Minimum:
		return interval{low: cut{at: d}, high: aboveAll}
	case match.ExclusiveMinimum:
		return interval{low: cut{at: d, above: true}, high: aboveAll}
	case match.Maximum:
		return interval{low: belowAll, high: cut{at: d, above: true}}
	}
	return interval{low: belowAll, high: cut{at: d}}
}

// intervals lists the numbers of a condition, literals as single points; of an
// integer parameter what integers are in them.
func intervals(k *checkedCondition) []interval {
	var list []interval
	switch {
	case isRange(k.Spec.Kind):
		list = []interval{rangeOf(k)}
	case isFinite(k):
		for _, lit := range k.Spec.Values {
			if lit.Kind == match.LiteralNumber {
				d := decimal(lit)
				list = append(list, interval{cut{at: d}, cut{at: d, above: true}})
			}
		}
	}
	if !wholeNumbers(k) {
		return list
	}
	kept := list[:0]
	for _, in := range list {
		if in, ok := in.whole(); ok {
			kept = append(kept, in)
		}
	}
	return kept
}

// coveredRange reports whether a range lies in the union of the entries' numbers,
// for integers: whether its integers do.
func coveredRange(l *checkedCondition, entries []*groupEntry) (bool, []*groupEntry) {
	if list := intervals(l); len(list) == 1 {
		return sweep(list[0], entries)
	}
	return false, nil
}

// wholeNumbers reports whether the parameter only takes integers.
func wholeNumbers(k *checkedCondition) bool {
	return k.target.Type&schema.Integer != 0 && k.target.Type&schema.Number == 0
}

// sweep walks from the low end of an interval to its high end along the pieces that
// reach furthest.
func sweep(in interval, entries []*groupEntry) (bool, []*groupEntry) {
	var by []*groupEntry
	for at := in.low; at.cmp(in.high) < 0; {
		furthest, owner := at, (*groupEntry)(nil)
		for _, e := range entries {
			for i := range e.numbers {
				if p := &e.numbers[i]; p.low.cmp(at) <= 0 && p.high.cmp(furthest) > 0 {
					furthest, owner = p.high, e
				}
			}
		}
		if owner == nil {
			return false, nil
		}
		at, by = furthest, append(by, owner)
	}
	return true, by
}

// whole shrinks an interval to the integers in it: both cuts then lie just below an
// integer. ok is false if there are none, or if the numbers are too large to write
// out.
func (in interval) whole() (interval, bool) {
	low, okLow := in.low.nextInteger()
	high, okHigh := in.high.nextInteger()
	in.low, in.high = low, high
	return in, okLow && okHigh && low.cmp(high) < 0
}

// nextInteger moves a cut up to the one just below the next integer.
func (c cut) nextInteger() (cut, bool) {
	if c.end != 0 || c.at.IsInteger() && !c.above {
		return c, true
	}
	text := c.at.String()
	const longest = 300
	if i := strings.IndexByte(text, 'e'); i >= 0 && len(text)-i > len("e+999") || len(text) > longest {
		return c, false
	}
	r, _ := new(big.Rat).SetString(text)      // it is a decimal number
	n := new(big.Int).Div(r.Num(), r.Denom()) // rounds down: the denominator is positive
	n.Add(n, big.NewInt(1))
	return cut{at: decimal(match.Literal{Text: n.String()})}, true
}

// universal reports whether every value that the schema allows at the pointer is in
// one of the sets.
func universal(k *checkedCondition, entries []*groupEntry) bool {
	if slices.ContainsFunc(entries, func(e *groupEntry) bool { return everyValue(e.condition) }) {
		return true
	}
	types := k.reach.Types &^ schema.Array
	if k.reach.Unknown || types == 0 || types&^(schema.Boolean|schema.Number|schema.Integer) != 0 {
		return false
	}
	if types&schema.Boolean != 0 {
		for _, text := range []string{"true", "false"} {
			lit := boolLiteral(text)
			if !slices.ContainsFunc(entries, func(e *groupEntry) bool { return holdsLiteral(e.condition, lit) }) {
				return false
			}
		}
	}
	if types&(schema.Number|schema.Integer) != 0 {
		covered, _ := sweep(interval{low: belowAll, high: aboveAll}, entries)
		return covered
	}
	return true
}
