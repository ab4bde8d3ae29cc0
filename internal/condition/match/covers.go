package match

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/jsonstream"
)

// Answer is the result of an analysis.
type Answer uint8

// The zero Answer means unknown.
const (
	NotProven Answer = iota
	Yes
	No
)

// String returns the name of the answer.
func (a Answer) String() string { return [...]string{"not proven", "yes", "no"}[a] }

// answer converts a proof to an answer.
func answer(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// Covers reports whether every plainly written value that satisfies later also satisfies earlier.
// Yes and No are proven for plainly written values; disguised spellings, which only restrictive
// conditions match, are excluded: for command lines, those that are no lists of plain words. A
// restrictive earlier condition covers under the folds of its type (K47).
func Covers(earlier, later *Matcher) Answer {
	e, l := earlier, later
	switch {
	case e.annotation != l.annotation:
		return NotProven
	case e.kind == condition.Present || l.kind == condition.Present:
		if e.kind != l.kind || e.want != l.want {
			return No
		}
		return answer(!e.value || l.value)
	case e.kind == condition.Outside || l.kind == condition.Outside:
		if e.kind == l.kind && written(e, l) {
			return Yes // fewer allowed paths, more paths outside
		}
		return NotProven
	case l.annotation == schema.Patch:
		return NotProven
	case walked(e.text) || walked(l.text):
		return e.coversWalked(l)
	case l.annotation == schema.Command && l.text != nil && l.kind != condition.MaxLength:
		return e.coversCommands(l)
	case l.kind == condition.Const || l.kind == condition.Enum:
		return e.coversValues(l)
	case l.fits&e.fits == 0:
		return No
	}
	switch l.kind {
	case condition.Minimum, condition.Maximum, condition.ExclusiveMinimum, condition.ExclusiveMaximum:
		return e.coversRange(l)
	case condition.MinItems:
		return answer(e.kind == condition.MinItems && e.values.Count <= l.values.Count)
	case condition.MaxItems:
		return answer(e.kind == condition.MaxItems && e.values.Count >= l.values.Count)
	case condition.MaxLength:
		if e.kind != condition.MaxLength {
			return NotProven
		}
		return answer(e.values.Count >= l.values.Count)
	case condition.Pattern:
		return e.coversPatterns(l)
	}
	if l.annotation == schema.URL {
		return e.coversURL(l)
	}
	return e.coversLanguage(l)
}

func walked(t condition.TextTest) bool { _, ok := t.(condition.WalkedTest); return ok }

// coversWalked compares the automata of two conditions of one kind that is a package of its own.
func (m *Matcher) coversWalked(l *Matcher) Answer {
	if m.kind != l.kind {
		if l.kind == condition.Const || l.kind == condition.Enum {
			return m.coversValues(l)
		}
		return NotProven
	}
	earlier, later := m.Walkers(), l.Walkers()
	if len(earlier) != 1 || len(later) != 1 {
		return NotProven
	}
	e, also := earlier[0].(*automaton.DFA)
	d, ok := later[0].(*automaton.DFA)
	if !ok || !also {
		return NotProven
	}
	yes, proven := automaton.Included(d, e, nil)
	if !proven {
		return NotProven
	}
	return answer(yes)
}

// coversValues tries every literal of const and enum.
func (m *Matcher) coversValues(l *Matcher) Answer {
	for _, text := range l.written {
		if !m.Match([]byte(text)) {
			return No
		}
	}
	v := &l.values
	missed := v.IsTrue && !m.values.IsTrue || v.IsFalse && !m.values.IsFalse ||
		slices.ContainsFunc(v.Numbers, func(d jsonstream.Decimal) bool { return !m.values.Number(d) })
	for text := range v.Objects {
		missed = missed || !m.values.Objects[text]
	}
	return answer(!missed)
}

// coversRange compares two ranges that are open at one side.
func (m *Matcher) coversRange(l *Matcher) Answer {
	lower := func(k condition.Kind) bool { return k == condition.Minimum || k == condition.ExclusiveMinimum }
	e, v := &m.values, &l.values
	if e.Bound == "" || lower(e.Bound) != lower(v.Bound) {
		return No
	}
	inward := v.Limit.Cmp(e.Limit) // from l's end into e's range
	if !lower(e.Bound) {
		inward = -inward
	}
	eOpen := e.Bound == condition.ExclusiveMinimum || e.Bound == condition.ExclusiveMaximum
	lOpen := v.Bound == condition.ExclusiveMinimum || v.Bound == condition.ExclusiveMaximum
	switch {
	case inward > 0 || inward == 0 && (lOpen || !eOpen):
		return Yes
	case l.fits&schema.Number != 0:
		return No
	}
	first, ok := v.Limit.Int64() // the outermost integer of l
	if !ok || first == math.MaxInt64 || first == math.MinInt64 {
		return NotProven
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
func (m *Matcher) coversPatterns(l *Matcher) Answer {
	if m.kind != condition.Pattern {
		return NotProven
	}
	for _, text := range l.written {
		if !slices.Contains(m.written, text) {
			return NotProven
		}
	}
	return Yes
}

// coversCommands compares conditions that are judged command by command: of lines
// whose words are plain, whatever else the line has.
func (m *Matcher) coversCommands(l *Matcher) Answer {
	if m.kind == l.kind && m.restrictive == l.restrictive && m.redirects() == l.redirects() && written(l, m) {
		return Yes
	}
	earlier, ok := m.text.(*commandline.Test)
	later, also := l.text.(*commandline.Test)
	switch {
	case !ok || !also:
		return NotProven // the length of a line, and paths, do not restrict its commands
	case !earlier.Restrictive && (later.ReadsJudged && !earlier.ReadsJudged || later.WritesJudged && !earlier.WritesJudged):
		return NotProven // the later one also holds for commands with redirections
	case m.kind == l.kind && l.kind != condition.Usage && written(l, m):
		return Yes
	case l.kind == condition.Prefix && (m.kind == condition.Const || m.kind == condition.Enum):
		return No
	case l.kind != condition.Const && l.kind != condition.Enum && (l.kind != condition.Prefix || m.kind != condition.Prefix):
		return NotProven
	}
	for _, text := range l.written {
		if !shell.Simple([]byte(text)) {
			return NotProven // it may be several commands, which are evaluated separately
		}
	}
	return m.coversValues(l)
}

// redirects returns which redirections another condition of the rule evaluates.
func (m *Matcher) redirects() [2]bool {
	if test, ok := m.text.(*commandline.Test); ok {
		return test.Redirects()
	}
	return [2]bool{}
}

// written reports whether one condition has no literal that another one lacks.
func written(l, m *Matcher) bool {
	return !slices.ContainsFunc(l.written, func(text string) bool { return !slices.Contains(m.written, text) })
}

// coversURL compares URLs by their parts.
func (m *Matcher) coversURL(l *Matcher) Answer {
	switch {
	case l.kind == condition.Prefix && (m.kind == condition.Prefix || m.kind == condition.Host || m.kind == condition.Scheme):
		for _, text := range l.written {
			if !m.Match([]byte(text)) {
				return No
			}
		}
		return Yes
	case l.kind == condition.Scheme && m.kind == condition.Scheme, l.kind == condition.Host && m.kind == condition.Host:
		earlier, later := m.text.(*weburl.Test), l.text.(*weburl.Test)
		for _, want := range later.Literals {
			if !slices.ContainsFunc(earlier.Literals, func(have weburl.UrlLiteral) bool { return have.Covers(want, earlier.Restrictive) }) {
				return No
			}
		}
		return Yes
	}
	return NotProven
}

// coversLanguage compares the sets of conditions on strings and paths: inclusion of automata, on
// canonical paths if they are paths.
func (m *Matcher) coversLanguage(l *Matcher) Answer {
	switch {
	case m.kind == condition.Pattern || m.kind == condition.MaxLength:
		return NotProven
	case m.annotation == schema.Path && m.kind == condition.Prefix && l.kind == condition.Prefix:
		return m.coversDirectories(l)
	}
	earlier, later := m.language(m.restrictive), l.language(m.restrictive)
	if earlier == nil || later == nil {
		return NotProven
	}
	var domain *automaton.DFA
	if m.annotation == schema.Path {
		domain = pathname.CanonicalPaths(true)
	}
	yes, proven := automaton.Included(later, earlier, domain)
	if !proven || !yes && domain != nil && (m.leavesRoot() || l.leavesRoot()) {
		return NotProven // one path can be named in two ways
	}
	return answer(yes)
}

// coversDirectories: a directory is covered if it is in a covering one.
func (m *Matcher) coversDirectories(l *Matcher) Answer {
	for _, text := range l.written {
		if m.Match([]byte(text)) {
			continue
		}
		if !m.restrictive && !pathform.IsPlain([]byte(text)) {
			return NotProven
		}
		return No
	}
	return Yes
}

// leavesRoot reports whether a literal is not relative to the root.
func (m *Matcher) leavesRoot() bool {
	return slices.ContainsFunc(m.written, func(text string) bool { return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") })
}

// language builds the automaton of the paths or strings that the literals name, without the
// additional spellings of restrictive conditions; nil if it is too large.
func (m *Matcher) language(folded bool) *automaton.DFA {
	if m.annotation == schema.Path {
		return pathname.Automaton(m.kind, m.written, m.env, m.restrictive, folded)
	}
	n := automaton.New()
	for _, text := range m.written {
		_ = plaintext.AddString(n, m.kind, text) // compiled before
	}
	return n.Compile().DFA()
}
