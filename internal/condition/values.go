package condition

import "github.com/stopgate/stopgate/jsonstream"

// Values evaluates complete values that are not strings: a number is decided at the byte that
// ends it (K16).
type Values struct {
	Numbers         []jsonstream.Decimal // const, enum
	IsTrue, IsFalse bool
	IsNull          bool
	Objects         map[string]bool    // canonical texts
	Bound           Kind               // the range or count, "" for const and enum
	Limit           jsonstream.Decimal // of a range
	Count           int                // of min_items, max_items
}

// Number compares exactly, in any spelling (A19-A21, I10).
func (v *Values) Number(d jsonstream.Decimal) bool {
	switch v.Bound {
	case Minimum:
		return d.Cmp(v.Limit) >= 0
	case ExclusiveMinimum:
		return d.Cmp(v.Limit) > 0
	case Maximum:
		return d.Cmp(v.Limit) <= 0
	case ExclusiveMaximum:
		return d.Cmp(v.Limit) < 0
	}
	for _, n := range v.Numbers {
		if n.Equal(d) {
			return true
		}
	}
	return false
}

func (v *Values) Boolean(b bool) bool { return b && v.IsTrue || !b && v.IsFalse }

func (v *Values) Canonical(text []byte) bool { return v.Objects[string(text)] }

func (v *Values) Items(n int) bool {
	switch v.Bound {
	case MinItems:
		return n >= v.Count
	case MaxItems:
		return n <= v.Count
	}
	return false
}
