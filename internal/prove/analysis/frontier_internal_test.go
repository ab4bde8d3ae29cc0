package analysis

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

func dfa(t *testing.T, build func(*automaton.NFA)) *automaton.DFA {
	t.Helper()
	n := automaton.New()
	build(n)
	a := n.Compile().DFA()
	if a == nil {
		t.Fatal("the automaton is too large")
	}
	return a
}

// A search visits the states that a shortest text may lead through, and not all that are as near:
// of 500 words it follows the one that ends as it has to.
func TestSearchIsGuided(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	words := dfa(t, func(n *automaton.NFA) {
		for range 500 {
			word := make([]byte, 30)
			for i := range word {
				word[i] = byte('a' + g.IntN(26))
			}
			n.Accept(n.Text(0, string(word)))
		}
		n.Accept(n.Text(0, "x/needle_needle"))
	})
	ending := dfa(t, func(n *automaton.NFA) {
		n.Accept(n.Text(n.Loop(0, automaton.Any), "needle_needle"))
	})
	budget := 3_000
	p := product{inside: []automaton.Walker{words, ending}, budget: &budget, most: budget, check: func(string) bool { return true }}
	if text, st := p.search(); st != found || text != "x/needle_needle" {
		t.Errorf("%q, %v, and %d states are left of the budget", text, st, budget)
	}
}

// Of random languages a search finds a text exactly if there is one, and none is shorter.
func TestSearchFindsTheShortest(t *testing.T) {
	var texts []string
	level := []string{""}
	for range 7 {
		texts = append(texts, level...)
		var next []string
		for _, text := range level {
			next = append(next, text+"a", text+"b", text+"c")
		}
		level = next
	}
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 3))
		word := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteByte(byte('a' + g.IntN(3)))
			}
			return b.String()
		}
		random := func() *automaton.DFA {
			return dfa(t, func(n *automaton.NFA) {
				for range 1 + g.IntN(3) {
					at := n.Text(0, word(g.IntN(2)))
					if g.IntN(2) == 0 {
						at = n.Loop(at, automaton.Any)
					}
					n.Accept(n.Text(n.Loop(at, automaton.Single('b')), word(g.IntN(4))))
				}
			})
		}
		var inside, outside []automaton.Walker
		for range 1 + g.IntN(3) {
			inside = append(inside, random())
		}
		for range g.IntN(3) {
			outside = append(outside, random())
		}
		if g.IntN(2) == 0 {
			inside = append(inside[1:], newCombined([]automaton.Walker{inside[0], random()}, g.IntN(2) == 0))
		}
		want := ""
		exists := false
		for _, text := range texts {
			in := true
			for _, w := range inside {
				in = in && walks(w, text)
			}
			for _, w := range outside {
				in = in && !walks(w, text)
			}
			if in {
				want, exists = text, true
				break
			}
		}
		budget := 100_000
		p := product{inside: inside, outside: outside, budget: &budget, most: budget, check: func(string) bool { return true }}
		for range outside {
			p.owners = append(p.owners, noOwner)
		}
		text, st := p.search()
		switch {
		case exists && (st != found || len(text) != len(want)):
			t.Errorf("seed %d: %q, %v; want a text as long as %q", seed, text, st, want)
		case !exists && st == found && len(text) < 7:
			t.Errorf("seed %d: %q, and there is no such text", seed, text)
		}
	}
}
