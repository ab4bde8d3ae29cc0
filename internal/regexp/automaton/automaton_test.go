package automaton_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

func TestSets(t *testing.T) {
	points := rapid.Custom(func(t *rapid.T) map[rune]bool {
		in := map[rune]bool{}
		for _, r := range rapid.SliceOfN(rapid.Int32Range(0, 40), 0, 8).Draw(t, "members") {
			in[r] = true
		}
		return in
	})
	set := func(in map[rune]bool) automaton.Set {
		var bounds []rune
		for r := range in {
			bounds = append(bounds, r, r)
		}
		return automaton.Ranges(bounds...)
	}
	property.Check(t, func(t *rapid.T) {
		a, b := points.Draw(t, "a"), points.Draw(t, "b")
		s, u := set(a), set(b)
		for r := rune(0); r <= 42; r++ {
			for name, got := range map[string][2]bool{
				"contains":   {s.Contains(r), a[r]},
				"complement": {s.Complement().Contains(r), !a[r]},
				"union":      {s.Union(u).Contains(r), a[r] || b[r]},
				"intersect":  {s.Intersect(u).Contains(r), a[r] && b[r]},
				"minus":      {s.Minus(u).Contains(r), a[r] && !b[r]},
			} {
				if got[0] != got[1] {
					t.Fatalf("%s of %v and %v at %d: %v", name, a, b, r, got[0])
				}
			}
		}
		if !slices.Equal(s.Complement().Complement(), s) {
			t.Fatalf("%v is not the complement of its complement", s)
		}
	})
	if !automaton.Any.Complement().Contains(-1) && len(automaton.Any.Complement()) != 0 {
		t.Error("the complement of everything")
	}
}

func TestFolded(t *testing.T) {
	folded := automaton.Ranges('a', 'k', 0xDF, 0xDF).Folded()
	for r, want := range map[rune]bool{'A': true, 'K': true, '\u212A': true, 'L': false, 'b': true, '\u1E9E': true, '\u017F': false} {
		if folded.Contains(r) != want {
			t.Errorf("%c: %v", r, !want)
		}
	}
	upper := automaton.Ranges('S', 'S').Folded()
	if !upper.Contains('s') || !upper.Contains('\u017F') || upper.Contains('t') {
		t.Error("S folds with s and long s")
	}
	for _, sp := range folded {
		for r := sp.Low; r <= sp.High; r++ {
			if !folded.Contains(unicode.SimpleFold(r)) {
				t.Errorf("%c folds to %c", r, unicode.SimpleFold(r))
			}
		}
	}
}

// term is a set of texts as a tree, which is judged by trying everything.
type term struct {
	kind string // text, set, any, choice, sequence
	text string
	set  string
	sub  []term
}

func drawTerm(t *rapid.T, depth int) term {
	kinds := []string{"text", "set", "any"}
	if depth > 0 {
		kinds = append(kinds, "choice", "sequence", "sequence")
	}
	e := term{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch e.kind {
	case "text":
		e.text = rapid.StringMatching(`[ab\x{fc}]{0,2}|[a-h]`).Draw(t, "text")
	case "set", "any":
		e.set = rapid.SampledFrom([]string{"a", "ab", "\u00fc", "a\u00fc", "abc\u00fc", "abcdefgh", "bdefgh\u00fc", "abcdefgh\u00fc"}).Draw(t, "set")
	default:
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			e.sub = append(e.sub, drawTerm(t, depth-1))
		}
	}
	return e
}

func (e term) codePoints() automaton.Set {
	var bounds []rune
	for _, r := range e.set {
		bounds = append(bounds, r, r)
	}
	return automaton.Ranges(bounds...)
}

// build adds the term after a state and returns where it ends.
func (e term) build(n *automaton.NFA, at int) int {
	switch e.kind {
	case "text":
		return n.Text(at, e.text)
	case "set":
		end := n.State()
		n.Edge(at, e.codePoints(), end)
		return end
	case "any":
		return n.Loop(at, e.codePoints())
	case "choice":
		end := n.State()
		for _, s := range e.sub {
			from := n.State()
			n.Free(at, from)
			n.Free(s.build(n, from), end)
		}
		return end
	}
	for _, s := range e.sub {
		at = s.build(n, at)
	}
	return at
}

