package regular

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Language returns the strings in which the pattern is found, as Match finds it.
func (p *Pattern) Language() *Language {
	if p.root.anchored(opStart) {
		return &Language{p.root}
	}
	return &Language{concat(star(class(everything())), p.root)}
}

// Everything is the set of all strings.
func Everything() *Language { return &Language{concat()} }

// OneOf is the set of the given strings. Thousands share their beginnings.
func OneOf(texts ...string) *Language { return &Language{trie(texts, end())} }

// Prefix is the set of all strings that begin with one of the given strings.
func Prefix(texts ...string) *Language { return &Language{trie(texts, concat())} }

// Suffix is the set of all strings that end with one of the given strings.
func Suffix(texts ...string) *Language {
	return &Language{concat(star(class(everything())), trie(texts, end()))}
}

// trie matches any of the texts and then last.
func trie(texts []string, last *node) *node {
	sorted := slices.Compact(slices.Sorted(slices.Values(texts)))
	for _, text := range sorted {
		if !utf8.ValidString(text) {
			// No text that is fed contains it; see Feed.
			return trie(slices.DeleteFunc(sorted, func(s string) bool { return !utf8.ValidString(s) }), last)
		}
	}
	return branch(sorted, last)
}

// branch is a trie of sorted texts.
func branch(texts []string, last *node) *node {
	n := &node{op: opAlternate}
	if len(texts) > 0 && texts[0] == "" {
		n.subs = append(n.subs, last)
		texts = texts[1:]
	}
	for len(texts) > 0 {
		common := texts[0]
		r, size := utf8.DecodeRuneInString(common)
		same := 1
		for same < len(texts) && strings.HasPrefix(texts[same], common[:size]) {
			same++
		}
		rest := make([]string, same)
		for i, text := range texts[:same] {
			rest[i] = text[size:]
		}
		n.subs = append(n.subs, join(class(single(r)), branch(rest, last)))
		texts = texts[same:]
	}
	switch len(n.subs) {
	case 0:
		return never()
	case 1:
		return n.subs[0]
	}
	return n
}

// join is one part and then another, without nesting the second.
func join(first, second *node) *node {
	if second.op == opConcat {
		return concat(append([]*node{first}, second.subs...)...)
	}
	return concat(first, second)
}

// Length is the set of all strings of least to most code points; most below 0 is
// no limit.
func Length(least, most int) *Language {
	n := &node{op: opRepeat, subs: []*node{class(everything())}, min: least, max: most}
	if most < 0 {
		n.max = least
		return &Language{concat(n)}
	}
	return &Language{concat(n, end())}
}

// Union is the set of strings that are in any of the languages.
func Union(languages ...*Language) *Language {
	n := &node{op: opAlternate}
	for _, l := range languages {
		if l.root != nil {
			n.subs = append(n.subs, l.root)
		}
	}
	if len(n.subs) == 0 {
		return &Language{}
	}
	return &Language{n}
}

// Intersect is the set of strings that are in all of the languages; without
// languages it is Everything.
func Intersect(languages ...*Language) *Language {
	n := concat()
	for i, l := range languages {
		part := l.tree()
		if i < len(languages)-1 && !isLook(part) {
			part = look(false, false, part)
		}
		n.subs = append(n.subs, part)
	}
	return &Language{n}
}

// isLook reports whether a tree is a lookaround, which reads no text.
func isLook(n *node) bool { return n.op == opLook }

// Complement is the set of all strings that are not in l.
func (l *Language) Complement() *Language {
	n := l.tree()
	if n.op == opLook && n.negative && !n.behind {
		return &Language{n.subs[0]}
	}
	return &Language{look(true, false, n)}
}

// Minus is the set of strings of l that are not in other.
func (l *Language) Minus(other *Language) *Language { return Intersect(other.Complement(), l) }

// Without is the set of strings that are in l once the code points of ignored
// are left out of them (the second form of K21).
func (l *Language) Without(ignored automaton.Set) *Language {
	return l.rewrite(func(n *node) *node {
		switch n.op {
		case opClass, opStart, opEnd, opBoundary, opNotBoundary, opLook:
			n.skip = n.skip.Union(ignored)
		}
		return n
	})
}

// rewrite changes copies of all parts of a tree, inner ones first.
func (l *Language) rewrite(change func(copied *node) *node) *Language {
	if l.root == nil {
		return l
	}
	done := map[*node]*node{}
	var walk func(n *node) *node
	walk = func(n *node) *node {
		if out, ok := done[n]; ok {
			return out
		}
		copied := *n
		copied.subs = slices.Clone(n.subs)
		for i, sub := range copied.subs {
			copied.subs[i] = walk(sub)
		}
		out := change(&copied)
		done[n] = out
		return out
	}
	return &Language{walk(l.root)}
}

// Trimmed is the set of strings that are in l once leading and trailing code
// points of blank are left out (the third form of K21).
//
// A blank is part of the trimmed string where something else was before and
// something else follows. So the tree is rewritten to read a blank only there,
// and its anchors to hold where no code point that can be read is before or next.
func (l *Language) Trimmed(blank automaton.Set) *Language {
	ink := class(blank.Complement())
	any := class(everything())
	inkBefore := look(false, true, concat(ink, star(any), any)) // after a blank
	inkFollows := look(false, false, concat(star(any), ink))
	read := func(s, skip set) *node {
		inner, outer := class(s.Intersect(blank)), class(s.Minus(blank))
		inner.skip, outer.skip = skip, skip
		return alternate(concat(inner, inkBefore, inkFollows), outer)
	}
	inner := l.rewrite(func(n *node) *node {
		switch n.op {
		case opClass:
			return read(n.set, n.skip)
		case opStart, opEnd:
			return trimmedAnchor(n, read)
		case opBoundary, opNotBoundary:
			return trimmedBoundary(n, read)
		}
		return n
	})
	return &Language{concat(star(class(blank)), look(true, false, class(blank)), inner.tree())}
}

// trimmedAnchor is an anchor of a trimmed string; read reads its code points.
func trimmedAnchor(n *node, read func(s, skip set) *node) *node {
	behind := n.op == opStart
	out := look(true, behind, read(everything(), n.skip))
	out.skip = n.skip
	if !n.lines {
		return out
	}
	line := look(false, behind, read(lineEnds(), n.skip))
	line.skip = n.skip
	return alternate(out, line)
}

// trimmedBoundary is \b or \B of a trimmed string.
func trimmedBoundary(n *node, read func(s, skip set) *node) *node {
	test := func(negative, behind bool) *node {
		out := look(negative, behind, read(n.set, n.skip))
		out.skip = n.skip
		return out
	}
	same := n.op == opNotBoundary
	return alternate(concat(test(false, true), test(!same, false)), concat(test(true, true), test(same, false)))
}

// FromNFA is the set of strings that an NFA accepts; it is how other packages
// bring languages of their own, as those of globs and paths.
func FromNFA(n *automaton.NFA) *Language {
	out := &node{op: opStates, max: n.Len()}
	add := func(from, to int, part *node) {
		out.arcs = append(out.arcs, arc{from, to})
		out.subs = append(out.subs, part)
	}
	free, last := concat(), end()
	for s := range n.Len() {
		for set, to := range n.Edges(s) {
			add(s, to, class(set))
		}
		for _, to := range n.Frees(s) {
			add(s, to, free)
		}
		if n.Accepting(s) {
			add(s, n.Len(), last)
		}
	}
	return &Language{out}
}
