package automaton_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Every text that begins with "git " is known as such after four bytes, and every
// other one at the byte that differs.
func Example() {
	n := automaton.New()
	n.Accept(n.Loop(n.Text(0, "git "), automaton.Any))
	dfa := n.Compile().DFA()
	for _, text := range []string{"git status", "gti status", "git"} {
		state, read := dfa.Feed(dfa.First(), []byte(text))
		fmt.Printf("%q: accepting %v, decided %v, %d bytes\n", text, dfa.Accepting(state), dfa.Fate(state) != automaton.Open, read)
	}
	// Output:
	// "git status": accepting true, decided true, 4 bytes
	// "gti status": accepting false, decided true, 2 bytes
	// "git": accepting false, decided false, 3 bytes
}
