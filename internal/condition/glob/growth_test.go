package glob_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// verbs are parts of tool names that begin alike and follow each other.
var verbs = strings.Fields(`get list read search find show view describe fetch query count check status create close delete
	update write send post push merge move copy rename remove insert append upload download start stop`)

// states counts the states of an automaton that some text reaches.
func states(w automaton.Walker) int {
	cuts, seen := w.Cuts(), map[uint32]bool{w.First(): true}
	for todo := []uint32{w.First()}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, r := range cuts {
			if next := w.Next(at, r); !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return len(seen)
}

// Proves K18: the automaton of a glob with braces grows with its text, not with the sets of
// alternatives that a name may have matched already.
func TestBracesGrowLinearly(t *testing.T) {
	for _, form := range []string{"*{%s}*", "*{%s}", "*_{%s}_*", "*{%s}*x", "*{%s}*_*x", "{*{%s}*,x}*", "{%s}*{%s}", "*{%s}*{%s}*"} {
		for _, n := range []int{4, 8, 16, 32} {
			words := strings.Join(verbs[:n], ",")
			text := strings.ReplaceAll(form, "%s", words)
			name, err := glob.ParseName(text)
			if err != nil {
				t.Fatal(err)
			}
			w := name.Walker()
			if w == nil {
				t.Errorf("%s with %d words has no automaton", form, n)
			} else if got := states(w); got > 2*len(text) {
				t.Errorf("%s with %d words has %d states", form, n, got)
			}
		}
	}
}

// Proves K18: nested braces and chains of wildcards up to the limits, and a glob whose automaton is
// exponential by nature, which is given up early.
func TestLimitsOfNames(t *testing.T) {
	for _, text := range []string{
		"*" + strings.Join(verbs[:26], "*") + "*",
		strings.Repeat("{a,b}", 10),
		"*" + strings.Repeat("{a,bc}*", 10),
		"*" + strings.Repeat("{a,b?}", 10) + "*",
		strings.Repeat("{a,{b,{c,{d,*}}}}", 4) + "*",
		"{" + strings.Repeat("*a?b*c,", glob.MaxAlternatives-1) + "*z}",
	} {
		name, err := glob.ParseName(text)
		if err != nil {
			t.Fatal(err)
		}
		if w := name.Walker(); w == nil || states(w) > 16*len(text) {
			t.Errorf("%.40s: no automaton, or one of %d states", text, states(w))
		}
	}
	name, err := glob.ParseName("*a" + strings.Repeat("?", 40) + "x")
	if err != nil {
		t.Fatal(err)
	}
	if name.Walker() != nil {
		t.Error("two to the fortieth states")
	}
	if run := strings.Repeat("b", 40); !name.Match("aaa"+run[1:]+"x") || name.Match("a"+run[1:]+"x") {
		t.Error("it matches by its tokens")
	}
}

// Proves K0c: the names but the empty one.
func TestNonEmpty(t *testing.T) {
	for _, c := range []struct {
		glob         string
		empty, other bool
	}{{"*", false, true}, {"{,a*}", false, true}, {"{,}", false, false}, {"**", false, true}, {"a", false, true}, {"{*,b}", false, true}} {
		name, err := glob.ParseName(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		some := name.NonEmpty()
		w := some.Walker()
		after := w.Next(w.First(), 'a')
		if some.Match("") != c.empty || some.Match("a") != c.other || w.Accepting(w.First()) != c.empty || w.Accepting(after) != c.other {
			t.Errorf("%s: %v, %v", c.glob, some.Match(""), some.Match("a"))
		}
	}
}

// Proves K0b: names are matched as their automaton matches them.
func TestNamesAgreeWithTheAutomaton(t *testing.T) {
	alphabet := []rune("aab/é*?*{},!x[]" + string(glob.Root))
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 8, -1).Draw(t, "glob")
		name, err := glob.ParseName(text)
		if err != nil {
			return
		}
		w := name.Walker()
		for range 8 {
			value, state := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 6, -1).Draw(t, "value"), w.First()
			for _, r := range value {
				state = w.Next(state, r)
			}
			if name.Match(value) != w.Accepting(state) {
				t.Fatalf("%q on %q: %v", text, value, name.Match(value))
			}
		}
	})
}
