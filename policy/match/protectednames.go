package match

import (
	"slices"
	"unicode/utf8"
)

// needles are names of which every path that touches the protected list has one: each
// line of the list has a component that is such a name or begins with one. A path with
// none of them, as nearly all are, is cleared without the automata of the list, which
// cost a short-lived process more than all its rules.
type needles struct {
	names    map[string]bool
	prefixes []string
}

// specific is how long a name in a line has to be to be looked for as a whole where
// another component begins with a longer one.
const specific = 4

// add adds the name that one alternative of a line asks for. It reports false if the
// line has none.
func (n *needles) add(lit pathLiteral) bool {
	name, prefix := "", ""
	for _, c := range lit.components {
		text, length := literalRun(c)
		switch {
		case length == len(c) && len(text) >= len(name):
			name = text
		case len(text) >= len(prefix):
			prefix = text
		}
	}
	switch {
	case len(name) > longest || len(prefix) > longest:
		return false
	case len(name) >= specific || name != "" && len(name) >= len(prefix):
		n.names[fold(name)] = true
	case prefix != "":
		n.prefixes = append(n.prefixes, fold(prefix))
	default:
		return false
	}
	return true
}

// longest bounds the names that are looked for.
const longest = 64

// find reports whether a path has one of the names, ASCII upper case taken for lower.
func (n *needles) find(path []byte) bool {
	var buf [longest]byte
	for from := 0; from <= len(path); {
		end := from
		for end < len(path) && path[end] != '/' {
			if end-from < longest {
				buf[end-from] = lowerASCII(path[end])
			}
			end++
		}
		c := buf[:min(end-from, longest)]
		if end-from <= longest && n.names[string(c)] {
			return true
		}
		for _, prefix := range n.prefixes {
			if len(c) >= len(prefix) && string(c[:len(prefix)]) == prefix {
				return true
			}
		}
		from = end + 1
	}
	return false
}

// newNeedles collects the names of the lines and of further files, nil if a path could
// touch the list without having one: the root's own path has it.
func newNeedles(globs, files []string, root string) *needles {
	n := &needles{names: make(map[string]bool)}
	for _, g := range globs {
		lists, err := parseGlob(g, true)
		if err != nil {
			return nil // not reached: the list is constant
		}
		for _, tokens := range lists {
			lit, err := splitGlob(g, tokens)
			if err != nil || !n.add(lit) {
				return nil
			}
		}
	}
	for _, f := range files {
		if !n.add(splitLiteral(f)) {
			return nil
		}
	}
	if slices.Sort(n.prefixes); n.find([]byte(fold(root))) {
		return nil
	}
	n.prefixes = slices.Compact(n.prefixes)
	return n
}

// clears reports whether a canonical path has none of the names, whatever its case.
func (n *needles) clears(canonical []byte) bool {
	if n == nil {
		return false
	}
	if n.find(canonical) {
		return false
	}
	ascii := !slices.ContainsFunc(canonical, func(c byte) bool { return c >= utf8.RuneSelf })
	return ascii || !n.find([]byte(fold(string(canonical))))
}
