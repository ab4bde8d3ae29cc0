package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// JudgeCommand evaluates the condition for one simple command of the string, by its index (K29).
// Conditions that do not work on commands evaluate the complete string.
func (m *Matcher) JudgeCommand(v *Value, i int) bool {
	test, ok := m.text.(commandline.CommandJudge)
	if !ok || !v.Valid() || len(v.Text()) > condition.Budget {
		return m.Judge(v)
	}
	return test.Command(v.AsLine(), i)
}

// NamesCommand reports whether the words of one simple command satisfy a condition: without the
// commands that it runs, and without the line as written.
func (m *Matcher) NamesCommand(v *Value, i int) bool {
	test, ok := m.text.(commandline.CommandJudge)
	return ok && test.Names(v.AsLine(), i)
}

// JudgesCommands reports whether the condition is evaluated command by command.
func (m *Matcher) JudgesCommands() bool { _, ok := m.text.(commandline.CommandJudge); return ok }

// WithRedirects returns the matcher with [Target.ReadsJudged] and WritesJudged set: other
// conditions of its rule evaluate these redirections.
func (m *Matcher) WithRedirects(readsJudged, writesJudged bool) *Matcher {
	test, ok := m.text.(*commandline.Test)
	if !ok || test.Redirects() == [2]bool{readsJudged, writesJudged} {
		return m
	}
	other := *m
	other.text = test.WithRedirects(readsJudged, writesJudged)
	return &other
}

// Suspects finds the word because of which the condition holds for a command line, for
// explanations: a word that is such a file as written, or else one that may become it. It returns
// false if there is no such single word.
func (m *Matcher) Suspects(v *Value) (found commandline.Suspect, ok bool) {
	if t, is := m.text.(*commandline.PathTest); is {
		return t.SuspectWord(v.AsLine())
	}
	return found, false
}

// Sweeps reports whether a guard on paths could match a file that a command line reads without
// naming it, in a directory that it reads completely, or could stop matching one in a directory
// that it renames. The disk is not consulted: it is enough that there may be such a file. Matches
// of wildcards count too, also if complete directories do not.
func (m *Matcher) Sweeps(v *Value) bool {
	t, ok := m.text.(*commandline.PathTest)
	return ok && t.SweepsLine(v.AsLine())
}

// JudgesSweeps reports whether Sweeps can be true for any value.
func (m *Matcher) JudgesSweeps() bool {
	t, ok := m.text.(*commandline.PathTest)
	return ok && t.Restrictive
}

// Keys returns the programs or hosts of a condition on commands or URLs, by which an index selects
// conditions. A value with a key ([Value.Key]) satisfies the condition only if its key is one of
// these. Keys returns nil if they are unknown.
func (m *Matcher) Keys() []string {
	switch test := m.text.(type) {
	case *commandline.Test:
		return test.Keys(m.written)
	case *weburl.Test:
		return test.Keys()
	}
	return nil
}

// Key returns the key of the value: the program of a line that is one plain command, the host of a
// URL that is plainly written.
func (v *Value) Key(a schema.Annotation) (key string, ok bool) {
	switch a {
	case schema.Command:
		return v.Program()
	case schema.URL:
		return v.address.Key()
	}
	return "", false
}
