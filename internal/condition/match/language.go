package match

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Literals returns the literals of a condition on strings, for an index of many conditions. ok is
// false for globs, suffixes and patterns.
func (m *Matcher) Literals() (texts []string, prefix, ok bool) {
	switch m.kind {
	case condition.Const, condition.Enum:
		return m.written, false, true
	case condition.Prefix:
		return m.written, true, true
	}
	return m.written, false, false
}

// Language returns the set of plain strings that satisfy a condition, for an index that runs many
// conditions as one automaton. With forms it includes the additional forms of a restrictive
// condition (K21). ok is false if the condition has no language.
func (m *Matcher) Language(forms bool) (l *regular.Language, ok bool) {
	if m.annotation != schema.None {
		return nil, false
	}
	switch m.kind {
	case condition.Pattern:
		if test, ok := m.text.(*plaintext.PatternText); ok && forms {
			return test.Language, true
		} else if ok {
			return test.Plain, true
		}
	case condition.Glob, condition.Suffix:
		n, err := plaintext.StringLanguage(condition.Spec{Kind: m.kind, Values: m.literals()})
		if err != nil {
			return nil, false // unreachable: it compiled
		}
		if m.restrictive && forms {
			n = plaintext.UnderForms(n.Direct())
		}
		return regular.FromNFA(n), true
	}
	return nil, false
}

// StringForms are the additional forms of a plain string that restrictive conditions test (K21).
func StringForms() *literal.Forms {
	return &literal.Forms{Hidden: spelling.ZeroWidth.Contains, Blank: spelling.IsWhite}
}

// Forms returns the additional forms of a string that restrictive conditions test (K21).
func Forms(text []byte) []string { return spelling.Forms(string(text)) }

// Disguises reports whether a text has hidden code points, which its additional forms omit.
func Disguises(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return strings.ContainsFunc(string(text[i:]), spelling.ZeroWidth.Contains)
		}
	}
	return false
}

// Blank reports whether a text begins and whether it ends with a blank.
func Blank(text []byte) (first, last bool) {
	f, _ := utf8.DecodeRune(text)
	l, _ := utf8.DecodeLastRune(text)
	return spelling.IsWhite(f), spelling.IsWhite(l)
}

func (m *Matcher) literals() (all []condition.Literal) {
	for _, text := range m.written {
		all = append(all, condition.Literal{Kind: condition.LiteralString, Text: text})
	}
	return all
}
