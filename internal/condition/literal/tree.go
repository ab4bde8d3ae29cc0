package literal

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Entry is one literal of a member.
type Entry struct {
	Text   string
	Prefix bool // matches every text that begins with Text, instead of Text only
	Member int32
	Class  uint8
}

// Forms are the additional forms of a text (K21): without hidden code points, and also without
// blank ones at both ends.
type Forms struct{ Hidden, Blank func(rune) bool }

// Tree holds literals as a prefix tree. Each form of a text has its own part with the literals that
// it can equal: a trimmed form never equals a literal that begins with a blank. If no literal is
// excluded, the forms share one part.
type Tree struct {
	forms           *Forms
	raw, bare, trim *part
	apart           bool // the forms have separate parts
}

// NewTree builds a tree. With forms every literal is searched in all forms of a text, otherwise in
// the text itself.
func NewTree(entries []Entry, forms *Forms) *Tree {
	t := &Tree{forms: forms, raw: newPart(entries)}
	t.bare, t.trim = t.raw, t.raw
	if forms == nil {
		return t
	}
	if bare := slices.DeleteFunc(slices.Clone(entries), forms.never); len(bare) < len(entries) {
		t.bare, entries = newPart(bare), bare
	}
	t.trim = t.bare
	if trim := slices.DeleteFunc(slices.Clone(entries), forms.neverTrimmed); len(trim) < len(entries) {
		t.trim = newPart(trim)
	}
	t.apart = t.trim != t.raw
	return t
}

// never reports whether no text without hidden code points can equal an entry.
func (f *Forms) never(e Entry) bool { return strings.ContainsFunc(e.Text, f.Hidden) }

// neverTrimmed reports whether no trimmed text can equal an entry.
func (f *Forms) neverTrimmed(e Entry) bool {
	return strings.TrimLeftFunc(e.Text, f.Blank) != e.Text || !e.Prefix && strings.TrimRightFunc(e.Text, f.Blank) != e.Text
}

// part is the tree of one form. A node is a common prefix of texts.
type part struct {
	entries []Entry // sorted by text, prefixes first
	nodes   []node
	letters []byte            // of each node, the byte that leads to it
	first   [256]uint16       // the children of the root by their byte; 0 for none
	of      map[int32][]int32 // the entries of members with several
	at      []int32           // the entry of each member, the first one if there are several
}

// node is a prefix shared by several entries, or the text of one entry.
type node struct {
	text     string // an entry's text; its first depth bytes are the prefix
	depth    int32
	lo, hi   int32 // range of its entries
	equal    int32 // end of those that equal the prefix
	prefixes int32 // end of the prefix entries among these
	children int32 // the first of its children, which are consecutive
	count    int32
	open     Summary // of the entries
	ended    Summary // summary of those that equal the prefix and are no prefix entries
}

func newPart(entries []Entry) *part {
	t := &part{entries: slices.Clone(entries)}
	slices.SortFunc(t.entries, func(a, b Entry) int {
		if c := strings.Compare(a.Text, b.Text); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(bit(b.Prefix), bit(a.Prefix)), cmp.Compare(a.Member, b.Member))
	})
	for i, e := range t.entries {
		for int(e.Member) >= len(t.at) {
			t.at = append(t.at, -1)
		}
		if t.at[e.Member] < 0 {
			t.at[e.Member] = int32(i)
			continue
		}
		if t.of == nil {
			t.of = make(map[int32][]int32)
		}
		t.of[e.Member] = append(t.of[e.Member], int32(i))
	}
	t.nodes, t.letters = make([]node, 1, 2*len(t.entries)+1), make([]byte, 1, 2*len(t.entries)+1)
	t.grow(0, 0, int32(len(t.entries)), 0)
	t.nodes, t.letters = slices.Clone(t.nodes), slices.Clone(t.letters) // mostly far fewer than twice the entries
	for i := range t.nodes[0].count {
		n := t.nodes[0].children + i
		t.first[t.letters[n]] = uint16(n) // at most 256 children, which follow the root
	}
	return t
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// grow builds node n from the entries lo to hi, whose first depth bytes are equal.
func (t *part) grow(n, lo, hi, depth int32) {
	x := node{lo: lo, hi: hi, depth: depth, equal: lo, prefixes: lo, open: Empty(), ended: Empty()}
	if lo < hi {
		x.text = t.entries[lo].Text
		last := t.entries[hi-1].Text
		if n > 0 { // the root is the empty text
			for int(x.depth) < min(len(x.text), len(last)) && x.text[x.depth] == last[x.depth] {
				x.depth++
			}
		}
	}
	for i := lo; i < hi; i++ {
		e := &t.entries[i]
		x.open.Add(e.Member, e.Class)
		if len(e.Text) > int(x.depth) {
			continue
		}
		x.equal++
		if e.Prefix {
			x.prefixes++
		} else {
			x.ended.Add(e.Member, e.Class)
		}
	}
	x.children = int32(len(t.nodes))
	starts := []int32{}
	for i := x.equal; i < hi; {
		c := t.entries[i].Text[x.depth]
		starts, t.letters = append(starts, i), append(t.letters, c)
		i += int32(sort.Search(int(hi-i), func(k int) bool { return t.entries[i+int32(k)].Text[x.depth] > c }))
	}
	x.count = int32(len(starts))
	for range starts {
		t.nodes = append(t.nodes, node{})
	}
	t.nodes[n] = x
	for k, from := range starts {
		to := hi
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		t.grow(x.children+int32(k), from, to, x.depth+1)
	}
}

// position is the state of one form of a text: on the way to a node, after at bytes of its prefix.
// A negative node means that no literal matches.
type position struct{ node, at int32 }

var nowhere = position{node: -1}

// step reads one byte.
func (t *part) step(p position, c byte) position {
	if p.node < 0 {
		return p
	}
	n := &t.nodes[p.node]
	if p.at < n.depth {
		if n.text[p.at] != c {
			return nowhere
		}
		return position{p.node, p.at + 1}
	}
	if to := t.child(p.node, c); to > 0 {
		return position{to, n.depth + 1}
	}
	return nowhere
}

// child returns the node that follows the prefix of a node with byte c, 0 for none.
func (t *part) child(node int32, c byte) int32 {
	if node == 0 {
		return int32(t.first[c])
	}
	n := &t.nodes[node]
	low, high := n.children, n.children+n.count
	for low < high {
		switch mid := int32(uint32(low+high) / 2); {
		case t.letters[mid] == c:
			return mid
		case t.letters[mid] < c:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0
}

// complete returns the node whose prefix is complete at p, nil if none.
func (t *part) complete(p position) *node {
	if p.node < 0 || p.at < t.nodes[p.node].depth {
		return nil
	}
	return &t.nodes[p.node]
}
