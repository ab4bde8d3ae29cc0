package regular_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/stopgate/stopgate/internal/regexp/ucd"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// younger reports whether a code point is one that the standard library's version of
// Unicode, which regexp2 goes by, has not assigned or folds otherwise.
func younger(r rune) bool {
	return unicode.Is(unicode.Categories["Cn"], r) || ucd.Fold(r) != unicode.SimpleFold(r)
}

// agreesWithBacktracker compares one verdict with regexp2 in its ECMAScript mode.
func agreesWithBacktracker(t interface{ Fatalf(string, ...any) }, p *regular.Pattern, text string) {
	oracle, err := regexp2.Compile(p.String(), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return // it does not know the pattern: nothing to compare
	}
	if strings.ContainsFunc(text, younger) {
		return
	}
	oracle.MatchTimeout = time.Second
	want, err := oracle.MatchString(text)
	if err != nil {
		return
	}
	if got := p.Match([]byte(text)); got != want {
		t.Fatalf("%q on %q: got %v, regexp2 says %v", p, text, got, want)
	}
}

// Proves D4, Q9: what is accepted means the same to an independent engine.
func TestMatchesLikeBacktracker(t *testing.T) {
	generatedPatterns, generatedTexts := patterns(), texts()
	property.Check(t, func(t *rapid.T) {
		p, err := regular.Compile(generatedPatterns.Draw(t, "pattern"))
		if err != nil {
			return
		}
		for range 5 {
			agreesWithBacktracker(t, p, generatedTexts.Draw(t, "text"))
		}
	})
}

// Proves D1: a pattern anchored at both ends finds nothing new when more text
// stands around a text, a pattern of one alternative that is not does so for some.
func TestAnchoredSpansText(t *testing.T) {
	generatedPatterns, generatedTexts := patterns(), texts()
	property.Check(t, func(t *rapid.T) {
		p, err := regular.Compile(generatedPatterns.Draw(t, "pattern"))
		if err != nil || !p.AnchoredBothEnds() {
			return
		}
		whole, err := regular.Compile("^(?:" + p.String() + ")$")
		if err != nil {
			t.Fatalf("%q does not stand in a group: %v", p, err)
		}
		text := generatedTexts.Draw(t, "text")
		if p.Match([]byte(text)) != whole.Match([]byte(text)) {
			t.Fatalf("%q matches only a part of %q", p, text)
		}
	})
}

// FuzzPattern feeds any pattern and text: an error is a place in the pattern, and
// a verdict is that of the other engine.
func FuzzPattern(f *testing.F) {
	for _, test := range matching {
		for _, text := range append(test.yes, test.no...) {
			f.Add(test.pattern, text)
		}
	}
	for _, test := range refused {
		f.Add(test.pattern, "a")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := regular.Compile(pattern)
		if err != nil {
			var syntax *regular.SyntaxError
			if !errors.As(err, &syntax) || syntax.Message == "" || syntax.Offset < 0 || syntax.Offset > len(pattern) {
				t.Fatalf("Compile(%q): %#v", pattern, err)
			}
			return
		}
		p.Match([]byte(text))
		if !utf8.ValidString(text) || len(text) > 100 || len(pattern) > 200 {
			return
		}
		agreesWithBacktracker(t, p, text)
	})
}
