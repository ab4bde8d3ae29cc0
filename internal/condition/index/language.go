package index

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// literalsOf returns the literals that a condition compares strings with; ok is false for globs,
// suffixes and patterns.
func literalsOf(m *match.Matcher) (texts []string, prefix, ok bool) {
	switch m.Kind() {
	case condition.Const, condition.Enum:
		return m.Written(), false, true
	case condition.Prefix:
		return m.Written(), true, true
	}
	return nil, false, false
}

// languageOf returns the set of plain strings that satisfy a pattern, glob or suffix. With forms it
// includes the additional forms of a restrictive condition (K21).
func languageOf(m *match.Matcher, forms bool) *regular.Language {
	switch m.Kind() {
	case condition.Pattern:
		if test, ok := m.Test().(*plaintext.PatternText); ok && forms {
			return test.Language
		} else if ok {
			return test.Plain
		}
	case condition.Glob, condition.Suffix:
		n := automaton.New()
		for _, text := range m.Written() {
			_ = plaintext.AddString(n, m.Kind(), text) // compiled before
		}
		if m.Restrictive() && forms {
			n = plaintext.UnderForms(n.Direct())
		}
		return regular.FromNFA(n)
	}
	return nil
}

// stringForms are the additional forms of a plain string that restrictive conditions test (K21).
func stringForms() *literal.Forms {
	return &literal.Forms{Hidden: spelling.ZeroWidth.Contains, Blank: spelling.IsWhite}
}

// disguises reports whether a text has hidden code points, which its additional forms omit.
func disguises(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return strings.ContainsFunc(string(text[i:]), spelling.ZeroWidth.Contains)
		}
	}
	return false
}

// blank reports whether a text begins and whether it ends with a blank.
func blank(text []byte) (first, last bool) {
	f, _ := utf8.DecodeRune(text)
	l, _ := utf8.DecodeLastRune(text)
	return spelling.IsWhite(f), spelling.IsWhite(l)
}

// pointLength returns the number of bytes of the code point that text begins with.
func pointLength(text []byte) int {
	_, size := utf8.DecodeRune(text)
	return size
}
