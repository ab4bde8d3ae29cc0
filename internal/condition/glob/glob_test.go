package glob_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// Proves K0b, G2.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
		prefix     string
		exact      bool
	}{
		{"github__*", "github__create_issue", true, "github__", false},
		{"github__*", "Github__create", false, "github__", false},
		{"vfs_*", "Vfs_write", false, "vfs_", false},
		{"read_file", "read_file", true, "read_file", true},
		{"read_file", "read_file2", false, "read_file", true},
		{"*", "anything", true, "", false},
		{"{read,recall}_file", "recall_file", true, "re", false},
		{"fs_{read}", "fs_read", true, "fs_read", true},
		{"a?c", "abc", true, "a", false},
		{"a*", "a/b", false, "a", false},
		{"", "", true, "", true},
	} {
		n, err := glob.ParseName(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		prefix, exact := n.LiteralPrefix()
		if got := n.Match(c.name); got != c.want || prefix != c.prefix || exact != c.exact || n.String() != c.glob {
			t.Errorf("%q on %q: %v, prefix %q, exact %v", c.glob, c.name, got, prefix, exact)
		}
	}
	if _, err := glob.ParseName("a["); err == nil || err.Error() != "glob: an opening bracket without a closing one (at byte 1)" {
		t.Errorf("got %v", err)
	}
}

// Proves K18: tokens and automata, which are implemented separately, match the same texts, and
// braces match the same texts as their written-out alternatives.
func TestTokensAgreeWithTheAutomaton(t *testing.T) {
	alphabet := []rune("aAb/.é*?[]{},!\\")
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 8, -1).Draw(t, "glob")
		lists, err := glob.Parse(text, false)
		if err != nil {
			if err.Offset < 0 || err.Offset > len(text) || err.Message == "" {
				t.Fatalf("%q: %+v", text, err)
			}
			return
		}
		n := automaton.New()
		for _, tokens := range lists {
			n.Accept(glob.Add(n, 0, tokens, automaton.Any, nil))
		}
		language := n.Compile()
		for range 8 {
			value := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 6, -1).Draw(t, "value")
			if got, want := glob.MatchAny(lists, []byte(value)), language.Accepts([]byte(value)); got != want {
				t.Fatalf("%q on %q: tokens %v, automaton %v", text, value, got, want)
			}
		}
	})
}

// Proves K18: the rune for the root is not part of a component.
func TestComponent(t *testing.T) {
	for _, r := range []rune{'/', glob.Root} {
		if glob.Component.Contains(r) || !utf8.ValidRune(r) {
			t.Errorf("%q", r)
		}
	}
	lists, err := glob.Parse("[!a]", true)
	if err != nil {
		t.Fatal(err)
	}
	if glob.MatchAny(lists, []byte("/")) || glob.MatchAny(lists, []byte(string(glob.Root))) || !glob.MatchAny(lists, []byte("b")) {
		t.Error("a class takes what separates")
	}
}
