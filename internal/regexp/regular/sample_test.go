package regular_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// Proves D25-38: what a pattern spells out, and a text in which it is found.
func TestLiteralsAndSamples(t *testing.T) {
	for _, c := range []struct{ pattern, literal, sample string }{
		{`^pkg7/[a-z]+_test\.go$`, "_test.go", "pkg7/x_test.go"},
		{`\.ext12$`, ".ext12", ".ext12"},
		{`(^|/)v14/`, "v14/", "v14/"},
		{`a(bc){2}d`, "bc", "abcbcd"},
		{`a\b(?=x)b`, "ab", "ab"},
		{`(?i:abc)`, "", "abc"},
		{`abc|abcd`, "", "abc"},
		{`x*`, "", ""},
		{`[0-9]{3}`, "", "000"},
		{`[é-ü]\u{1F600}`, "😀", "é😀"},
		{`a[]b`, "a", "ab"},
	} {
		p, err := regular.Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Literal() != c.literal || p.Sample() != c.sample {
			t.Errorf("%s: %q, %q, want %q, %q", c.pattern, p.Literal(), p.Sample(), c.literal, c.sample)
		}
	}
}

// Proves D25-38: every text in which a pattern is found has the pattern's literal in it, and
// the automaton that analysis walks says what the other one says.
func TestLiteralsAreInEveryMatch(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "ab", "[ab]", "(?:a|bb)", "(?:ab)*", "(?:ab)+", "a{2}", "b?", "(?=a)", "(?!b)", "(?<=a)", `\b`, "^", "$", ".", "(?:abb|ab)", "(?:ba|b(?:a|ab))", "|"})
	property.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "parts"), "")
		text := []byte(rapid.StringOfN(rapid.RuneFrom([]rune("ab ")), 0, 12, -1).Draw(t, "text"))
		p, err := regular.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		a := p.Automaton() // which does not know the literal
		s := a.Start()
		a.Feed(&s, text)
		found := a.Accepts(&s, 0)
		if found && !bytes.Contains(text, []byte(p.Literal())) {
			t.Fatalf("%s is found in %q, which lacks %q", source, text, p.Literal())
		}
		if p.Match(text) != found {
			t.Fatalf("%s in %q: %t, and matched %t", source, text, found, !found)
		}
		if p.Walker(); p.Match(text) != found {
			t.Fatalf("%s in %q: %t, and walked %t", source, text, found, !found)
		}
	})
}

// A literal with U+FFFD is found in bytes that are not UTF-8.
func TestReplacementCharacters(t *testing.T) {
	p, err := regular.Compile("a\uFFFDb")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"a\xffb": true, "a\uFFFDb": true, "ab": false} {
		if p.Match([]byte(text)) != want {
			t.Errorf("%q: not %t", text, want)
		}
	}
}
