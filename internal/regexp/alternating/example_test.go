package alternating_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/regexp/alternating"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

func Example() {
	b := alternating.NewBuilder()
	body := b.Char(automaton.Single('r'), nil, b.Char(automaton.Single('m'), nil, b.Body()))
	b.Member(b.Ahead(true, body, b.Match())) // (?!rm)
	table := b.Program().Table(alternating.Limits{})
	s := table.Start()
	read, changed := table.Feed(&s, []byte("rmdir"))
	fmt.Println(read, changed, table.Fate(&s, 0) == automaton.Rejects, table.Accepts(&s, 0))
	// Output: 2 true true false
}
