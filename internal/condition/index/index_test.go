package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// long exceeds the limit of every parser of values.
const long = 1 << 20

var project = condition.Env{Root: "/srv/proj", Home: "/home/u"}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func str(texts ...string) (all []condition.Literal) {
	for _, t := range texts {
		all = append(all, condition.Literal{Kind: condition.LiteralString, Text: t})
	}
	return all
}

// draw returns a random condition that an index supports.
func draw(r *rand.Rand) condition.Spec {
	text := func() string {
		return pick(r, "a", "ab", "src", "src/a", "src/a/b", "/etc", "/srv/proj/src", "é", "rm ", " a", "a b", "a\u200b", "~/a", "../a")
	}
	number := func() condition.Literal {
		n := pick(r, "0", "1", "1.5", "-2", "5", "1e2", "9007199254740993")
		return condition.Literal{Kind: condition.LiteralNumber, Text: n, JSON: n}
	}
	switch r.IntN(8) {
	case 0:
		return condition.Spec{Kind: condition.Pattern, Values: str(pick(r, "^a", "b$", "^(a|ab)$", "rm", "^src/[a-z]+$", "[/ ]", "SRC"))}
	case 1:
		return condition.Spec{Kind: condition.Glob, Values: str(pick(r, "a*", "*b", "?", "src/*", "**/a", "**", "/etc/*", "r?", "[!a]*", "src/**", "src/a*", "src/*/b", "src/**/b", "/srv/proj/s*", "/srv/**", "a ", " a*", "s?c/a"))}
	case 2:
		return condition.Spec{Kind: condition.Suffix, Values: str(pick(r, "a", "b", "/a", " ", "env"))}
	case 3:
		return condition.Spec{Kind: condition.Prefix, Values: str(text())}
	case 4:
		return condition.Spec{Kind: condition.Const, Values: str(text())}
	case 5:
		return condition.Spec{Kind: condition.Enum, Values: append(append(str(text(), text()), number()), condition.Literal{Kind: condition.LiteralBool, Text: "true"})}
	case 6:
		return condition.Spec{Kind: condition.Const, Values: []condition.Literal{number()}}
	}
	return condition.Spec{Kind: pick(r, condition.Minimum, condition.Maximum, condition.ExclusiveMinimum, condition.ExclusiveMaximum), Values: []condition.Literal{number()}}
}

// set is an index and the same conditions separately.
type set struct {
	x           *index.Index
	members     []index.Member
	restrictive bool
	many        bool // enough patterns for their forms to be evaluated at the end
}

func newSet(r *rand.Rand, annotations []schema.Annotation) set {
	s := set{restrictive: r.IntN(2) == 0}
	s.x = index.New(s.restrictive, project)
	n := int32(1 + r.IntN(12))
	if s.many = r.IntN(6) == 0; s.many {
		n = 80
	}
	for id := range n {
		spec := draw(r)
		spec.Definition = kinds.Table().Define(spec.Kind)
		m := index.Member{ID: id, Class: uint8(r.IntN(5))}
		for _, a := range annotations {
			if one, err := match.Compile(spec, condition.Target{Annotation: a}, s.restrictive, project); err == nil {
				m.Readings = append(m.Readings, one)
			}
		}
		s.x.Add(withTexts(m, spec, [][]schema.Annotation{nil, {schema.None, schema.Path}, {schema.None}, {schema.Path}}[id%4]...))
		s.members = append(s.members, m)
	}
	s.x.Build()
	return s
}

// withTexts returns a member with the readings under some annotations as texts, if its condition
// compares with nothing else.
func withTexts(m index.Member, spec condition.Spec, as ...schema.Annotation) index.Member {
	other := slices.ContainsFunc(spec.Values, func(l condition.Literal) bool { return l.Kind != condition.LiteralString })
	if other || spec.Kind != condition.Const && spec.Kind != condition.Enum && spec.Kind != condition.Prefix && spec.Kind != condition.Glob {
		return m
	}
	out := index.Member{ID: m.ID, Class: m.Class}
	for _, one := range m.Readings {
		target := condition.Target{Annotation: one.Annotation()}
		if !slices.Contains(as, target.Annotation) || !index.Holds(spec.Kind, one.Written(), &target) {
			out.Readings = append(out.Readings, one)
			continue
		}
		out.Texts = append(out.Texts, index.Texts{
			Target: target, Kind: spec.Kind, Texts: one.Written(), Compile: func() *match.Matcher { return one },
		})
	}
	return out
}

