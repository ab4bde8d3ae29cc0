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

type interval struct {
	low, high cut
	entry     *groupEntry
}

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

// intervals lists the numbers of the entries, literals as single points.
func intervals(entries []*groupEntry) []interval {
	var list []interval
	for _, e := range entries {
		switch k := e.condition; {
		case isRange(k.Spec.Kind):
			in := rangeOf(k)
			in.entry = e
			list = append(list, in)
		case isFinite(k):
			for _, lit := range k.Spec.Values {
				if lit.Kind == match.LiteralNumber {
					d := decimal(lit)
					list = append(list, interval{cut{at: d}, cut{at: d, above: true}, e})
				}
			}
		}
	}
	return list
}

// coveredRange reports whether a range lies in the union of the entries' numbers,
// for integers: whether its integers do.
func coveredRange(l *checkedCondition, entries []*groupEntry) (bool, []*groupEntry) {
	return sweep(rangeOf(l), intervals(entries), wholeNumbers(l))
}

// wholeNumbers reports whether the parameter only takes integers.
func wholeNumbers(k *checkedCondition) bool {
	return k.target.Type&schema.Integer != 0 && k.target.Type&schema.Number == 0
}

// sweep walks from the low end of an interval to its high end along the pieces that
// reach furthest.
func sweep(in interval, pieces []interval, integers bool) (bool, []*groupEntry) {
	if integers {
		var ok bool
		if in, ok = in.whole(); !ok {
			return false, nil
		}
		kept := pieces[:0:0]
		for _, p := range pieces {
			if p, ok := p.whole(); ok {
				kept = append(kept, p)
			}
		}
		pieces = kept
	}
	slices.SortStableFunc(pieces, func(a, b interval) int { return a.low.cmp(b.low) })
	var by []*groupEntry
	at, i := in.low, 0
	for at.cmp(in.high) < 0 {
		var furthest *interval
		for ; i < len(pieces) && pieces[i].low.cmp(at) <= 0; i++ {
			if furthest == nil || pieces[i].high.cmp(furthest.high) > 0 {
				furthest = &pieces[i]
			}
		}
		if furthest == nil || furthest.high.cmp(at) <= 0 {
			return false, nil
		}
		at = furthest.high
		by = append(by, furthest.entry)
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
		covered, _ := sweep(interval{low: belowAll, high: aboveAll}, intervals(entries), wholeNumbers(k))
		return covered
	}
	return true
}
