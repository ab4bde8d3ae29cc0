// Package inclusion compares compiled conditions for proofs: whether one covers another, and the
// automata of the values that satisfy one.
package inclusion

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// answer converts a proof to an answer.
func answer(yes bool) regular.Answer {
	if yes {
		return regular.Yes
	}
	return regular.No
}

// Covers reports whether every plainly written value that satisfies later also satisfies earlier.
// Yes and No are proven for plainly written values; disguised spellings, which only restrictive
// conditions match, are excluded: for command lines, those that are no lists of plain words. A
// restrictive earlier condition covers under the folds of its type (K47).
func Covers(earlier, later *match.Matcher) regular.Answer {
	e, l := earlier, later
	switch {
	case e.Annotation() != l.Annotation():
		return regular.NotProven
	case e.Kind() == condition.Present || l.Kind() == condition.Present:
		if e.Kind() != l.Kind() || e.WantsPresent() != l.WantsPresent() {
			return regular.No
		}
		return answer(!e.WantsValue() || l.WantsValue())
	case e.Kind() == condition.Outside || l.Kind() == condition.Outside:
		if e.Kind() == l.Kind() && written(e, l) {
			return regular.Yes // fewer allowed paths, more paths outside
		}
		return regular.NotProven
	case l.Annotation() == schema.Patch:
		return regular.NotProven
	case walked(e.Test()) || walked(l.Test()):
		return coversWalked(e, l)
	case l.Annotation() == schema.Command && l.Test() != nil && l.Kind() != condition.MaxLength:
		return coversCommands(e, l)
	case l.Kind() == condition.Const || l.Kind() == condition.Enum:
		return coversValues(e, l)
	case l.Fits()&e.Fits() == 0:
		return regular.No
	}
	switch l.Kind() {
	case condition.Minimum, condition.Maximum, condition.ExclusiveMinimum, condition.ExclusiveMaximum:
		return coversRange(e, l)
	case condition.MinItems:
		return answer(e.Kind() == condition.MinItems && e.Values().Count <= l.Values().Count)
	case condition.MaxItems:
		return answer(e.Kind() == condition.MaxItems && e.Values().Count >= l.Values().Count)
	case condition.MaxLength:
		if e.Kind() != condition.MaxLength {
			return regular.NotProven
		}
		return answer(e.Values().Count >= l.Values().Count)
	case condition.Pattern:
		return coversPatterns(e, l)
	}
	if l.Annotation() == schema.URL {
		return coversURL(e, l)
	}
	return coversLanguage(e, l)
}

func walked(t condition.TextTest) bool { _, ok := t.(condition.WalkedTest); return ok }

// coversWalked compares the automata of two conditions of one kind that is a package of its own.
func coversWalked(m, l *match.Matcher) regular.Answer {
	if m.Kind() != l.Kind() {
		if l.Kind() == condition.Const || l.Kind() == condition.Enum {
			return coversValues(m, l)
		}
		return regular.NotProven
	}
	earlier, later := Walkers(m), Walkers(l)
	if len(earlier) != 1 || len(later) != 1 {
		return regular.NotProven
	}
	e, also := earlier[0].(*automaton.DFA)
	d, ok := later[0].(*automaton.DFA)
	if !ok || !also {
		return regular.NotProven
	}
	yes, proven := automaton.Included(d, e, nil)
	if !proven {
		return regular.NotProven
	}
	return answer(yes)
}

// coversValues tries every literal of const and enum.
func coversValues(m, l *match.Matcher) regular.Answer {
	for _, text := range l.Written() {
		if !m.Match([]byte(text)) {
			return regular.No
		}
	}
	v := l.Values()
	missed := v.IsTrue && !m.Values().IsTrue || v.IsFalse && !m.Values().IsFalse ||
		slices.ContainsFunc(v.Numbers, func(d jsonstream.Decimal) bool { return !m.Values().Number(d) })
	for text := range v.Objects {
		missed = missed || !m.Values().Objects[text]
	}
	return answer(!missed)
}

// coversRange compares two ranges that are open at one side.
func coversRange(m, l *match.Matcher) regular.Answer {
	lower := func(k condition.Kind) bool { return k == condition.Minimum || k == condition.ExclusiveMinimum }
	e, v := m.Values(), l.Values()
	if e.Bound == "" || lower(e.Bound) != lower(v.Bound) {
		return regular.No
	}
	inward := v.Limit.Cmp(e.Limit) // from l's end into e's range
	if !lower(e.Bound) {
		inward = -inward
	}
	eOpen := e.Bound == condition.ExclusiveMinimum || e.Bound == condition.ExclusiveMaximum
	lOpen := v.Bound == condition.ExclusiveMinimum || v.Bound == condition.ExclusiveMaximum
	switch {
	case inward > 0 || inward == 0 && (lOpen || !eOpen):
		return regular.Yes
	case l.Fits()&schema.Number != 0:
		return regular.No
	}
	first, ok := v.Limit.Int64() // the outermost integer of l
	if !ok || first == math.MaxInt64 || first == math.MinInt64 {
		return regular.NotProven
	}
	switch {
	case lOpen && lower(v.Bound):
		first++
	case lOpen:
		first--
	}
	d, err := jsonstream.ParseDecimal(strconv.AppendInt(nil, first, 10))
	return answer(err == nil && e.Number(d))
}