// satisfies evaluates one condition separately.
func (s set) satisfies(m index.Member, value string) bool {
	hit, asked := !s.restrictive, false
	for _, one := range m.Readings {
		if one.Fits()&schema.String == 0 {
			return false
		}
		asked = true
		if one.Match([]byte(value)) == s.restrictive {
			hit = s.restrictive
		}
	}
	return hit && asked
}

var readings = map[string][]schema.Annotation{
	"string": {schema.None}, "path": {schema.Path}, "either": {schema.None, schema.Path},
}

// Proves D25-20, K18, K21: an index finds the same conditions as separate evaluation.
func TestStrings(t *testing.T) {
	for name, annotations := range readings {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				r := rand.New(rand.NewPCG(seed, 1))
				s := newSet(r, annotations)
				var st index.State
				var v condition.Value
				var hits index.Hits
				for range 40 {
					value := pick(r, "", "", " ", "\u200b") + pick(r, "a", "ab", "src", "SRC", "src/a", "src/a/b", "./src/a", "/srv/proj/src/a", "/etc/x", "é", "rm x", "a b", "b", "src/../a", "../a", "~/a") + pick(r, "", "", "\u200b", " ", "/b", "x")
					s.x.Start(&st)
					feed(s.x, &st, value, 0)
					v.Reset([]byte(value))
					s.x.End(&st, &v, &hits)
					s.compare(t, value, &hits, true, func(m index.Member) bool { return s.satisfies(m, value) })
				}
			}
		})
	}
}

// feed passes a string to the index, from a byte on.
func feed(x *index.Index, st *index.State, text string, from int) {
	for from < len(text) {
		n, _ := x.Feed(st, []byte(text[from:]))
		from += n
	}
}

// compare checks hits against the separate results.
func (s set) compare(t *testing.T, value string, hits *index.Hits, listed bool, satisfies func(index.Member) bool) {
	t.Helper()
	want := literal.Empty()
	for _, m := range s.members {
		holds := satisfies(m)
		if holds {
			want.Add(m.ID, m.Class)
		}
		if listed && holds != slices.Contains(hits.Members, m.ID) {
			t.Fatalf("%q restrictive %t: member %d %v holds %t", value, s.restrictive, m.ID, spell(m), holds)
		}
	}
	if hits.Summary != want {
		t.Fatalf("%q: summary %v, want %v", value, hits.Summary, want)
	}
}

func spell(m index.Member) string {
	var b strings.Builder
	for _, one := range m.Readings {
		texts := one.Written()
		fmt.Fprintf(&b, "%v %q ", one.Kind(), texts)
	}
	return b.String()
}

// Proves K10, K12, I2: an index decides about a member with the same code point as its matcher, for
// any length of text.
func TestEarly(t *testing.T) {
	blanks := strings.Repeat(" ", long)
	for name, annotations := range readings {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 2))
			s := newSet(r, annotations)
			for range 10 {
				value := pick(r, "", " ") + pick(r, "a", "rm ", "src/a", "é", "x") + pick(r, "", "a", " b", "\u200b")
				if seed == 0 && r.IntN(3) == 0 {
					value = blanks + value
				}
				early(t, name, s, value)
			}
		}
	}
}

