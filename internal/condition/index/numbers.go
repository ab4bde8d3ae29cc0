package index

import (
	"cmp"
	"slices"
	"sort"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/jsonstream"
)

// numbers are the conditions on numbers: single values, and ranges that are open at one side.
type numbers struct {
	integers map[int64][]named // those that fit into an int64
	others   map[jsonstream.Decimal][]named
	from, to ranges
}

// named is a member that one number satisfies.
type named struct {
	member int32
	class  uint8
}

// number is a number, as an int64 if it fits: nearly all do, and comparing two Decimals costs many
// times more.
type number struct {
	n       int64
	integer bool
	literal []byte             // an integer whose Decimal was not needed yet
	decimal jsonstream.Decimal // of everything else
}

// read parses a number, false if it is invalid.
func (d *number) read(literal []byte) bool {
	if d.n, d.integer = jsonstream.ParseInt(literal); d.integer {
		d.literal = literal
		return true
	}
	decimal, err := jsonstream.ParseDecimal(literal)
	d.set(decimal)
	return err == nil
}

func (d *number) set(decimal jsonstream.Decimal) {
	d.decimal = decimal
	d.n, d.integer = decimal.Int64()
}

// cmp compares with a limit.
func (d *number) cmp(limit *number) int {
	if d.integer && limit.integer {
		return cmp.Compare(d.n, limit.n)
	}
	if d.literal != nil {
		d.decimal, _ = jsonstream.ParseDecimal(d.literal) // already parsed
		d.literal = nil
	}
	return d.decimal.Cmp(limit.decimal)
}

// ranges are the lower or the upper bounds, sorted by their limits: first those that the smallest
// or the largest numbers satisfy.
type ranges struct {
	upper  bool
	bounds []bound
	first  []literal.Summary // summary of the bounds up to here
}

type bound struct {
	named
	limit     number
	exclusive bool
}

func (n *numbers) add(member int32, class uint8, m *match.Matcher) {
	who := named{member, class}
	for _, d := range m.Values().Numbers {
		n.addEqual(d, who)
	}
	if !m.Kind().IsRange() {
		return
	}
	b := bound{named: who}
	b.limit.set(m.Values().Limit)
	b.exclusive = m.Kind() == condition.ExclusiveMinimum || m.Kind() == condition.ExclusiveMaximum
	if m.Kind() == condition.Minimum || m.Kind() == condition.ExclusiveMinimum {
		n.from.bounds = append(n.from.bounds, b)
	} else {
		n.to.bounds = append(n.to.bounds, b)
	}
}

func (n *numbers) addEqual(d jsonstream.Decimal, who named) {
	if n.integers == nil {
		n.integers, n.others = make(map[int64][]named), make(map[jsonstream.Decimal][]named)
	}
	if i, ok := d.Int64(); ok {
		n.integers[i] = append(n.integers[i], who)
	} else {
		n.others[d] = append(n.others[d], who)
	}
}

func (n *numbers) sort() {
	n.to.upper = true
	n.from.sort()
	n.to.sort()
}

func (r *ranges) sort() {
	slices.SortStableFunc(r.bounds, func(a, b bound) int {
		c := a.limit.cmp(&b.limit)
		if r.upper {
			c = -c
		}
		switch {
		case c != 0 || a.exclusive == b.exclusive:
			return c
		case b.exclusive:
			return -1
		}
		return 1
	})
	sum := literal.Empty()
	for i := range r.bounds {
		sum.Add(r.bounds[i].member, r.bounds[i].class)
		r.first = append(r.first, sum)
	}
}

// find adds the ranges that contain a number: a run of the sorted bounds.
func (r *ranges) find(d *number, list bool, h *Hits) {
	if len(r.bounds) == 0 {
		return
	}
	n := sort.Search(len(r.bounds), func(i int) bool {
		c := d.cmp(&r.bounds[i].limit)
		if r.upper {
			c = -c
		}
		return c < 0 || c == 0 && r.bounds[i].exclusive
	})
	if n == 0 {
		return
	}
	h.Merge(&r.first[n-1])
	for i := 0; i < n && list; i++ {
		h.Members = append(h.Members, r.bounds[i].member)
	}
}

func (n *numbers) find(d *number, list bool, h *Hits) {
	var equal []named
	if d.integer {
		equal = n.integers[d.n]
	} else if len(n.others) > 0 {
		equal = n.others[d.decimal]
	}
	for _, who := range equal {
		h.Add(who.member, who.class)
		h.Members = append(h.Members, who.member)
	}
	n.from.find(d, list, h)
	n.to.find(d, list, h)
}