// coversPatterns compares patterns by their text only.
func coversPatterns(m, l *match.Matcher) regular.Answer {
	if m.Kind() != condition.Pattern {
		return regular.NotProven
	}
	for _, text := range l.Written() {
		if !slices.Contains(m.Written(), text) {
			return regular.NotProven
		}
	}
	return regular.Yes
}

// coversCommands compares conditions that are judged command by command: of lines
// whose words are plain, whatever else the line has.
func coversCommands(m, l *match.Matcher) regular.Answer {
	if m.Kind() == l.Kind() && m.Restrictive() == l.Restrictive() && redirects(m) == redirects(l) && written(l, m) {
		return regular.Yes
	}
	earlier, ok := m.Test().(*commandline.Test)
	later, also := l.Test().(*commandline.Test)
	switch {
	case !ok || !also:
		return regular.NotProven // the length of a line, and paths, do not restrict its commands
	case !earlier.Restrictive && (later.ReadsJudged && !earlier.ReadsJudged || later.WritesJudged && !earlier.WritesJudged):
		return regular.NotProven // the later one also holds for commands with redirections
	case m.Kind() == l.Kind() && l.Kind() != condition.Usage && written(l, m):
		return regular.Yes
	case l.Kind() == condition.Prefix && (m.Kind() == condition.Const || m.Kind() == condition.Enum):
		return regular.No
	case l.Kind() != condition.Const && l.Kind() != condition.Enum && (l.Kind() != condition.Prefix || m.Kind() != condition.Prefix):
		return regular.NotProven
	}
	for _, text := range l.Written() {
		if !shell.Simple([]byte(text)) {
			return regular.NotProven // it may be several commands, which are evaluated separately
		}
	}
	return coversValues(m, l)
}

// redirects returns which redirections another condition of the rule evaluates.
func redirects(m *match.Matcher) [2]bool {
	if test, ok := m.Test().(*commandline.Test); ok {
		return test.Redirects()
	}
	return [2]bool{}
}

// written reports whether one condition has no literal that another one lacks.
func written(l, m *match.Matcher) bool {
	return !slices.ContainsFunc(l.Written(), func(text string) bool { return !slices.Contains(m.Written(), text) })
}

// coversURL compares URLs by their parts.
func coversURL(m, l *match.Matcher) regular.Answer {
	switch {
	case l.Kind() == condition.Prefix && (m.Kind() == condition.Prefix || m.Kind() == condition.Host || m.Kind() == condition.Scheme):
		for _, text := range l.Written() {
			if !m.Match([]byte(text)) {
				return regular.No
			}
		}
		return regular.Yes
	case l.Kind() == condition.Scheme && m.Kind() == condition.Scheme, l.Kind() == condition.Host && m.Kind() == condition.Host:
		earlier, later := m.Test().(*weburl.Test), l.Test().(*weburl.Test)
		for _, want := range later.Literals {
			if !slices.ContainsFunc(earlier.Literals, func(have weburl.UrlLiteral) bool { return have.Covers(want, earlier.Restrictive) }) {
				return regular.No
			}
		}
		return regular.Yes
	}
	return regular.NotProven
}

// coversLanguage compares the sets of conditions on strings and paths: inclusion of automata, on
// canonical paths if they are paths.
func coversLanguage(m, l *match.Matcher) regular.Answer {
	switch {
	case !namesStrings(m.Kind()) || !namesStrings(l.Kind()):
		return regular.NotProven
	case m.Annotation() == schema.Path && m.Kind() == condition.Prefix && l.Kind() == condition.Prefix:
		return coversDirectories(m, l)
	}
	earlier, later := language(m, m.Restrictive()), language(l, m.Restrictive())
	if earlier == nil || later == nil {
		return regular.NotProven
	}
	var domain *automaton.DFA
	if m.Annotation() == schema.Path {
		domain = pathname.CanonicalPaths(true)
	}
	yes, proven := automaton.Included(later, earlier, domain)
	if !proven || !yes && domain != nil && (leavesRoot(m) || leavesRoot(l)) {
		return regular.NotProven // one path can be named in two ways
	}
	return answer(yes)
}

// namesStrings reports whether the literals of a kind name the strings that satisfy it. Of every
// other kind, also of one that this package does not know, nothing is proved here.
func namesStrings(k condition.Kind) bool {
	switch k {
	case condition.Const, condition.Enum, condition.Prefix, condition.Suffix, condition.Glob:
		return true
	}
	return false
}

// coversDirectories: a directory is covered if it is in a covering one.
func coversDirectories(m, l *match.Matcher) regular.Answer {
	for _, text := range l.Written() {
		if m.Match([]byte(text)) {
			continue
		}
		if !m.Restrictive() && !pathform.IsPlain([]byte(text)) {
			return regular.NotProven
		}
		return regular.No
	}
	return regular.Yes
}

// leavesRoot reports whether a literal is not relative to the root.
func leavesRoot(m *match.Matcher) bool {
	return slices.ContainsFunc(m.Written(), func(text string) bool { return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") })
}

// language builds the automaton of the paths or strings that the literals name, without the
// additional spellings of restrictive conditions; nil if it is too large.
func language(m *match.Matcher, folded bool) *automaton.DFA {
	if m.Annotation() == schema.Path {
		return pathname.Automaton(m.Kind(), m.Written(), m.Env(), m.Restrictive(), folded)
	}
	n := automaton.New()
	for _, text := range m.Written() {
		_ = plaintext.AddString(n, m.Kind(), text) // compiled before
	}
	return n.Compile().DFA()
}
