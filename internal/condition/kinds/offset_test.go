package kinds_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"

	"github.com/stopgate/stopgate/internal/condition"
)

// The measure of K10: a condition is determined at the first code point after which every
// continuation gives the same result. The tests find it by enumerating all strings over a small
// alphabet.

const (
	letters = "ab \u200bc"
	longest = 5 // code points of the enumerated strings
)

// lateness counts, over all strings of up to most code points, those on which a matcher decides
// after and before the point where it is determined. The enumerated continuations must be long
// enough for the literals.
func lateness(t interface{ Fatalf(string, ...any) }, s condition.Spec, polarity bool, most int) (late, early int) {
	m, err := tryCompile(s, aString, polarity, nowhere)
	if err != nil {
		t.Fatalf("compile %v: %v", s, err)
	}
	var literals []string
	for _, v := range s.Values {
		literals = append(literals, v.Text)
	}
	type answers struct{ yes, no bool }
	var walk func(value string, depth int) answers
	walk = func(value string, depth int) answers {
		hit := naiveString(s.Kind, literals, polarity, value)
		below := answers{hit, !hit}
		if depth < longest {
			for _, r := range letters {
				a := walk(value+string(r), depth+1)
				below.yes, below.no = below.yes || a.yes, below.no || a.no
			}
		}
		if got := m.Match([]byte(value)); got != hit {
			t.Fatalf("%v, restrictive %v, on %q: %v, want %v", s, polarity, value, got, hit)
		}
		if depth > most {
			return below
		}
		result, at := feed(m, value)
		decided := at >= 0
		determined := !below.yes || !below.no
		switch {
		case decided && (result == condition.Hit) != hit:
			t.Fatalf("%v, restrictive %v, on %q: %v at %d, want %v", s, polarity, value, result, at, hit)
		case decided && !determined:
			early++
		case !decided && determined:
			late++
		}
		return below
	}
	walk("", 0)
	return late, early
}

// Proves I2, K10, K21: lateness is zero for const, enum, prefix, suffix and glob.
func TestDecidedAtTheFirstCodePointThatDetermines(t *testing.T) {
	for _, s := range []condition.Spec{
		spec(condition.Const, ""),
		spec(condition.Const, "a"),
		spec(condition.Const, "ab"),
		spec(condition.Const, " a"),
		spec(condition.Const, "a b"),
		spec(condition.Const, "a\u200b"),
		spec(condition.Const, " "),
		spec(condition.Enum, "a", "ab", "b"),
		spec(condition.Enum, "", "a"),
		spec(condition.Prefix, "a"),
		spec(condition.Prefix, "ab"),
		spec(condition.Prefix, " b"),
		spec(condition.Prefix, "a", "b"),
		spec(condition.Suffix, "a"),
		spec(condition.Suffix, "ab"),
		spec(condition.Suffix, " "),
		spec(condition.Glob, "*"),
		spec(condition.Glob, "a*"),
		spec(condition.Glob, "*a"),
		spec(condition.Glob, "*a*"),
		spec(condition.Glob, "a?"),
		spec(condition.Glob, "?"),
		spec(condition.Glob, "[ab]*b"),
		spec(condition.Glob, "[!a]"),
		spec(condition.Glob, "[!a]*"),
		spec(condition.Glob, "{a,b}*"),
		spec(condition.Glob, "{a,?*}"),
		spec(condition.Glob, "{,?,?*}"),
		spec(condition.Glob, "a*b*"),
		spec(condition.Glob, "*[! ]"),
		spec(condition.Glob, "* *"),
	} {
		for _, polarity := range []bool{permissive, restrictive} {
			if late, early := lateness(t, s, polarity, 2); late != 0 || early != 0 {
				t.Errorf("%v, restrictive %v: %d strings late, %d early", s, polarity, late, early)
			}
		}
	}
}

// Proves I1, I2, K10.
func TestDecidedInTime(t *testing.T) {
	kinds := []condition.Kind{condition.Const, condition.Enum, condition.Prefix, condition.Suffix, condition.Glob}
	property.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		shape := `[ab \x{200b}]{1,3}`
		if k == condition.Glob {
			shape = `([ab ?*]|\[ab\]|\[!a\]){1,3}`
		}
		literals := rapid.SliceOfN(rapid.StringMatching(shape), 1, 3).Draw(t, "literals")
		for i := range literals {
			for strings.Contains(literals[i], "**") {
				literals[i] = strings.ReplaceAll(literals[i], "**", "*")
			}
		}
		polarity := rapid.Bool().Draw(t, "restrictive")
		s := spec(k, literals...)
		s.List = "list"
		if late, early := lateness(t, s, polarity, 1); late != 0 || early != 0 {
			t.Fatalf("%d strings late, %d early", late, early)
		}
	})
}

// Proves I2.
func TestChunksChangeNothing(t *testing.T) {
	specs := []condition.Spec{
		spec(condition.Const, "a b"), spec(condition.Enum, "ab", "\u00fc"), spec(condition.Prefix, "\u00fc "), spec(condition.Suffix, "b\u00fc"),
		spec(condition.Glob, "*a?b*"), number(condition.MaxLength, "3"),
	}
	property.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(specs).Draw(t, "spec")
		m, err := tryCompile(s, aString, rapid.Bool().Draw(t, "restrictive"), nowhere)
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.StringMatching(`[ab \x{fc}\x{200b}]{0,8}`).Draw(t, "value")
		var cuts []int
		for i := range value {
			if rapid.Bool().Draw(t, "cut") {
				cuts = append(cuts, i)
			}
		}
		r1, at1 := feed(m, value)
		r2, at2 := feed(m, value, cuts...)
		if r1 != r2 || at1 != at2 || m.Match([]byte(value)) != (r1 == condition.Hit) {
			t.Fatalf("%q: %v at %d in one piece, %v at %d in pieces %v, whole %v", value, r1, at1, r2, at2, cuts, m.Match([]byte(value)))
		}
	})
}

func TestResultNames(t *testing.T) {
	if got := fmt.Sprint(condition.Undecided, condition.Hit, condition.Miss); got != "undecided hit miss" {
		t.Error(got)
	}
}
