package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

func rules(conditions ...analysis.Condition) []analysis.Rule {
	var list []analysis.Rule
	for _, c := range conditions {
		list = append(list, analysis.Rule{Conditions: []analysis.Condition{c}})
	}
	return list
}

func answers(list analysis.List, b analysis.Budget) string {
	var out []string
	for _, f := range analysis.Reach(list, b) {
		text := f.Answer.String()
		if f.Answer == regular.No {
			text = fmt.Sprint("by ", f.By)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func text(v analysis.Variable) analysis.Variable {
	v.AtMost, v.Domain.Text = -1, true
	return v
}

func exact(words ...string) analysis.Condition { return literals(words, nil).condition }

var always = analysis.Condition{Set: &analysis.Set{Every: true}, Named: &analysis.Set{Every: true}, AtMost: -1, Holds: func(analysis.Value) bool { return true }}

// Proves K47: a condition that is not understood, or exceeds the budget, is never called proved;
// a rule that is left out covers no call.
func TestNothingIsClaimedInTheDark(t *testing.T) {
	opaque := analysis.Condition{Subject: analysis.Opaque, AtMost: -1, Set: &analysis.Set{}, Named: &analysis.Set{}, Holds: func(analysis.Value) bool { return false }}
	required, optional := text(analysis.Variable{}), text(analysis.Variable{Optional: true})
	both := analysis.Rule{Conditions: []analysis.Condition{exact("a"), opaque}}
	for _, c := range []struct {
		name string
		list analysis.List
		want string
	}{
		{"an opaque rule", analysis.List{Variables: []analysis.Variable{required}, Rules: rules(opaque, exact("a"))}, "not proven, not proven"},
		{"one on a value that may be absent", analysis.List{Variables: []analysis.Variable{optional, required}, Rules: append(rules(opaque), analysis.Rule{Conditions: []analysis.Condition{{Variable: 1, Set: exact("a").Set, Named: exact("a").Set, AtMost: -1, Holds: exact("a").Holds}}})}, "not proven, yes"},
		{"one beside another condition", analysis.List{Variables: []analysis.Variable{required}, Rules: []analysis.Rule{both, rules(exact("a"))[0], rules(exact("b"))[0]}}, "not proven, not proven, yes"},
		{"a rule that is left out", analysis.List{Variables: []analysis.Variable{required}, Rules: []analysis.Rule{{Conditions: []analysis.Condition{exact("a")}, Skip: true}, rules(exact("a"))[0]}}, "not proven, yes"},
		{"everything", analysis.List{Variables: []analysis.Variable{required}, Rules: rules(exact("a"), always, exact("b"))}, "yes, yes, by [1]"},
	} {
		if got := answers(c.list, analysis.Budget{}); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	a, b := &analysis.Policy{Rules: rules(exact("a")), Modes: []int{4}, End: 3}, &analysis.Policy{Rules: rules(exact("b")), Modes: []int{4}, End: 3}
	list := analysis.List{Variables: []analysis.Variable{required}}
	if c := analysis.Compare(list, a, b, analysis.Budget{Cells: 1}, nil); c.Complete || c.Pairs != 1 {
		t.Errorf("over the budget: %+v", c)
	}
	if c := analysis.Compare(list, a, b, analysis.Budget{}, func(analysis.Cell) bool { return true }); c.Complete || len(c.Cells) != 0 {
		t.Errorf("what shows no change: %+v", c)
	}
	dark := &analysis.Policy{Rules: rules(opaque), Modes: []int{4}, End: 3}
	if c := analysis.Compare(list, a, dark, analysis.Budget{}, nil); c.Complete {
		t.Errorf("an opaque condition: %+v", c)
	}
}

// Proves K47, I25: values that are welcome as witnesses come before others, which are taken
// where there are no others; of enums, objects and kinds all are looked at.
func TestWitnessesThatAreWelcome(t *testing.T) {
	welcome := func(v analysis.Value) bool { return v.Kind == analysis.Text && strings.HasSuffix(v.Text, "b") }
	objects := func(texts ...string) analysis.Condition {
		s := &analysis.Set{Objects: texts}
		return analysis.Condition{Set: s, Named: s, AtMost: -1, Holds: func(v analysis.Value) bool { return v.Kind == analysis.Object && slices.Contains(texts, v.Text) }}
	}
	value := func(s string) analysis.Value { return analysis.Value{Kind: analysis.Text, Text: s} }
	for _, c := range []struct {
		name   string
		domain analysis.Domain
		rules  []analysis.Rule
		want   string // the last rule's witness, or its proof
	}{
		{"of a literal", analysis.Domain{Text: true, Welcome: welcome}, rules(exact("a", "ab")), "ab"},
		{"of no welcome one", analysis.Domain{Text: true, Welcome: welcome}, rules(exact("a", "c")), "a"},
		{"of a beginning, of which no welcome one is near", analysis.Domain{Text: true, Welcome: welcome}, rules(literals(nil, []string{"x"}).condition), "x"},
		{"of an enum", analysis.Domain{Text: true, Enum: []analysis.Value{value("a"), value("bb")}, Welcome: welcome}, rules(always), "bb"},
		{"of an enum that is used up", analysis.Domain{Text: true, Enum: []analysis.Value{value("a"), value("b")}}, rules(exact("a"), exact("b"), pattern("^[ab]$").condition), "[0 1]"},
		{"of two kinds", analysis.Domain{Text: true, Boolean: true, Welcome: welcome, Admits: func(v analysis.Value) bool { return v.Kind != analysis.Text || v.Text == "q" }}, rules(exact("q")), "q"},
		{"of objects", analysis.Domain{Object: true}, rules(objects(`{"a":1}`), objects(`{"a":1}`, `{"a":2}`)), `{"a":2}`},
		{"of all objects", analysis.Domain{Object: true}, rules(objects(`{}`), always), `{"x":1}`},
		{"of objects that are used up", analysis.Domain{Object: true}, rules(objects(`{"a":1}`), objects(`{"a":1}`)), "[0]"},
	} {
		found := analysis.Reach(analysis.List{Variables: []analysis.Variable{{AtMost: -1, Domain: c.domain}}, Rules: c.rules}, analysis.Budget{})
		last := found[len(found)-1]
		got := fmt.Sprint(last.By)
		if last.Answer == regular.Yes {
			got = last.Witness[0].Leaves[0].Text
		}
		if got != c.want {
			t.Errorf("%s: %v %s, want %s", c.name, last.Answer, got, c.want)
		}
	}
}

// Proves D25-38: many patterns above a rule are asked together, whatever they spell out and
// whatever case counts.
func TestManyPatterns(t *testing.T) {
	folded := func(source string) analysis.Condition {
		c := pattern(source).condition
		p, _ := regular.Compile(source)
		set := *c.Set
		set.Texts.CaseToo = true
		c.Set, c.Named = &set, c.Set
		c.Holds = func(v analysis.Value) bool {
			return p.Match([]byte(v.Text)) || p.Match([]byte(strings.ToLower(v.Text)))
		}
		return c
	}
	var list []analysis.Rule
	for i := range 40 {
		list = append(list, rules(folded(fmt.Sprintf("^[%c]%d[0-9]$", 'a'+rune(i%3), i%10)), folded(fmt.Sprintf("^long%dword[a-z]$", i)))...)
	}
	list = append(list, rules(exact("a05"), exact("LONG7WORDq"), exact("B15"), exact("long7word0"), exact("d05"))...)
	found := analysis.Reach(analysis.List{Variables: []analysis.Variable{text(analysis.Variable{})}, Rules: list}, analysis.Budget{})
	n := len(list) - 5
	for i, by := range []int{0, 15, 2, -1, -1} {
		f := found[n+i]
		if by < 0 && f.Answer != regular.Yes || by >= 0 && (f.Answer != regular.No || !slices.Equal(f.By, []int{by})) {
			t.Errorf("literal %d: %v by %v, want %d", i, f.Answer, f.By, by)
		}
	}
}

// Proves I25: a search for a text through automata reports when there is none, and ranges
// are cut by the limits of a schema.
func TestFindAndIntersect(t *testing.T) {
	walk := func(source string) automaton.Walker {
		p, _ := regular.Compile(source)
		return p.Walker()
	}
	if got, answer := analysis.Find([]automaton.Walker{walk("^a+$")}, []automaton.Walker{walk("^a$")}, func(string) bool { return true }); got != "aa" || answer != regular.Yes {
		t.Errorf("%q %v", got, answer)
	}
	if _, answer := analysis.Find([]automaton.Walker{walk("^a$")}, []automaton.Walker{walk("^a+$")}, func(string) bool { return true }); answer != regular.No {
		t.Errorf("nothing is left: %v", answer)
	}
	if _, answer := analysis.Find([]automaton.Walker{walk("^a+$")}, nil, func(string) bool { return false }); answer != regular.NotProven {
		t.Errorf("nothing is good enough: %v", answer)
	}
	at := func(s string) jsonstream.Decimal {
		d, err := jsonstream.ParseDecimal([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	low := analysis.Interval{Low: analysis.Cut{At: at("3")}, High: analysis.AboveAll}
	high := analysis.Interval{Low: analysis.BelowAll, High: analysis.Cut{At: at("1")}}
	if got := analysis.Intersect([]analysis.Interval{low}, high); got == nil || len(got) != 0 {
		t.Errorf("nothing is no list: %v", got)
	}
	if got := analysis.Intersect([]analysis.Interval{analysis.Everything}, low); len(got) != 1 || got[0] != low {
		t.Errorf("%v", got)
	}
}

// Proves K7, I25: where two deciders of one policy end a call, each with another mode, calls
// of it are found, or it is proved that there are none.
func TestMeet(t *testing.T) {
	list := analysis.List{Variables: []analysis.Variable{text(analysis.Variable{})}}
	skips := func(word string) *analysis.Policy {
		return &analysis.Policy{Rules: rules(exact(word)), Modes: []int{1}, End: 3}
	}
	guarded := func(p *analysis.Policy, mode int, words ...string) *analysis.Policy {
		q := *p
		q.Guards, q.GuardModes = append(q.Guards, rules(exact(words...))...), append(q.GuardModes, mode)
		return &q
	}
	for _, c := range []struct {
		name     string
		old, new *analysis.Policy
		budget   analysis.Budget
		want     regular.Answer
		calls    string
	}{
		{"a rule and a guard", skips("a"), guarded(skips("a"), 0, "a", "b"), analysis.Budget{}, regular.Yes, "a"},
		{"that never meet", skips("a"), guarded(skips("a"), 0, "b"), analysis.Budget{}, regular.No, ""},
		{"two guards", guarded(guarded(skips("x"), 1, "a", "c"), 0, "b", "c"), skips("x"), analysis.Budget{}, regular.Yes, "c"},
		{"a guard that ends nothing", skips("a"), guarded(skips("a"), 3, "a"), analysis.Budget{}, regular.No, ""},
		{"over the budget", guarded(skips("x"), 0, "x"), guarded(skips("y"), 0, "y"), analysis.Budget{Cells: 1}, regular.Yes, "x"},
	} {
		var calls []string
		answer := analysis.Meet(list, c.old, c.new, 1, c.budget, func(w []analysis.Choice) bool {
			calls = append(calls, w[0].Leaves[0].Text)
			return c.budget.Cells == 0
		})
		if answer != c.want || strings.Join(calls, " ") != c.calls {
			t.Errorf("%s: %v %q", c.name, answer, calls)
		}
	}
	var seen int
	if analysis.Meet(list, guarded(skips("x"), 0, "x"), skips("x"), 1, analysis.Budget{}, func([]analysis.Choice) bool { seen++; return false }) != regular.Yes || seen < 2 {
		t.Errorf("only %d calls were shown to who wants more", seen)
	}
}
