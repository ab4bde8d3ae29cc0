package glob

import (
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Name is a glob over tool names and over the facts of a call (K0b, K0c, G2). It matches complete
// names, is case-sensitive on every platform, and "*" never matches "/".
//
// Names are short, so that they are matched by its tokens. Its automaton is built for proofs only.
type Name struct {
	text     string
	lists    [][]Token
	language func() *automaton.Language
	prefix   string
	exact    bool
}

// ParseName reads a glob over names. The error is an *Error.
func ParseName(text string) (*Name, error) {
	if !strings.ContainsAny(text, `*?[{}\`) {
		return newName(text, [][]Token{Text(text)}), nil
	}
	lists, err := Parse(text, true)
	if err != nil {
		return nil, err
	}
	return newName(text, lists), nil
}

func newName(glob string, lists [][]Token) *Name {
	text, length := LiteralRun(lists[0])
	name := &Name{text: glob, lists: lists, prefix: text, exact: len(lists) == 1 && length == len(lists[0])}
	for _, tokens := range lists[1:] {
		text, _ := LiteralRun(tokens)
		name.prefix = text[:commonPrefix(text, name.prefix)]
	}
	name.language = sync.OnceValue(func() *automaton.Language {
		n := automaton.New()
		for _, tokens := range lists {
			n.Accept(Add(n, 0, tokens, Component, nil))
		}
		return n.Compile()
	})
	return name
}

// Match reports whether the glob matches the complete name.
func (n *Name) Match(name string) bool {
	if n.exact || !strings.HasPrefix(name, n.prefix) {
		return name == n.prefix && n.exact
	}
	text := []byte(name)
	return slices.ContainsFunc(n.lists, func(tokens []Token) bool { return match(tokens, text, true) })
}

// LiteralPrefix returns the text before the first wildcard or brace; exact is
// true if the glob is one literal name. A longer prefix is the better match.
func (n *Name) LiteralPrefix() (prefix string, exact bool) { return n.prefix, n.exact }

// String returns the glob as written.
func (n *Name) String() string { return n.text }

// NonEmpty returns the glob for the names that are not empty.
func (n *Name) NonEmpty() *Name {
	if !n.Match("") {
		return n
	}
	var lists [][]Token
	for _, tokens := range n.lists {
		switch only := len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t Token) bool { return t.Kind != Star }); {
		case only:
			lists = append(lists, []Token{{Kind: Any}, {Kind: Star}})
		case len(tokens) > 0:
			lists = append(lists, tokens)
		}
	}
	if len(lists) == 0 {
		lists = [][]Token{{{Kind: Class, more: &more{}}}} // no name
	}
	return newName(n.text, lists)
}

// Walker returns an automaton of the names, nil if it would be too large.
func (n *Name) Walker() automaton.Walker {
	if a := n.language().DFA(); a != nil {
		return a
	}
	return nil
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
