package match

import "github.com/stopgate/stopgate/internal/automaton"

// Name is a glob over tool names and over the facts of a call (K0b, K0c, G2):
// the whole name, case-sensitive on every platform, "*" never matches "/".
type Name struct {
	text     string
	language *automaton.Language
	prefix   string
	exact    bool
}

// ParseName reads a glob over names. The error is a *SpecError.
func ParseName(glob string) (*Name, error) {
	lists, err := parseGlob(glob, true)
	if err != nil {
		err.Kind = Glob
		return nil, err
	}
	n := automaton.New()
	for _, tokens := range lists {
		n.Accept(addRun(n, 0, tokens, notSlash, false))
	}
	name := &Name{text: glob, language: n.Compile()}
	text, length := literalRun(lists[0])
	name.prefix, name.exact = text, len(lists) == 1 && length == len(lists[0])
	for _, tokens := range lists[1:] {
		text, _ := literalRun(tokens)
		name.prefix = text[:commonPrefix(text, name.prefix)]
	}
	return name, nil
}

// Match reports whether the whole name matches.
func (n *Name) Match(name string) bool { return n.language.Accepts([]byte(name)) }

// LiteralPrefix returns the text before the first wildcard or brace; exact is
// true if the glob is one literal name. A longer prefix is the better match.
func (n *Name) LiteralPrefix() (prefix string, exact bool) { return n.prefix, n.exact }

// String returns the glob as it was written.
func (n *Name) String() string { return n.text }

// Walker returns an automaton of the names, nil if it would be too large.
func (n *Name) Walker() automaton.Walker {
	if a := n.language.DFA(); a != nil {
		return a
	}
	return nil
}
