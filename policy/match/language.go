package match

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/regular"
	"github.com/stopgate/stopgate/schema"
)

// Language returns the set of plain strings that satisfy a condition on one, for an index
// that runs many conditions as one automaton; with forms the further forms of a
// restrictive condition are included (K21). ok is false if no language says it.
func (m *Matcher) Language(forms bool) (l *regular.Language, ok bool) {
	if m.annotation != schema.None {
		return nil, false
	}
	switch m.kind {
	case Pattern:
		if test, ok := m.text.(*patternText); ok && forms {
			return test.language, true
		} else if ok {
			return test.plain, true
		}
	case Glob, Suffix:
		n, err := stringLanguage(Spec{Kind: m.kind, Values: m.literals()})
		if err != nil {
			return nil, false // cannot happen: it compiled
		}
		if m.restrictive && forms {
			n = underForms(n.Direct())
		}
		return regular.FromNFA(n), true
	}
	return nil, false
}

// Forms are the further forms of a string that restrictive conditions test (K21).
func Forms(text []byte) []string { return forms(string(text)) }

// Disguises reports whether a text has hidden code points, which its further forms leave
// out.
func Disguises(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return strings.ContainsFunc(string(text[i:]), zeroWidth.Contains)
		}
	}
	return false
}

// Blank reports whether a text begins and whether it ends with a blank.
func Blank(text []byte) (first, last bool) {
	f, _ := utf8.DecodeRune(text)
	l, _ := utf8.DecodeLastRune(text)
	return isWhite(f), isWhite(l)
}

func (m *Matcher) literals() (all []Literal) {
	for _, text := range m.written {
		all = append(all, Literal{Kind: LiteralString, Text: text})
	}
	return all
}

func (p patterns) language() *regular.Language {
	var all []*regular.Language
	for _, one := range p {
		all = append(all, one.Language())
	}
	return regular.Union(all...)
}

// PathLanguages finds, among many patterns, globs and suffixes on paths, those that a
// value satisfies, with one automaton for the patterns and one for all others. It answers
// as [Matcher.Judge] of each would.
type PathLanguages struct {
	place           place
	patterns, globs languages
}

// languages is some conditions as one automaton.
type languages struct {
	members []int32
	sets    []*regular.Language
	machine *regular.Automaton
}

func (l *languages) add(set *regular.Language, member int32) {
	l.members, l.sets = append(l.members, member), append(l.sets, set)
}

func (l *languages) build() {
	if len(l.sets) > 0 {
		l.machine, l.sets = regular.JoinWhole(l.sets...), nil // paths are judged when they are complete (K13)
	}
}

// NewPathLanguages returns an empty group of conditions with one polarity and one
// environment, on parameters that are not expanded.
func NewPathLanguages(env Env, restrictive bool) *PathLanguages {
	return &PathLanguages{place: newPlace(env, false, restrictive)}
}

// Add adds a condition under a number. It reports false, and adds nothing, if no one
// language says what the condition holds for.
func (g *PathLanguages) Add(m *Matcher, member int32) bool {
	switch test := m.text.(type) {
	case *pathPattern:
		if test.expands {
			return false
		}
		g.patterns.add(test.test.(patterns).language(), member)
	case *pathTest:
		if test.expands || m.kind != Glob && m.kind != Suffix {
			return false
		}
		g.globs.add(regular.FromNFA(test.nfa()), member)
	default:
		return false
	}
	return true
}

// Has reports whether the group has a condition.
func (g *PathLanguages) Has(member int32) bool {
	for _, l := range []*languages{&g.patterns, &g.globs} {
		if _, found := slices.BinarySearch(l.members, member); found {
			return true
		}
	}
	return false
}

// Empty reports whether the group has no condition.
func (g *PathLanguages) Empty() bool { return len(g.patterns.members)+len(g.globs.members) == 0 }

// Build ends the adding.
func (g *PathLanguages) Build() {
	g.patterns.build()
	g.globs.build()
}

