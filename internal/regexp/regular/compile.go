package regular

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// Bounds of a pattern. They hold for the patterns of servers too.
const (
	maxLength  = 1 << 16 // bytes of the pattern
	maxNesting = 200     // groups in groups
	maxSize    = 10_000  // nodes with the repetitions written out (K48)
	maxSpans   = 20_000  // ranges in all character classes
)

// compile reads a pattern and finds out whether it can be run.
func compile(pattern string) (*Pattern, *SyntaxError) {
	if len(pattern) > maxLength {
		return nil, unsupported(maxLength, "the pattern is longer than "+strconv.Itoa(maxLength)+" bytes", "")
	}
	if !utf8.ValidString(pattern) {
		return nil, &SyntaxError{Offset: invalidAt(pattern), Message: "the pattern is not UTF-8"}
	}
	root, modified, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	if n := root.find(func(n *node) bool { return n.op == opBackreference }); n != nil {
		return nil, unsupported(n.at, "backreferences are not supported", "list the values with enum, or write several rules")
	}
	size, spans := root.size()
	if size > maxSize || spans > maxSpans {
		at, hint := root.largest()
		return nil, unsupported(at, "the pattern is too large with its repetitions written out", hint)
	}
	p := &Pattern{
		source:   pattern,
		root:     root,
		size:     size,
		anchored: root.anchored(opStart) && root.anchored(opEnd),
		modified: modified,
		negative: root.find(func(n *node) bool { return n.op == opLook && n.negative }) != nil,
	}
	p.anyOf = p.needles()
	return p, nil
}

func unsupported(at int, message, hint string) *SyntaxError {
	return &SyntaxError{Offset: at, Message: message, Hint: hint, Unsupported: true}
}

// invalidAt returns the first byte of a string that is not UTF-8.
func invalidAt(s string) int {
	for i := 0; ; {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}

// find returns the first part, in the order of the pattern, that is asked for.
func (n *node) find(wanted func(*node) bool) *node {
	if wanted(n) {
		return n
	}
	for _, sub := range n.subs {
		if found := sub.find(wanted); found != nil {
			return found
		}
	}
	return nil
}

// largest returns the offset of the repetition that makes a tree largest, and a hint
// for its author.
func (n *node) largest() (at int, hint string) {
	most := n.find(func(n *node) bool {
		size, _ := n.size()
		return n.op == opRepeat && size > maxSize
	})
	if most == nil {
		return 0, ""
	}
	return most.at, "use * or +, and max_length for the length"
}

// size returns how many nodes the tree has with its repetitions written out, and
// how many ranges its classes have. Both stop growing far above their bounds.
func (n *node) size() (nodes, spans int) {
	nodes, spans = 1, len(n.set)
	for _, sub := range n.subs {
		subNodes, subSpans := sub.size()
		nodes, spans = nodes+subNodes, spans+subSpans
	}
	if n.op == opRepeat {
		times := n.max
		if times == unlimited {
			times = max(n.min, 1)
		}
		if n.subs[0].empty() {
			times = 1
		}
		nodes *= max(times, 1)
	}
	return min(nodes, 1<<30), spans
}

// consumes reports whether a part reads at least one character.
func (n *node) consumes() bool {
	switch n.op {
	case opClass:
		return true
	case opRepeat:
		return n.min > 0 && n.subs[0].consumes()
	case opConcat, opGroup:
		return slices.ContainsFunc(n.subs, (*node).consumes)
	case opAlternate:
		return !slices.ContainsFunc(n.subs, func(sub *node) bool { return !sub.consumes() })
	}
	return false
}

// empty reports whether a part reads no text. Repeating it has no effect.
func (n *node) empty() bool {
	switch n.op {
	case opClass:
		return false
	case opStart, opEnd, opBoundary, opNotBoundary, opLook:
		return true
	}
	for _, sub := range n.subs {
		if !sub.empty() {
			return false
		}
	}
	return true
}
