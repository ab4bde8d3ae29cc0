package match

import "github.com/stopgate/stopgate/jsonstream"

// valueTest evaluates complete values that are not strings: a number is decided at the byte that
// ends it (K16).
type valueTest struct {
	numbers         []jsonstream.Decimal // const, enum
	isTrue, isFalse bool
	isNull          bool
	objects         map[string]bool    // canonical texts
	bound           Kind               // the range or count, "" for const and enum
	limit           jsonstream.Decimal // of a range
	count           int                // of min_items, max_items
}

// number compares exactly, in any spelling (A19-A21, I10).
func (v *valueTest) number(d jsonstream.Decimal) bool {
	switch v.bound {
	case Minimum:
		return d.Cmp(v.limit) >= 0
	case ExclusiveMinimum:
		return d.Cmp(v.limit) > 0
	case Maximum:
		return d.Cmp(v.limit) <= 0
	case ExclusiveMaximum:
		return d.Cmp(v.limit) < 0
	}
	for _, n := range v.numbers {
		if n.Equal(d) {
			return true
		}
	}
	return false
}

func (v *valueTest) boolean(b bool) bool { return b && v.isTrue || !b && v.isFalse }

func (v *valueTest) canonical(text []byte) bool { return v.objects[string(text)] }

func (v *valueTest) items(n int) bool {
	switch v.bound {
	case MinItems:
		return n >= v.count
	case MaxItems:
		return n <= v.count
	}
	return false
}

// Equals returns the numbers of const and enum.
func (m *Matcher) Equals() []jsonstream.Decimal { return m.values.numbers }

// Bound returns the limit of a range; ok is false if the matcher is no range.
func (m *Matcher) Bound() (limit jsonstream.Decimal, ok bool) {
	switch m.kind {
	case Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum:
		return m.values.limit, true
	}
	return jsonstream.Decimal{}, false
}
