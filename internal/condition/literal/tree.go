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
	Prefix bool // every text that begins with it; otherwise this text alone
	Member int32
	Class  uint8
}

// Forms are the further forms in which a text is read (K21): without the code points
// that are hidden, and that without those that are blank at both ends.
type Forms struct{ Hidden, Blank func(rune) bool }

// Tree holds literals by their beginnings, for each form of a text those that it can
// be: a form without blanks at its ends is no literal that begins with one. Where that
// leaves out none, the forms share one part.
type Tree struct {
	forms           *Forms
	raw, bare, trim *part
	apart           bool // the forms do not share it
}

// NewTree builds a tree. With forms every literal is looked for in all forms of a
// text; otherwise in the text itself.
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

// never reports a literal that no text without hidden code points is.
func (f *Forms) never(e Entry) bool { return strings.ContainsFunc(e.Text, f.Hidden) }

// neverTrimmed reports a literal that no text without blanks at its ends is.
func (f *Forms) neverTrimmed(e Entry) bool {
	return strings.TrimLeftFunc(e.Text, f.Blank) != e.Text || !e.Prefix && strings.TrimRightFunc(e.Text, f.Blank) != e.Text
}

// part is the tree of one form. A node stands for the texts that begin alike; behind
// it they differ.
type part struct {
	entries []Entry // sorted by text, prefixes first
	nodes   []node
	letters []byte            // of each node, what leads to it
	first   [256]uint16       // the nodes behind the root, by what leads to them; 0 for none
	of      map[int32][]int32 // the entries of members that have several
	at      []int32           // the entry of each member, the first of several
}

// node is a beginning that several entries share, or one entry's text.
type node struct {
	text     string // an entry's text; the first depth bytes are the beginning
	depth    int32
	lo, hi   int32 // its entries
	whole    int32 // behind those that are exactly the beginning
	prefixes int32 // behind the prefixes among these
	children int32 // the first of them; they stand together
	count    int32
	open     Summary // of the entries
	ended    Summary // of those that are exactly the beginning and no prefix
}

func newPart(entries []Entry) *part {
	t := &part{entries: slices.Clone(entries)}
	slices.SortStableFunc(t.entries, func(a, b Entry) int {
		if c := strings.Compare(a.Text, b.Text); c != 0 {
			return c
		}
		return cmp.Compare(bit(b.Prefix), bit(a.Prefix))
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
	for i := range t.nodes[0].count {
		n := t.nodes[0].children + i
		t.first[t.letters[n]] = uint16(n) // at most 256, which stand behind the root
	}
	return t
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// grow makes node n of the entries from lo to hi, which begin alike for depth bytes.
func (t *part) grow(n, lo, hi, depth int32) {
	x := node{lo: lo, hi: hi, depth: depth, whole: lo, prefixes: lo, open: Empty(), ended: Empty()}
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
		x.whole++
		if e.Prefix {
			x.prefixes++
		} else {
			x.ended.Add(e.Member, e.Class)
		}
	}
	x.children = int32(len(t.nodes))
	starts := []int32{}
	for i := x.whole; i < hi; {
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

// place is where one form of a text stands: on the way to a node, with at bytes of its
// beginning read. A negative node is none: no literal begins so.
type place struct{ node, at int32 }

var nowhere = place{node: -1}

// step reads one byte.
func (t *part) step(p place, c byte) place {
	if p.node < 0 {
		return p
	}
	n := &t.nodes[p.node]
	if p.at < n.depth {
		if n.text[p.at] != c {
			return nowhere
		}
		return place{p.node, p.at + 1}
	}
	if to := t.child(p.node, c); to > 0 {
		return place{to, n.depth + 1}
	}
	return nowhere
}

// child returns the node that a byte leads to behind the beginning of a node, 0 for none.
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

// complete returns the node that a place has reached the end of, nil if none.
func (t *part) complete(p place) *node {
	if p.node < 0 || p.at < t.nodes[p.node].depth {
		return nil
	}
	return &t.nodes[p.node]
}
