package regular_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// known is a language beside a function that says what is in it.
type known struct {
	*regular.Language
	name string
	has  func(string) bool
}

const small = "ab " // the alphabet of all strings that are tried

// strings of up to length code points over the small alphabet, shortest first.
func all(length int) []string {
	out := []string{""}
	for from := 0; length > 0; length-- {
		for to := len(out); from < to; from++ {
			for _, c := range small {
				out = append(out, out[from]+string(c))
			}
		}
	}
	return out
}

// drawKnown draws a language that is made of others.
func drawKnown(t *rapid.T, depth int) known {
	word := func() string { return rapid.StringOfN(rapid.RuneFrom([]rune(small)), 0, 3, -1).Draw(t, "word") }
	kinds := []string{"literal", "prefix", "suffix", "pattern", "length"}
	if depth > 0 {
		kinds = append(kinds, "union", "intersection", "complement", "difference", "without", "trimmed")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "literal":
		a, b := word(), word()
		return known{regular.OneOf(a, b), "{" + a + "," + b + "}", func(s string) bool { return s == a || s == b }}
	case "prefix":
		a, b := word(), word()
		return known{regular.Prefix(a, b), a + "~," + b + "~", func(s string) bool { return strings.HasPrefix(s, a) || strings.HasPrefix(s, b) }}
	case "suffix":
		a := word()
		return known{regular.Suffix(a), "~" + a, func(s string) bool { return strings.HasSuffix(s, a) }}
	case "length":
		least := rapid.IntRange(0, 3).Draw(t, "least")
		most := rapid.IntRange(-1, 4).Draw(t, "most")
		if most >= 0 {
			most = max(most, least)
		}
		return known{regular.Length(least, most), "length", func(s string) bool { return len(s) >= least && (most < 0 || len(s) <= most) }}
	case "pattern":
		pattern := rapid.SampledFrom([]string{`^a*$`, `^(?:ab)+$`, `b`, `^a|b$`, `^[^a]+$`, `\bb`, `^(?:a|b){2,3}$`, `^(?:\s|a*b)*$`, `\B`, `^[ab]* ?b`}).Draw(t, "pattern")
		p, err := regular.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return known{p.Language(), "/" + pattern + "/", regexp.MustCompile(pattern).MatchString}
	case "complement":
		a := drawKnown(t, depth-1)
		return known{a.Complement(), "!" + a.name, func(s string) bool { return !a.has(s) }}
	case "without":
		a := drawKnown(t, depth-1)
		return known{a.Without(automaton.Single('b')), "-b(" + a.name + ")", func(s string) bool { return a.has(strings.ReplaceAll(s, "b", "")) }}
	case "trimmed":
		a := drawKnown(t, depth-1)
		return known{a.Trimmed(automaton.Single(' ')), "trim(" + a.name + ")", func(s string) bool { return a.has(strings.Trim(s, " ")) }}
	default:
		a, b := drawKnown(t, depth-1), drawKnown(t, depth-1)
		name := "(" + a.name + " " + kind + " " + b.name + ")"
		switch kind {
		case "union":
			return known{regular.Union(a.Language, b.Language), name, func(s string) bool { return a.has(s) || b.has(s) }}
		case "intersection":
			return known{regular.Intersect(a.Language, b.Language), name, func(s string) bool { return a.has(s) && b.has(s) }}
		}
		return known{a.Minus(b.Language), name, func(s string) bool { return a.has(s) && !b.has(s) }}
	}
}

// Proves the algebra of languages against all short strings of a small alphabet:
// membership in every combination, and that emptiness, inclusion, equality and the
// shortest witness are never wrong.
func TestAlgebraAgainstAllStrings(t *testing.T) {
	length := 5
	if os.Getenv("STOPGATE_LONG") != "" {
		length = 7
	}
	strings := all(length)
	property.Check(t, func(t *rapid.T) {
		a, b := drawKnown(t, 3), drawKnown(t, 2)
		join := regular.Join(a.Language, b.Language)
		shortest, onlyB, differ := -1, -1, -1
		for _, s := range strings {
			at := join.Start()
			for text := []byte(s); len(text) > 0; {
				n, _ := join.Feed(&at, text)
				text = text[n:]
			}
			inA, inB := a.has(s), b.has(s)
			if join.Accepts(&at, 0) != inA || join.Accepts(&at, 1) != inB {
				t.Fatalf("%q in %s: %v, in %s: %v", s, a.name, inA, b.name, inB)
			}
			note := func(first *int, found bool) {
				if found && *first < 0 {
					*first = len(s)
				}
			}
			note(&shortest, inA)
			note(&onlyB, inB && !inA)
			note(&differ, inA != inB)
		}
		witness, found := a.Witness(regular.DefaultBudget)
		check(t, "witness of "+a.name, witness, found, regular.Yes, shortest, length)
		includes, counter := a.Includes(b.Language, regular.DefaultBudget)
		check(t, a.name+" includes "+b.name, counter, includes, regular.No, onlyB, length)
		equal, difference := a.Equal(b.Language, regular.DefaultBudget)
		check(t, a.name+" equals "+b.name, difference, equal, regular.No, differ, length)
		if found == regular.Yes && !a.Contains(witness) {
			t.Fatalf("%q is no member of %s", witness, a.name)
		}
		if includes == regular.No && (a.Contains(counter) || !b.Contains(counter)) {
			t.Fatalf("%q is no counterexample of %s in %s", counter, b.name, a.name)
		}
	})
}