// ends returns where matches of the term that begin at the start of text end.
func (e term) ends(text string) []int {
	switch e.kind {
	case "text":
		if strings.HasPrefix(text, e.text) {
			return []int{len(e.text)}
		}
		return nil
	case "set":
		if r, n := utf8.DecodeRuneInString(text); n > 0 && strings.ContainsRune(e.set, r) {
			return []int{n}
		}
		return nil
	case "any":
		ends := []int{0}
		for i, r := range text {
			if !strings.ContainsRune(e.set, r) {
				break
			}
			ends = append(ends, i+utf8.RuneLen(r))
		}
		return ends
	case "choice":
		var ends []int
		for _, s := range e.sub {
			ends = append(ends, s.ends(text)...)
		}
		return ends
	}
	ends := []int{0}
	for _, s := range e.sub {
		var next []int
		for _, at := range ends {
			for _, n := range s.ends(text[at:]) {
				next = append(next, at+n)
			}
		}
		slices.Sort(next)
		ends = slices.Compact(next)
	}
	return ends
}

func (e term) accepts(text string) bool { return slices.Contains(e.ends(text), len(text)) }

func (e term) nfa() *automaton.NFA {
	n := automaton.New()
	n.Accept(e.build(n, 0))
	return n
}

// texts are all texts of up to four code points over the alphabet of the terms and
// one code point beside it.
func texts() []string {
	out := []string{""}
	for i := 0; utf8.RuneCountInString(out[i]) < 4; i++ {
		for _, r := range "ab\u00fcd" {
			out = append(out, out[i]+string(r))
		}
	}
	return out
}

// Proves K10. The automaton is the set, and decides where the set is determined.
func TestAgainstTheTree(t *testing.T) {
	all := texts()
	property.Check(t, func(t *rapid.T) {
		e := drawTerm(t, 2)
		n := e.nfa()
		l := n.Compile()
		d := n.Direct()
		for _, text := range all {
			want := e.accepts(text)
			if l.Accepts([]byte(text)) != want || d.Matches(text) != want {
				t.Fatalf("%+v on %q: automaton %v, nfa %v, want %v", e, text, l.Accepts([]byte(text)), d.Matches(text), want)
			}
			dfa := l.DFA()
			state := dfa.First()
			for i := 0; i < len(text); {
				if dfa.Fate(state) != automaton.Open {
					break
				}
				_, size := utf8.DecodeRuneInString(text[i:])
				next, read := dfa.Feed(state, []byte(text[i:i+size]))
				if read != size {
					t.Fatalf("%q: read %d of %d", text, read, size)
				}
				state, i = next, i+size
			}
			if f := dfa.Fate(state); dfa.Accepting(state) != want || f == automaton.Accepts && !want || f == automaton.Rejects && want {
				t.Fatalf("%+v on %q: fate %v, want %v", e, text, f, want)
			}
		}
	})
}

// Proves I25. Inclusion and intersection agree with enumeration.
func TestInclusionAndIntersection(t *testing.T) {
	all := texts()
	property.Check(t, func(t *rapid.T) {
		e, f := drawTerm(t, 2), drawTerm(t, 1)
		short := term{kind: "any", set: "ab"}
		a, b, domain := e.nfa().Compile().DFA(), f.nfa(), short.nfa().Compile().DFA()
		yes, proven := automaton.Included(a, b.Compile().DFA(), nil)
		within, _ := automaton.Included(a, b.Compile().DFA(), domain)
		meets := a.Meets(a.First(), b.Direct())
		if !proven {
			t.Fatal("too large")
		}
		if walked, proven := automaton.NewBound(b.Compile().DFA(), domain).Includes(e.nfa().Direct()); !proven || walked != within {
			t.Fatalf("%+v within %+v over ab: %v without an automaton, not %v", e, f, walked, within)
		}
		prefix := rapid.SampledFrom([]string{"", "a", "b", "ab", "A"}).Draw(t, "prefix")
		from := a.After(a.First(), []byte(prefix))
		if walked := e.nfa().Direct().Meets(prefix, b.Direct(), false); walked != a.Meets(from, b.Direct()) {
			t.Fatalf("%+v behind %q and %+v meet: %v without an automaton", e, prefix, f, walked)
		}
		folded := e.nfa().Compile().DFA()
		folded.FoldASCII()
		if walked := e.nfa().Direct().Meets(prefix, b.Direct(), true); prefix != "A" && walked != folded.Meets(folded.After(folded.First(), []byte(prefix)), b.Direct()) {
			t.Fatalf("%+v behind %q and %+v meet folded: %v without an automaton", e, prefix, f, walked)
		}
		for _, text := range all {
			if yes && e.accepts(text) && !f.accepts(text) {
				t.Fatalf("%+v is said to be included in %+v; %q is not", e, f, text)
			}
			if within && e.accepts(text) && short.accepts(text) && !f.accepts(text) {
				t.Fatalf("%+v is said to be included in %+v over ab; %q is not", e, f, text)
			}
			if !meets && e.accepts(text) && f.accepts(text) {
				t.Fatalf("%+v and %+v are said to be disjoint; %q is in both", e, f, text)
			}
		}
		if self, _ := automaton.Included(a, a, nil); !self {
			t.Fatal("a set is not included in itself")
		}
		if yes && !within {
			t.Fatal("included, but not within a domain")
		}
	})
	three := term{kind: "text", text: "abc"}.nfa().Compile().DFA()
	if yes, _ := automaton.Included(three, term{kind: "text", text: "abd"}.nfa().Compile().DFA(), nil); yes {
		t.Error("abc is no subset of abd")
	}
	if three.Meets(three.First(), term{kind: "text", text: "abd"}.nfa().Direct()) {
		t.Error("abc and abd are disjoint")
	}
}

