package analysis

import (
	"math/big"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Cut is a place between numbers: just below or just above At, or an end of the
// line. An interval of numbers lies between two cuts, so that open and closed ends
// need no cases of their own.
type Cut struct {
	End   int // -1: below all numbers, 1: above all
	At    jsonstream.Decimal
	Above bool
}

// The ends of the line.
var (
	BelowAll = Cut{End: -1}
	AboveAll = Cut{End: 1}
)

// Cmp compares two cuts.
func (c Cut) Cmp(d Cut) int {
	if c.End != d.End || c.End != 0 {
		return c.End - d.End
	}
	if n := c.At.Cmp(d.At); n != 0 {
		return n
	}
	switch {
	case c.Above == d.Above:
		return 0
	case c.Above:
		return 1
	}
	return -1
}

// Interval holds the numbers between two cuts.
type Interval struct{ Low, High Cut }

// Everything holds all numbers.
var Everything = Interval{BelowAll, AboveAll}

// Point holds one number.
func Point(d jsonstream.Decimal) Interval { return Interval{Cut{At: d}, Cut{At: d, Above: true}} }

func (in Interval) empty() bool { return in.Low.Cmp(in.High) >= 0 }

func (in Interval) contains(d jsonstream.Decimal) bool {
	return in.Low.Cmp(Cut{At: d, Above: true}) < 0 && in.High.Cmp(Cut{At: d}) > 0
}

// single returns the only number of an interval that holds one.
func (in Interval) single() (jsonstream.Decimal, bool) {
	return in.Low.At, in.Low.End == 0 && in.High.End == 0 && in.Low.At == in.High.At && !in.Low.Above && in.High.Above
}

func (in Interval) intersect(other Interval) Interval {
	if other.Low.Cmp(in.Low) > 0 {
		in.Low = other.Low
	}
	if other.High.Cmp(in.High) < 0 {
		in.High = other.High
	}
	return in
}

// intersect returns the numbers that are in both lists of intervals.
func intersect(a, b []Interval) []Interval {
	var out []Interval
	for _, x := range a {
		for _, y := range b {
			if both := x.intersect(y); !both.empty() {
				out = append(out, both)
			}
		}
	}
	return out
}

// subtract returns the numbers of a list that are not in an interval.
func subtract(list []Interval, away Interval) []Interval {
	var out []Interval
	for _, in := range list {
		for _, part := range [2]Interval{{in.Low, away.Low}, {away.High, in.High}} {
			if part = part.intersect(in); !part.empty() {
				out = append(out, part)
			}
		}
	}
	return out
}

// whole shrinks an interval to the integers in it: both cuts then lie just below an
// integer. ok is false if the numbers are too large to write out.
func (in Interval) whole() (out Interval, ok bool) {
	low, okLow := in.Low.nextInteger()
	high, okHigh := in.High.nextInteger()
	return Interval{low, high}, okLow && okHigh
}

// nextInteger moves a cut up to the one just below the next integer.
func (c Cut) nextInteger() (Cut, bool) {
	if c.End != 0 || c.At.IsInteger() && !c.Above {
		return c, true
	}
	r, ok := rational(c.At)
	if !ok {
		return c, false
	}
	n := new(big.Int).Div(r.Num(), r.Denom()) // rounds down: the denominator is positive
	return Cut{At: integer(n.Add(n, big.NewInt(1)))}, true
}

// rational writes a number out, if it is not too long for that.
func rational(d jsonstream.Decimal) (*big.Rat, bool) {
	text := d.String()
	const longest = 300
	if i := strings.IndexByte(text, 'e'); i >= 0 && len(text)-i > len("e+999") || len(text) > longest {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func integer(n *big.Int) jsonstream.Decimal {
	d, _ := jsonstream.ParseDecimal([]byte(n.String())) // it is a JSON number
	return d
}

// samples yields numbers of an interval, simple ones first, until yield returns
// false: integers if whole, which are all there are if complete is true.
func (in Interval) samples(whole bool, yield func(jsonstream.Decimal) bool) (complete bool) {
	if d, ok := in.single(); ok {
		if !whole || d.IsInteger() {
			yield(d)
		}
		return true
	}
	low, high, known := in.integers()
	if !known { // an end is too long to count from
		for n := range int64(100) {
			for _, d := range [2]jsonstream.Decimal{integer(big.NewInt(n)), integer(big.NewInt(-n))} {
				if in.contains(d) && !yield(d) {
					return false
				}
			}
		}
		for _, c := range [2]Cut{in.Low, in.High} {
			if c.End == 0 && in.contains(c.At) && (!whole || c.At.IsInteger()) && !yield(c.At) {
				return false
			}
		}
		return false
	}
	zero := new(big.Int)
	from := zero // the integer of the interval that is nearest to zero
	if low != nil && low.Sign() > 0 {
		from = low
	} else if high != nil && high.Sign() < 0 {
		from = high
	}
	if low == nil || high == nil || low.Cmp(high) <= 0 {
		const most = 20_000
		up, down := new(big.Int).Set(from), new(big.Int).Sub(from, big.NewInt(1))
		for range most {
			upOut, downOut := high != nil && up.Cmp(high) > 0, low != nil && down.Cmp(low) < 0
			if upOut && downOut {
				break
			}
			if !upOut && !yield(integer(up)) || !downOut && !yield(integer(down)) {
				return false
			}
			up.Add(up, big.NewInt(1))
			down.Sub(down, big.NewInt(1))
		}
		if whole {
			n := new(big.Int)
			return low != nil && high != nil && n.Sub(high, low).Cmp(big.NewInt(most)) < 0
		}
	} else if whole {
		return true
	}
	in.fractions(yield)
	return false
}

// integers returns the first and the last integer of an interval, nil for an end of
// the line.
func (in Interval) integers() (low, high *big.Int, ok bool) {
	out, ok := in.whole()
	if !ok {
		return nil, nil, false
	}
	for _, end := range []struct {
		cut Cut
		to  **big.Int
		add int64
	}{{out.Low, &low, 0}, {out.High, &high, -1}} {
		if end.cut.End != 0 {
			continue
		}
		r, known := rational(end.cut.At)
		if !known || !r.IsInt() {
			return nil, nil, false
		}
		*end.to = new(big.Int).Add(r.Num(), big.NewInt(end.add))
	}
	return low, high, true
}

// fractions yields numbers between the ends of an interval.
func (in Interval) fractions(yield func(jsonstream.Decimal) bool) {
	one := big.NewRat(1, 1)
	low, high := new(big.Rat), new(big.Rat)
	okLow, okHigh := in.Low.End == 0, in.High.End == 0
	if okLow {
		low, okLow = rational(in.Low.At)
	}
	if okHigh {
		high, okHigh = rational(in.High.At)
	}
	switch {
	case okLow && !okHigh:
		high = new(big.Rat).Add(low, one)
	case okHigh && !okLow:
		low = new(big.Rat).Sub(high, one)
	case !okLow:
		return
	}
	for part := int64(2); part < 200; part++ { // low + (high-low)/2^k and its mirror
		width := new(big.Rat).Sub(high, low)
		step := new(big.Rat).Mul(width, big.NewRat(1, part))
		d, err := decimal(step.Add(step, low))
		if err == nil && in.contains(d) && !yield(d) {
			return
		}
	}
}

// decimal writes a fraction as a decimal number near it.
func decimal(r *big.Rat) (jsonstream.Decimal, error) {
	text := r.FloatString(len(r.Denom().String()) + 4)
	return jsonstream.ParseDecimal([]byte(text))
}

// Integers shrinks an interval to the integers in it, as far as its ends can be
// written out.
func (in Interval) Integers() Interval {
	if out, ok := in.whole(); ok {
		return out
	}
	return in
}

// Intersect narrows intervals to another one.
func Intersect(list []Interval, in Interval) []Interval {
	out := intersect(list, []Interval{in})
	if out == nil {
		return []Interval{}
	}
	return out
}

// Sample returns a simple number of an interval that a test accepts: an integer if
// whole.
func (in Interval) Sample(whole bool, accepts func(jsonstream.Decimal) bool) (d jsonstream.Decimal, ok bool) {
	in.samples(whole, func(x jsonstream.Decimal) bool {
		if accepts(x) {
			d, ok = x, true
		}
		return !ok
	})
	return d, ok
}
