package naive

import (
	"math/big"
	"strings"
)

// number reads a JSON number's literal exactly. Only literals with small
// exponents reach it.
func number(literal string) *big.Rat {
	r, ok := new(big.Rat).SetString(literal)
	if !ok {
		panic("not a number: " + literal)
	}
	return r
}

// equal compares two values as JSON Schema does: numbers mathematically, objects
// without order.
func equal(a, b *Node) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Number:
		return number(a.Text).Cmp(number(b.Text)) == 0
	case Array:
		if len(a.Elems) != len(b.Elems) {
			return false
		}
		for i := range a.Elems {
			if !equal(a.Elems[i], b.Elems[i]) {
				return false
			}
		}
		return true
	case Object:
		if len(a.Members) != len(b.Members) {
			return false
		}
		for _, m := range a.Members {
			if other := b.Get(m.Key); other == nil || !equal(m.Value, other) {
				return false
			}
		}
		return true
	}
	return a.Text == b.Text
}

// compares reports whether a number satisfies a range condition.
func compares(kind string, value, bound string) bool {
	c := number(value).Cmp(number(bound))
	switch kind {
	case "minimum":
		return c >= 0
	case "maximum":
		return c <= 0
	case "exclusive_minimum":
		return c > 0
	}
	return c < 0
}

func isInteger(literal string) bool { return number(literal).IsInt() }

func hasType(n *Node, t string) bool {
	if t == "integer" {
		return n.Kind == Number && isInteger(n.Text)
	}
	return n.Kind == t
}

// Valid judges a value by a schema.
func Valid(n *Node, s *Schema) bool {
	if s == nil {
		return true
	}
	if len(s.AnyOf) > 0 {
		for _, b := range s.AnyOf {
			if Valid(n, b) {
				return true
			}
		}
		return false
	}
	typed := len(s.Types) == 0
	for _, t := range s.Types {
		typed = typed || hasType(n, t)
	}
	if !typed || !allowed(n, s) {
		return false
	}
	for _, e := range n.Elems {
		if !Valid(e, s.Items) {
			return false
		}
	}
	return n.Kind != Object || validObject(n, s)
}

func allowed(n *Node, s *Schema) bool {
	if n.Kind == Number && s.Minimum != "" && number(n.Text).Cmp(number(s.Minimum)) < 0 {
		return false
	}
	if n.Kind == String && s.MaxLength > 0 && len([]rune(n.Text)) > s.MaxLength {
		return false
	}
	if n.Kind == Array && len(n.Elems) < s.MinItems {
		return false
	}
	for _, e := range s.Enum {
		if equal(n, e) {
			return true
		}
	}
	return len(s.Enum) == 0
}

func validObject(n *Node, s *Schema) bool {
	for _, p := range s.Props {
		found := n.Get(p.Name) != nil
		for _, a := range p.Aliases {
			found = found || n.Get(a) != nil
		}
		if p.Required && !found {
			return false
		}
	}
	for _, m := range n.Members {
		switch p := s.property(m.Key); {
		case p != nil:
			if !Valid(m.Value, p.Schema) {
				return false
			}
		case s.Extra != nil:
			if !Valid(m.Value, s.Extra) {
				return false
			}
		case s.Closed:
			return false
		}
	}
	return true
}

// fold maps a key to what other readers may take it for: without characters
// below the space, DEL and zero-width ones, compatibility-normalised, one case.
func fold(key string) string { return foldCase(compose(strip(key))) }

func isControl(c rune) bool { return c < 0x20 || 0x7f <= c && c < 0xa0 }

func hasControl(annotation, text string) (rune, bool) {
	for _, c := range text {
		if isControl(c) && !(annotation == "command" && (c == '\t' || c == '\n')) {
			return c, true
		}
	}
	return 0, false
}

// zero-width and direction characters of K21.
func isZeroWidth(c rune) bool {
	return 0x200b <= c && c <= 0x200f || 0x2060 <= c && c <= 0x2064 || c == 0xfeff || c == 0xad || c == 0x180e ||
		0x202a <= c && c <= 0x202e || 0x2066 <= c && c <= 0x2069
}

func strip(s string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f || isZeroWidth(c) {
			return -1
		}
		return c
	}, s)
}
