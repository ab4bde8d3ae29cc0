package automaton

import (
	"slices"
	"unicode/utf8"
)

// Bound is a set of texts that others are compared with: the texts of a domain that are in the set
// of an automaton. It is immutable.
type Bound struct {
	set, domain *DFA
	ascii       [utf8.RuneSelf]uint16 // the joint class of each code point
	others      []classSpan           // of the code points above ASCII, sorted, without gaps
	joint       []joint
	bySet       [][]uint16 // the joint classes of each class of set
	byDomain    [][]uint16 // and of each of domain
}

// joint is a class of code points that behave alike in both automata.
type joint struct{ set, domain uint16 }

// NewBound returns the texts of domain that are in set.
func NewBound(set, domain *DFA) *Bound {
	b := &Bound{set: set, domain: domain}
	known := make(map[joint]uint16)
	class := func(r rune) uint16 {
		j := joint{set.class(r), domain.class(r)}
		c, ok := known[j]
		if !ok {
			c = uint16(len(b.joint))
			known[j] = c
			b.joint = append(b.joint, j)
			list(&b.bySet, j.set, c)
			list(&b.byDomain, j.domain, c)
		}
		return c
	}
	for r := range b.ascii {
		b.ascii[r] = class(rune(r))
	}
	cuts := []rune{utf8.MaxRune + 1}
	for _, a := range []*DFA{set, domain} {
		for _, o := range a.others {
			cuts = append(cuts, o.Low, o.High+1)
		}
	}
	slices.Sort(cuts)
	low := rune(utf8.RuneSelf)
	for _, cut := range cuts {
		if cut > low {
			b.others = append(b.others, classSpan{Span{low, cut - 1}, class(low)})
			low = cut
		}
	}
	return b
}

// list adds a joint class to the list of a class.
func list(lists *[][]uint16, class, joint uint16) {
	for int(class) >= len(*lists) {
		*lists = append(*lists, nil)
	}
	(*lists)[class] = append((*lists)[class], joint)
}

// Includes decides whether every text of a direct NFA that is in the domain is in the set. proven is
// false where the question is too large.
func (b *Bound) Includes(n *NFA) (yes, proven bool) {
	const limit = 1 << 20
	classes := make([]classSet, len(n.sets))
	for i, s := range n.sets {
		classes[i] = b.classesOf(s)
	}
	type triple struct {
		set, domain uint32
		n           int
	}
	domains := len(b.domain.rows)
	seen := newPairSet(len(b.set.rows)*domains, len(n.states))
	var todo []triple
	reach := func(set, domain uint32, at int) {
		if b.set.fate[set] != Accepts && b.domain.fate[domain] != Rejects && seen.add(set*uint32(domains)+domain, at) {
			todo = append(todo, triple{set, domain, at})
		}
	}
	seen.add(b.set.first*uint32(domains)+b.domain.first, 0)
	todo = append(todo, triple{b.set.first, b.domain.first, 0})
	marks, mark := make([]uint32, len(b.joint)), uint32(0)
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.states[p.n].accept && !b.set.accept[p.set] && b.domain.accept[p.domain] {
			return false, true
		}
		if seen.n > limit {
			return false, false // bounds memory
		}
		in, of := &b.set.rows[p.set], &b.domain.rows[p.domain]
		for _, e := range n.states[p.n].edges {
			members, left := &classes[e.set], classes[e.set].n
			mark++
			for _, m := range b.set.edges[in.from:in.to] {
				for _, j := range jointsOf(b.bySet, m.class) {
					if members.has(j) {
						marks[j], left = mark, left-1
						reach(m.next, b.domain.step(p.domain, b.joint[j].domain), e.to)
					}
				}
			}
			for _, m := range b.domain.edges[of.from:of.to] {
				for _, j := range jointsOf(b.byDomain, m.class) {
					if members.has(j) && marks[j] != mark {
						marks[j], left = mark, left-1
						reach(in.other, m.next, e.to)
					}
				}
			}
			if left > 0 {
				reach(in.other, of.other, e.to)
			}
		}
	}
	return true, true
}

// jointsOf returns the joint classes of a class, none for one without code points.
func jointsOf(lists [][]uint16, class uint16) []uint16 {
	if int(class) >= len(lists) {
		return nil
	}
	return lists[class]
}

// classesOf returns the joint classes that have a member in s.
func (b *Bound) classesOf(s Set) (classes classSet) {
	at := 0 // the spans of both are sorted
	for _, span := range s {
		for r := span.Low; r <= min(span.High, utf8.RuneSelf-1); r++ {
			classes.add(b.ascii[r])
		}
		for at < len(b.others) && b.others[at].High < span.Low {
			at++
		}
		for k := at; k < len(b.others) && b.others[k].Low <= span.High; k++ {
			classes.add(b.others[k].class)
		}
	}
	return classes
}