// check compares an answer with the length of the shortest example among the short
// strings, -1 if there is none: there is one exactly if the answer is exists, and
// it is the shortest unless other characters give a shorter one.
func check(t *rapid.T, what, example string, got, exists regular.Answer, shortest, length int) {
	t.Helper()
	size := len([]rune(example))
	switch {
	case got == regular.NotProven:
		t.Fatalf("%s: not proven", what)
	case shortest >= 0 && (got != exists || size > shortest):
		t.Fatalf("%s: %v with %q, there is an example of length %d", what, got, example, shortest)
	case shortest < 0 && got == exists && size <= length && strings.Trim(example, small) == "":
		t.Fatalf("%s: %v with %q, which is none", what, got, example)
	}
}

// Proves that a question larger than its budget is not answered, and that the
// witness is a string that a person can read.
func TestAnswers(t *testing.T) {
	long := compiled(t, `^[ab]*a[ab]{12}$`).Language()
	if yes, _ := long.Complement().Includes(long, 1<<15); yes != regular.No {
		t.Errorf("a counterexample within the budget: %v", yes)
	}
	if yes, _ := long.Includes(long, 100); yes != regular.NotProven || yes.String() != "not proven" {
		t.Errorf("beyond the budget: %v", yes)
	}
	if yes, _ := long.Includes(long, 1<<20); yes != regular.Yes || yes.String() != "yes" {
		t.Errorf("within the budget: %v", yes)
	}
	for pattern, want := range map[string]string{
		`^.{3}$`: "aaa", `^\d+x`: "0x", `^[^\w]$`: "-", `^\s$`: " ", `^\S+@\S+$`: "a@a", `^[\u{1F600}-\u{1F64F}]$`: "\U0001F600", `^git (?!status)[a-z]+$`: "git a", `[^\x00-\u{10FFFF}]|q`: "q",
	} {
		if got, found := compiled(t, pattern).Language().Witness(1000); got != want || found != regular.Yes {
			t.Errorf("%s: %q %v, want %q", pattern, got, found, want)
		}
	}
	for name, l := range map[string]*regular.Language{
		"zero": {}, "no literal": regular.OneOf(), "no union": regular.Union(), "half a pair": compiled(t, `\ud800`).Language(),
		"contradiction": compiled(t, `^(?=a)b`).Language(), "not everything": regular.Everything().Complement(), "not UTF-8": regular.OneOf("a\xff"),
	} {
		if l.Empty(1000) != regular.Yes || l.Empty(1000).String() != "yes" || l.Contains("a") {
			t.Errorf("%s is not empty", name)
		}
	}
	if regular.Intersect().Empty(10) != regular.No || regular.No.String() != "no" || !regular.Everything().Contains("\n") {
		t.Error("everything is empty")
	}
	if e, _ := compiled(t, `^[a-m]`).Language().Equal(compiled(t, `^[a-m][^]*$`).Language(), 1000); e != regular.Yes {
		t.Errorf("equal: %v", e)
	}
	union := regular.Union(compiled(t, `^[a-m]`).Language(), compiled(t, `^[n-z]`).Language())
	if yes, _ := union.Includes(compiled(t, `^[a-z]+$`).Language(), 1000); yes != regular.Yes {
		t.Errorf("two halves cover the whole: %v", yes)
	}
}

// Proves that languages of NFAs are the same sets.
func TestFromNFA(t *testing.T) {
	n := automaton.New()
	n.Accept(n.Loop(n.Text(0, "git "), automaton.Ranges('a', 'z')))
	n.Accept(n.Text(n.Loop(0, automaton.Any), "b"))
	l := regular.FromNFA(n)
	want := compiled(t, `^git [a-z]*$|b$`).Language()
	if yes, differ := l.Equal(want, 10_000); yes != regular.Yes {
		t.Errorf("%v: %q", yes, differ)
	}
	if !l.Without(automaton.Single('-')).Contains("-gi-t a-") || !l.Trimmed(automaton.Single('-')).Contains("--git a--") || l.Trimmed(automaton.Single('-')).Contains("--g-it a--") {
		t.Error("forms of an NFA")
	}
	if yes := regular.FromNFA(automaton.New()).Empty(10); yes != regular.Yes {
		t.Error("an NFA that accepts nothing")
	}
}