// Find appends the conditions that a complete string satisfies, in no order; one may be
// repeated.
func (g *PathLanguages) Find(v *Value, members []int32) []int32 {
	if !v.valid || len(v.text) > Budget {
		return g.strict(members)
	}
	canonical, certain := v.certain(&g.place)
	if g.place.restrictive {
		members = g.patterns.find(members, v.text)
	}
	if certain {
		if rel, ok := cutRoot(canonical, []byte(g.place.env.Root)); ok && len(g.patterns.members) > 0 {
			members = g.pattern(rel, v, members)
		} else {
			members = g.pattern(canonical, v, members)
		}
		return g.glob(canonical, v.info.high, members)
	}
	if !g.place.restrictive {
		return members
	}
	list, complete := v.readings(&g.place)
	if !complete {
		return g.strict(members)
	}
	for _, r := range list {
		members = g.pattern([]byte(r.Path), v, members)
		members = g.glob([]byte(r.Path), true, members)
	}
	return members
}

// strict appends what cannot weaken a verdict.
func (g *PathLanguages) strict(members []int32) []int32 {
	if g.place.restrictive {
		members = append(append(members, g.patterns.members...), g.globs.members...)
	}
	return members
}

// pattern finds the patterns in one reading, with and without case where suspicion is
// asked (K20).
func (g *PathLanguages) pattern(path []byte, v *Value, members []int32) []int32 {
	if !g.place.restrictive {
		return g.patterns.find(members, path)
	}
	if string(path) != string(v.text) { // which has been looked at
		members = g.patterns.find(members, path)
	}
	if !lower(path) {
		members = g.patterns.find(members, []byte(fold(string(path))))
	}
	return members
}

// lower reports a text that is its own folded form, without looking beyond ASCII.
func lower(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return 'A' <= c && c <= 'Z' || c >= 0x80 })
}

// glob finds the globs and suffixes that one canonical path satisfies.
func (g *PathLanguages) glob(path []byte, high bool, members []int32) []int32 {
	if len(g.globs.members) == 0 {
		return members
	}
	if g.place.folded && !lower(path) {
		if high {
			if folded := fold(string(path)); folded != string(path) {
				members = g.inside([]byte(folded), members)
			}
		}
		path = lowered(path)
	}
	return g.inside(path, members)
}

// lowered is a text with its ASCII letters in lower case.
func lowered(text []byte) []byte {
	out := slices.Clone(text)
	for i, c := range out {
		out[i] = lowerASCII(c)
	}
	return out
}

// inside is pathTest.inside for all conditions.
func (g *PathLanguages) inside(path []byte, members []int32) []int32 {
	root := g.place.env.Root
	if len(path) > 0 && path[0] == '/' {
		rel, inside := g.place.cutRoot(path)
		if !inside {
			return g.globs.find(members, path)
		}
		path = rel
	}
	members = g.globs.find(members, path)
	if root == "" || len(path) >= 2 && string(path[:2]) == ".." && (len(path) == 2 || path[2] == '/') {
		return members
	}
	return g.globs.find(members, g.place.mark, path)
}

// find appends the members whose language holds a text, given in pieces.
func (l *languages) find(members []int32, text ...[]byte) []int32 {
	if l.machine == nil {
		return members
	}
	s := l.machine.Start()
	for k, piece := range text {
		if k > 0 && len(piece) > 0 && string(text[0]) != string(rootMark) {
			feedAll(l.machine, &s, separator)
		}
		feedAll(l.machine, &s, piece)
	}
	return Holding(l.machine, &s, l.members, members)
}

var separator = []byte("/")

func feedAll(a *regular.Automaton, s *regular.State, text []byte) {
	for len(text) > 0 && !a.Decided(s) {
		n, _ := a.Feed(s, text)
		text = text[n:]
	}
}

// Holding appends the members whose language holds the text that an automaton was fed,
// taken as complete; of names says how its members are called.
func Holding(a *regular.Automaton, s *regular.State, names, members []int32) []int32 {
	rejected := a.Rejected(s)
	for word := 0; 64*word < len(names); word++ {
		for left := ^rejected[word]; left != 0; left &= left - 1 {
			i := 64*word + bits.TrailingZeros64(left)
			if i >= len(names) {
				break
			}
			if a.Accepts(s, i) {
				members = append(members, names[i])
			}
		}
	}
	return members
}
