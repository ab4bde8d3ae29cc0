package analysis

import (
	"slices"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// trie walks many literals and beginnings at once. State 0 follows a text that
// none of them begins with.
type trie struct {
	nodes  []node
	folded bool
	runes  map[rune]bool
}

type node struct {
	next         map[rune]uint32
	exact, below int32 // the first rule with this literal, or this beginning
}

var _ automaton.Walker = (*trie)(nil)

func newTrie(folded bool) *trie {
	return &trie{nodes: []node{{exact: none, below: none}, {exact: none, below: none}}, folded: folded, runes: make(map[rune]bool)}
}

func (t *trie) insert(text string) *node {
	at := uint32(1)
	for _, r := range text {
		t.runes[r] = true
		next, ok := t.nodes[at].next[r]
		if !ok {
			next = uint32(len(t.nodes))
			t.nodes = append(t.nodes, node{exact: none, below: none})
			if t.nodes[at].next == nil {
				t.nodes[at].next = make(map[rune]uint32)
			}
			t.nodes[at].next[r] = next
		}
		at = next
	}
	return &t.nodes[at]
}

func (t *trie) addExact(text string, rule int32) {
	if n := t.insert(text); n.exact == none || rule < n.exact {
		n.exact = rule
	}
}

func (t *trie) addBelow(text string, rule int32) {
	if n := t.insert(text); n.below == none || rule < n.below {
		n.below = rule
	}
}

func (t *trie) First() uint32 { return 1 }

func (t *trie) Next(state uint32, r rune) uint32 {
	if t.nodes[state].below != none {
		return state
	}
	if t.folded && 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return t.nodes[state].next[r]
}

func (t *trie) Accepting(state uint32) bool { return t.owner(state) != none }

// owner is the rule that takes a text which ends in a state: the one that takes all
// that go on from there, if there is one.
func (t *trie) owner(state uint32) int32 {
	if n := &t.nodes[state]; n.below == none {
		return n.exact
	}
	return t.nodes[state].below
}

func (t *trie) Fate(state uint32) automaton.Fate {
	switch {
	case state == 0:
		return automaton.Rejects
	case t.nodes[state].below != none:
		return automaton.Accepts
	}
	return automaton.Open
}

func (t *trie) Cuts() []rune {
	cuts := []rune{0}
	for r := range t.runes {
		cuts = append(cuts, r, r+1)
		if t.folded && 'a' <= r && r <= 'z' {
			cuts = append(cuts, r+'A'-'a', r+'A'-'a'+1)
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}