// A large automaton steps without its table, with the same answers.
func TestLargeAutomaton(t *testing.T) {
	n := automaton.New()
	var words []string
	for i := range 4000 {
		words = append(words, strings.Repeat(string(rune(0x4E00+i%50)), 3)+strings.Repeat("x", i%7)+string(rune(0x5E00+i)))
		n.Accept(n.Text(0, words[i]))
	}
	l := n.Compile()
	if l.DFA() == nil {
		t.Fatal("literals are never too many")
	}
	for _, w := range words {
		if !l.Accepts([]byte(w)) || l.Accepts([]byte(w+"x")) || l.Accepts([]byte(w[:len(w)-3])) {
			t.Fatalf("%q", w)
		}
	}
	state, read := l.DFA().Feed(l.DFA().First(), []byte("\u4e00a...."))
	if l.DFA().Fate(state) != automaton.Rejects || read != 4 {
		t.Errorf("rejected after %d bytes", read)
	}
	if state, read = l.DFA().Feed(l.DFA().First(), []byte(words[0][:3])); l.DFA().Fate(state) != automaton.Open || read != 3 {
		t.Errorf("open after %d bytes", read)
	}
}

// What no automaton holds is judged by its NFA.
func TestTooLarge(t *testing.T) {
	n := automaton.New()
	at := n.Text(n.Loop(0, automaton.Any), "a")
	for range 17 {
		next := n.State()
		n.Edge(at, automaton.Any, next)
		at = next
	}
	n.Accept(at)
	l := n.Compile()
	if l.DFA() != nil {
		t.Fatal("two to the seventeenth states")
	}
	if !l.Accepts([]byte("ba"+strings.Repeat("c", 17))) || l.Accepts([]byte("a"+strings.Repeat("c", 18))) {
		t.Error("the answers differ")
	}
	many := automaton.New()
	for r := rune(0); r < 70000; r++ {
		if r < 0xD800 || r >= 0xE000 {
			many.Accept(many.Text(0, string(r)))
		}
	}
	if l = many.Compile(); l.DFA() != nil || !l.Accepts([]byte("\U00010010")) || l.Accepts(nil) {
		t.Error("more code points than classes")
	}
}

func TestEdges(t *testing.T) {
	n := automaton.New()
	end := n.Text(0, "ab")
	n.Edge(0, nil, end)
	n.Edge(0, automaton.Any, end)
	n.Accept(end)
	if n.Len() != 3 || !n.Accepting(end) || n.Accepting(0) {
		t.Errorf("%d states", n.Len())
	}
	var seen []int
	for set, to := range n.Edges(0) {
		if seen = append(seen, to); set.Contains('b') {
			break
		}
	}
	if !slices.Equal(seen, []int{1, 2}) {
		t.Errorf("edges to %v", seen)
	}
	for range n.Edges(0) {
		break
	}
}

func TestFoldASCII(t *testing.T) {
	dfa := term{kind: "text", text: "ab\u00fc"}.nfa().Compile().DFA()
	dfa.FoldASCII()
	for text, want := range map[string]bool{"AB\u00fc": true, "aB\u00fc": true, "ab\u00dc": false} {
		if got := dfa.Accepting(dfa.After(dfa.First(), []byte(text))); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkFeed(b *testing.B) {
	n := automaton.New()
	at := n.Text(n.Loop(0, automaton.Any), "rm -rf")
	n.Accept(n.Loop(at, automaton.Any))
	dfa := n.Compile().DFA()
	text := []byte(strings.Repeat("if err != nil { return err }\n", 100))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dfa.Feed(dfa.First(), text)
	}
}
