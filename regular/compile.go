package regular

import (
	"regexp"
	"strconv"
	"unicode/utf8"
)

// Bounds of a pattern. They hold for the patterns of servers too.
const (
	maxLength  = 1 << 16 // bytes of the pattern
	maxNesting = 200     // groups in groups
	maxCount   = 1000    // of a repetition, nested ones multiplied
	maxSize    = 10_000  // nodes with the repetitions written out (K48)
	maxSpans   = 20_000  // ranges in all character classes
)

// compile prepares a pattern for the linear-time engine of package regexp.
func compile(pattern string) (*Pattern, *SyntaxError) {
	if len(pattern) > maxLength {
		return nil, unsupported(maxLength, "the pattern is longer than "+strconv.Itoa(maxLength)+" bytes", "")
	}
	if !utf8.ValidString(pattern) {
		return nil, &SyntaxError{Offset: invalidAt(pattern), Message: "the pattern is not UTF-8"}
	}
	root, err := parse(pattern)
	if err != nil {
		return nil, err
	}
	if err := root.refuse(); err != nil {
		return nil, err
	}
	if err := root.refuseCounts(maxCount); err != nil {
		return nil, err
	}
	size, spans := root.size()
	if size > maxSize || spans > maxSpans {
		return nil, unsupported(0, "the pattern is too large with its repetitions written out", "use smaller counts")
	}
	re, compileErr := regexp.Compile(string(root.append(nil)))
	if compileErr != nil {
		// No test reaches this: the bounds above are inside those of the engine.
		// Should it refuse all the same, the pattern is refused.
		return nil, unsupported(0, "the pattern is too large", "")
	}
	return &Pattern{
		source:   pattern,
		engine:   re,
		size:     size,
		anchored: root.anchored(opStart) && root.anchored(opEnd),
	}, nil
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

// refuse finds the first construct that no automaton runs in linear time or that
// would hide from a reader what the pattern matches (D3, D8, K49, K52).
func (n *node) refuse() *SyntaxError {
	switch {
	case n.op == opBackreference:
		return unsupported(n.at, "backreferences are not supported", "list the values with enum, or write several rules")
	case n.op == opLook && n.negative:
		return unsupported(n.at, "negative lookaround is not supported", "describe what is allowed, or put a restrictive rule above")
	case n.op == opLook:
		return unsupported(n.at, "lookaround is not supported", "write all conditions on one value as members of `all`")
	case n.modifiers:
		return unsupported(n.at, "inline modifiers are not supported", "write the characters as a class: [Aa]")
	}
	for _, sub := range n.subs {
		if err := sub.refuse(); err != nil {
			return err
		}
	}
	return nil
}

// refuseCounts refuses a repetition whose count, multiplied with those around
// it, is above the limit of the engine; left is what those around it leave.
func (n *node) refuseCounts(left int) *SyntaxError {
	if n.op == opRepeat {
		count := max(n.min, n.max)
		if count > left {
			return unsupported(n.at, "counts above "+strconv.Itoa(maxCount)+" are not supported, nested ones multiplied",
				"use * or +, and max_length for the length")
		}
		if count > 1 {
			left /= count
		}
	}
	for _, sub := range n.subs {
		if err := sub.refuseCounts(left); err != nil {
			return err
		}
	}
	return nil
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
			times = n.min + 1
		}
		nodes *= max(times, 1)
	}
	return min(nodes, 1<<30), spans
}

// append writes the tree as an expression of package regexp that means the same:
// every class as its ranges, no flags, no classes of that dialect.
func (n *node) append(dst []byte) []byte {
	switch n.op {
	case opClass:
		return appendSet(dst, n.set)
	case opStart:
		return append(dst, `\A`...)
	case opEnd:
		return append(dst, `\z`...)
	case opBoundary:
		return append(dst, `\b`...) // ASCII words in both languages
	case opNotBoundary:
		return append(dst, `\B`...)
	case opConcat:
		for _, sub := range n.subs {
			dst = sub.append(dst)
		}
		return dst
	}
	dst = append(dst, "(?:"...)
	for i, sub := range n.subs {
		if i > 0 {
			dst = append(dst, '|')
		}
		dst = sub.append(dst)
	}
	dst = append(dst, ')')
	if n.op == opRepeat {
		dst = append(dst, '{')
		dst = strconv.AppendInt(dst, int64(n.min), 10)
		dst = append(dst, ',')
		if n.max != unlimited {
			dst = strconv.AppendInt(dst, int64(n.max), 10)
		}
		dst = append(dst, '}')
	}
	return dst
}

func appendSet(dst []byte, s set) []byte {
	if len(s) == 1 && s[0].lo == s[0].hi {
		return appendRune(dst, s[0].lo)
	}
	if len(s) == 0 {
		dst = append(dst, "[^"...)
		s = everything()
	} else {
		dst = append(dst, '[')
	}
	for _, r := range s {
		dst = appendRune(dst, r.lo)
		if r.lo < r.hi {
			dst = append(dst, '-')
			dst = appendRune(dst, r.hi)
		}
	}
	return append(dst, ']')
}

func appendRune(dst []byte, r rune) []byte {
	if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
		return append(dst, byte(r))
	}
	dst = append(dst, `\x{`...)
	dst = strconv.AppendInt(dst, int64(r), 16)
	return append(dst, '}')
}
