package index

import (
	"slices"
	"sort"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/literal"
	"github.com/stopgate/stopgate/policy/match"
)

// numbers are the conditions on numbers: those that name some, and those that name a
// range, which is open at one side.
type numbers struct {
	equal    map[jsonstream.Decimal][]bound
	from, to ranges
}

// ranges are the lower or the upper bounds, sorted by their limits, those first that
// the smallest or the largest numbers satisfy.
type ranges struct {
	upper  bool
	bounds []bound
	first  []literal.Summary // of the bounds up to here
}

type bound struct {
	limit     jsonstream.Decimal
	exclusive bool
	member    int32
	class     uint8
}

func (n *numbers) add(member int32, class uint8, m *match.Matcher) {
	for _, d := range m.Equals() {
		if n.equal == nil {
			n.equal = make(map[jsonstream.Decimal][]bound)
		}
		n.equal[d] = append(n.equal[d], bound{member: member, class: class})
	}
	limit, ok := m.Bound()
	if !ok {
		return
	}
	b := bound{limit: limit, member: member, class: class}
	b.exclusive = m.Kind() == match.ExclusiveMinimum || m.Kind() == match.ExclusiveMaximum
	if m.Kind() == match.Minimum || m.Kind() == match.ExclusiveMinimum {
		n.from.bounds = append(n.from.bounds, b)
	} else {
		n.to.bounds = append(n.to.bounds, b)
	}
}

func (n *numbers) sort() {
	n.to.upper = true
	n.from.sort()
	n.to.sort()
}

func (r *ranges) sort() {
	slices.SortStableFunc(r.bounds, func(a, b bound) int {
		c := a.limit.Cmp(b.limit)
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

// find adds the ranges that a number is in: a run of the sorted bounds.
func (r *ranges) find(d jsonstream.Decimal, list bool, h *Hits) {
	n := sort.Search(len(r.bounds), func(i int) bool {
		c := d.Cmp(r.bounds[i].limit)
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

func (n *numbers) find(d jsonstream.Decimal, list bool, h *Hits) {
	for _, b := range n.equal[d] {
		h.Add(b.member, b.class)
		h.Members = append(h.Members, b.member)
	}
	n.from.find(d, list, h)
	n.to.find(d, list, h)
}