func early(t *testing.T, name string, s set, value string) {
	t.Helper()
	var st index.State
	s.x.Start(&st)
	results := make([][]condition.Result, len(s.members))
	states := make([][]condition.State, len(s.members))
	for i, m := range s.members {
		states[i] = make([]condition.State, len(m.Readings))
		for k, one := range m.Readings {
			results[i] = append(results[i], one.Start(&states[i][k]))
		}
	}
	at := 0
	if len(value) > long-10 { // only the last code points are relevant
		at = long - 10
	}
	for from, to := 0, at; ; from, to = to, to+size(value[to:]) {
		piece := []byte(value[from:to])
		for i, m := range s.members {
			for k, one := range m.Readings {
				if results[i][k] == condition.Undecided {
					results[i][k], _ = one.Feed(&states[i][k], piece)
				}
			}
		}
		feed(s.x, &st, value[:to], from)
		for i, m := range s.members {
			known := s.combined(m, results[i])
			if early := known == condition.Undecided && m.Readings[0].Kind() == condition.Pattern; early {
				patternIsRight(t, s, m, &st, value[:to])
				continue
			}
			if got := s.x.Alive(&st, m.ID); got != (known != condition.Miss) && !(s.many && got) {
				t.Fatalf("%s behind %q of %q: member %d %s is %v, alive %t", name, short(value[:to]), short(value), m.ID, spell(m), known, got)
			}
			if got := s.x.Sure(&st, m.ID); got != (known == condition.Hit) && !(s.many && !got) {
				t.Fatalf("%s behind %q of %q: member %d %s is %v, sure %t", name, short(value[:to]), short(value), m.ID, spell(m), known, got)
			}
		}
		hit, open := literal.Empty(), literal.Empty()
		s.x.Hit(&st, &hit)
		s.x.Open(&st, &open)
		wantHit, wantOpen := literal.Empty(), literal.Empty()
		for _, m := range s.members {
			switch {
			case s.x.Sure(&st, m.ID):
				wantHit.Add(m.ID, m.Class)
			case s.x.Alive(&st, m.ID):
				wantOpen.Add(m.ID, m.Class)
			}
		}
		if lost := s.x.Lost(&st); lost && (wantHit.First() != literal.None || wantOpen.First() != literal.None) {
			t.Fatalf("%s behind %q: lost, want %v and %v", name, short(value[:to]), wantHit, wantOpen)
		}
		if hit != wantHit {
			t.Fatalf("%s behind %q: hit %v, want %v", name, short(value[:to]), hit, wantHit)
		}
		for c, m := range wantOpen.Of() { // hit members may be reported as open, too
			if got := open.Of()[c]; got > m || got < m && !s.x.Sure(&st, got) {
				t.Fatalf("%s behind %q: open %v, want %v", name, short(value[:to]), open, wantOpen)
			}
		}
		if to == len(value) {
			return
		}
	}
}

// patternIsRight tries continuations of a text on a pattern, which a single matcher evaluates only
// at the end.
func patternIsRight(t *testing.T, s set, m index.Member, st *index.State, begun string) {
	t.Helper()
	if len(begun) > 100 {
		return
	}
	can, must := false, true
	for _, more := range []string{"", "a", "b", "ab", "rm", "/", " ", "src/a", "rc/b", "c/a", "/a", "m", "SRC", "xb", "x"} {
		hit := s.satisfies(m, begun+more)
		can, must = can || hit, must && hit
	}
	if alive, sure := s.x.Alive(st, m.ID), s.x.Sure(st, m.ID); can && !alive || !must && sure {
		t.Fatalf("behind %q: %s can hold %t, has to %t; alive %t, sure %t", begun, spell(m), can, must, alive, sure)
	}
}

func size(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func short(s string) string { return s[max(0, len(s)-20):] }

// combined returns the result of several readings of one condition.
func (s set) combined(m index.Member, all []condition.Result) condition.Result {
	enough, rest := condition.Hit, condition.Miss
	if !s.restrictive {
		enough, rest = condition.Miss, condition.Hit
	}
	if len(m.Readings) == 0 {
		return condition.Miss
	}
	if m.Readings[0].Fits()&schema.String == 0 {
		return condition.Miss // does not apply to strings
	}
	undecided := false
	for _, r := range all {
		if r == enough {
			return enough
		}
		undecided = undecided || r == condition.Undecided
	}
	if undecided {
		return condition.Undecided
	}
	return rest
}

// Proves I10, D25-24, D25-25, D25-26, D25-27, D25-29: numbers and booleans, with ranges
// that end at the same limit.
func TestNumbersAndBooleans(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newSet(r, readings["string"])
		var hits index.Hits
		for _, text := range []string{"0", "-0", "1", "1.0", "1.5", "2", "5", "99", "100", "1e2", "9007199254740992", "9007199254740993", "-2", "-3", "1e400"} {
			d, err := jsonstream.ParseDecimal([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			holds := func(m index.Member) bool { return len(m.Readings) > 0 && m.Readings[0].Number(d) }
			s.x.Number([]byte(text), true, &hits)
			s.compare(t, text, &hits, true, holds)
			s.x.Number([]byte(text), false, &hits)
			s.compare(t, text, &hits, false, holds)
		}
		for _, b := range []bool{false, true} {
			s.x.Bool(b, &hits)
			s.compare(t, fmt.Sprint(b), &hits, true, func(m index.Member) bool { return len(m.Readings) > 0 && m.Readings[0].Bool(b) })
		}
	}
}
