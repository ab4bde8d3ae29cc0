package analysis

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/jsonstream"
)

func integerOf(n int) jsonstream.Decimal {
	d, _ := jsonstream.ParseDecimal([]byte(strconv.Itoa(n)))
	return d
}

// drawText returns a condition on texts of "a" and "b" which the index describes in one of
// its ways, or in none.
func drawText(r *rand.Rand, variable int) Condition {
	text := strings.Repeat("a", r.IntN(3)) + strings.Repeat("b", r.IntN(3))
	set := &Set{}
	k := Condition{Variable: variable, Set: set, Permissive: r.IntN(2) == 0, All: r.IntN(3) == 0, AtMost: -1}
	begins := func(v Value) bool { return v.Kind == Text && strings.HasPrefix(v.Text, text) }
	switch r.IntN(7) {
	case 0:
		set.Texts.Exact = []string{text, "b"}
		k.Holds = func(v Value) bool { return v.Kind == Text && slices.Contains(set.Texts.Exact, v.Text) }
	case 1:
		set.Texts.Below, set.Texts.Folded = []string{text}, true
		k.Holds = func(v Value) bool { return v.Kind == Text && strings.HasPrefix(strings.ToLower(v.Text), text) }
	case 2:
		set.Texts.Languages, set.Texts.Head = []Language{{Walkers: func() []automaton.Walker { return nil }}}, text
		k.Holds = begins
	case 3:
		set.Texts.Open, set.Texts.Keys = true, []string{strconv.Itoa(len(text))}
		k.Holds = func(v Value) bool { return v.Kind == Text && len(v.Text) == len(text) }
	case 4:
		set.Texts.Open = true
		k.Holds = begins
	case 5:
		set.True = true
		k.Holds = func(v Value) bool { return v.Kind == Boolean && v.True }
	default:
		k.Null = true
		k.Holds = func(Value) bool { return false }
	}
	return k
}

func drawRange(r *rand.Rand, variable int) Condition {
	low, high := r.IntN(12), r.IntN(12)
	in := []Interval{{Cut{At: integerOf(low)}, AboveAll}, {BelowAll, Cut{At: integerOf(high)}}, Point(integerOf(low)), {Cut{At: integerOf(low)}, Cut{At: integerOf(high)}}}[r.IntN(4)]
	return Condition{Variable: variable, Set: &Set{Intervals: []Interval{in}}, Permissive: r.IntN(2) == 0, All: r.IntN(3) == 0, AtMost: -1,
		Holds: func(v Value) bool { return v.Kind == Number && in.contains(v.Number) }}
}

func drawLeaf(r *rand.Rand) Value {
	switch r.IntN(5) {
	case 0, 1:
		return Value{Kind: Number, Number: integerOf(r.IntN(12))}
	case 2:
		return Value{Kind: Boolean, True: r.IntN(2) == 0}
	}
	return Value{Kind: Text, Text: strings.Repeat([]string{"a", "A", "é"}[r.IntN(3)], r.IntN(3)) + strings.Repeat("b", r.IntN(3))}
}

func drawChoice(r *rand.Rand, most int) Choice {
	switch r.IntN(6) {
	case 0:
		return Choice{Absent: true}
	case 1:
		return Choice{Null: true}
	}
	c := Choice{Hole: r.IntN(4) == 0}
	for range r.IntN(most + 1) {
		c.Leaves = append(c.Leaves, drawLeaf(r))
	}
	return c
}

// Proves K47: the first rule with several conditions that matches is found by indexes as it
// is found by asking every rule.
func TestCompoundsAgainstEveryRule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2_000 {
		byDefault := drawLeaf(r)
		domain := Domain{Odd: func(text string) bool { return strings.Contains(text, "é") }, Key: func(text string) (string, bool) {
			return strconv.Itoa(len(text)), !strings.HasPrefix(text, "aa")
		}}
		s := &solver{variables: []Variable{
			{Domain: domain, Default: &byDefault}, {Domain: domain, Several: true}, {Domain: domain, DefaultNull: true},
		}}
		l := newSide(0, s.variables, make([]Rule, 40))
		for i := range l.rules {
			for range 2 + r.IntN(2) {
				draw := []func(*rand.Rand, int) Condition{drawText, drawRange}[r.IntN(2)]
				l.rules[i].Conditions = append(l.rules[i].Conditions, draw(r, r.IntN(len(s.variables))))
			}
			l.add(s.variables, int32(i))
		}
		s.lists = []*side{l}
		for range 20 {
			limit := int32(r.IntN(len(l.rules) + 1))
			c := &cell{solver: s, limits: []int32{limit}, choices: []Choice{drawChoice(r, 1), drawChoice(r, 3), drawChoice(r, 1)}}
			want := int32(none)
			for i := range limit {
				if c.fires(&l.rules[i]) {
					want = i
					break
				}
			}
			if _, got := c.firing(); got != want {
				t.Fatalf("round %d, %+v: rule %d is found, want %d", round, c.choices, got, want)
			}
		}
	}
}

// Of many rules with several conditions few are asked about each value, whichever of their
// conditions differ.
func TestCompoundsAskFewRules(t *testing.T) {
	const n = 2_000
	below := func(text string) Condition {
		return Condition{Set: &Set{Texts: Texts{Below: []string{text}}}, AtMost: -1}
	}
	number := func(in Interval) Condition {
		return Condition{Variable: 1, Set: &Set{Intervals: []Interval{in}}, AtMost: -1}
	}
	from := func(i int) Condition { return number(Interval{Cut{At: integerOf(i)}, AboveAll}) }
	for _, kind := range []struct {
		name string
		rule func(i int) []Condition
	}{
		{"ranges", func(i int) []Condition {
			return []Condition{from(10 * i), number(Interval{BelowAll, Cut{At: integerOf(10*i + 10)}})}
		}},
		{"one directory, many numbers", func(i int) []Condition { return []Condition{below("src/"), number(Point(integerOf(i)))} }},
		{"many directories, one number", func(i int) []Condition {
			return []Condition{below("d" + strconv.Itoa(i) + "/"), number(Point(integerOf(7)))}
		}},
		{"many directories, open ranges", func(i int) []Condition { return []Condition{below("d" + strconv.Itoa(i) + "/"), from(i)} }},
	} {
		c := newCompounds(make([]Variable, 2))
		for i := range n {
			c.add(int32(i), &Rule{Conditions: kind.rule(i)})
		}
		asked := 0
		choices := []Choice{{Leaves: []Value{{Kind: Text, Text: "d7/x"}}}, {Leaves: []Value{{Kind: Number, Number: integerOf(7)}}}}
		c.first(choices, n, func(int32) bool { asked++; return false })
		if asked > 70 {
			t.Errorf("%s: %d of %d rules are asked", kind.name, asked, n)
		}
	}
}
