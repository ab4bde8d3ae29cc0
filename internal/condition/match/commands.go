package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// JudgeCommand evaluates the condition for one simple command of the string, by its index (K29).
// Conditions that do not work on commands evaluate the complete string.
func (m *Matcher) JudgeCommand(v *condition.Value, i int) bool {
	test, ok := m.text.(condition.LineTest)
	if !ok || !v.Valid() || len(v.Text()) > condition.Budget {
		return m.Judge(v)
	}
	return test.Command(v, i)
}

// NamesCommand reports whether the words of one simple command satisfy a condition: without the
// commands that it runs, and without the line as written.
func (m *Matcher) NamesCommand(v *condition.Value, i int) bool {
	test, ok := m.text.(condition.LineTest)
	return ok && test.Names(v, i)
}

// JudgesCommands reports whether the condition is evaluated command by command.
func (m *Matcher) JudgesCommands() bool { _, ok := m.text.(condition.LineTest); return ok }

// WithRedirects returns the matcher with [condition.Target.ReadsJudged] and WritesJudged set: other
// conditions of its rule evaluate these redirections.
func (m *Matcher) WithRedirects(readsJudged, writesJudged bool) *Matcher {
	test, ok := m.text.(condition.LineTest)
	if !ok {
		return m
	}
	with := test.WithRedirects(readsJudged, writesJudged)
	if with == test {
		return m
	}
	other := *m
	other.text = with
	return &other
}

// Suspects finds the word because of which the condition holds for a command line, for
// explanations: a word that is such a file as written, or else one that may become it. It returns
// false if there is no such single word.
func (m *Matcher) Suspects(v *condition.Value) (found condition.Suspect, ok bool) {
	if test, is := m.text.(condition.LineTest); is {
		return test.Suspect(v)
	}
	return found, false
}

// Sweeps reports whether a guard on paths could match a file that a command line reads without
// naming it, in a directory that it reads completely, or could stop matching one in a directory
// that it renames. The disk is not consulted: it is enough that there may be such a file. Matches
// of wildcards count too, also if complete directories do not.
func (m *Matcher) Sweeps(v *condition.Value) bool {
	test, ok := m.text.(condition.LineTest)
	return ok && test.Sweeps(v)
}

// JudgesSweeps reports whether Sweeps can be true for any value.
func (m *Matcher) JudgesSweeps() bool {
	test, ok := m.text.(condition.LineTest)
	return ok && test.Sweeping()
}

// MayBeUnknown reports whether Unknown can be non-zero for any value.
func (m *Matcher) MayBeUnknown() bool {
	test, ok := m.text.(condition.UnknownTest)
	return ok && test.MayBeUnknown()
}

// Unknown returns the unknown facts of the paths that a restrictive condition evaluates. The
// condition is evaluated for the known readings; the rest requires an approval.
func (m *Matcher) Unknown(v *condition.Value) condition.Unknown {
	test, ok := m.text.(condition.UnknownTest)
	switch {
	case !ok || !test.MayBeUnknown():
		return condition.Known
	case !v.Valid():
		return condition.UnknownReading
	case m.exceeds(v.Text()):
		return condition.Known // the condition holds; see [Matcher.Exceeds]
	}
	return test.Unknown(v)
}

// ReadsLike reports whether two matchers have the same unknown facts for every value.
func (m *Matcher) ReadsLike(other *Matcher) bool {
	test, ok := m.text.(condition.UnknownTest)
	return ok && test.ReadsAs(other.text)
}

// Exceeds reports whether the length of a string decided the condition instead of its content: the
// command line or the patch is longer than [condition.Budget], or the path has readings that are
// too long to list, and none of the others satisfies the restrictive condition. The verdict's code
// is then matcher_budget.
func (m *Matcher) Exceeds(v *condition.Value) bool {
	if !v.Valid() {
		return false
	}
	if m.exceeds(v.Text()) {
		return true
	}
	test, ok := m.text.(condition.UnknownTest)
	return ok && test.ExceedsBy(v)
}

// exceeds reports whether a string is of a kind that is parsed, and too long for it.
func (m *Matcher) exceeds(text []byte) bool {
	return len(text) > condition.Budget && (m.annotation == schema.Command || m.annotation == schema.Patch)
}
