package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// Selector is a set of tools (TPS-05, TPS-26): names, and patterns such as the globs of
// policies.Select in package session/policies. The zero Selector selects no tool, and a
// registry refuses a policy with it (H10).
type Selector struct {
	names    []stopgate.ToolName
	patterns []func(stopgate.ToolName) bool
	texts    []string
	err      error
}

// Select returns the selector of tools by their names; [Selector.Err] returns the errors. A
// name with a wildcard is an error: policies.Select in package session/policies reads globs.
func Select(names ...string) Selector {
	var s Selector
	for _, name := range names {
		switch {
		case name == "":
			s.err = errors.Join(s.err, errors.New("an empty tool name"))
		case strings.ContainsAny(name, `*?[{}\`):
			s.err = errors.Join(s.err, fmt.Errorf("tool %q: a glob is not a name: use policies.Select of package session/policies", name))
		case !slices.Contains(s.texts, name):
			s.texts, s.names = append(s.texts, name), append(s.names, stopgate.ToolName(name))
		}
	}
	return s
}

// SelectMatch returns the selector of the tools that match reports, under the text of the
// pattern, or of an error of that text.
func SelectMatch(text string, match func(stopgate.ToolName) bool, err error) Selector {
	if err != nil {
		return Selector{err: err}
	}
	return Selector{texts: []string{text}, patterns: []func(stopgate.ToolName) bool{match}}
}

// Or returns the selector of both sets.
func (s Selector) Or(o Selector) Selector {
	return Selector{
		names: append(slices.Clone(s.names), o.names...), patterns: append(slices.Clone(s.patterns), o.patterns...),
		texts: append(slices.Clone(s.texts), slices.DeleteFunc(slices.Clone(o.texts), func(t string) bool { return slices.Contains(s.texts, t) })...),
		err:   errors.Join(s.err, o.err),
	}
}

// Literal reports whether the selector is one name.
func (s Selector) Literal() bool { return len(s.names) == 1 && len(s.texts) == 1 }

// Match reports whether the selector selects a tool.
func (s Selector) Match(tool stopgate.ToolName) bool {
	return slices.Contains(s.names, tool) || slices.ContainsFunc(s.patterns, func(match func(stopgate.ToolName) bool) bool { return match(tool) })
}

// Empty reports whether no tool is selected.
func (s Selector) Empty() bool { return len(s.texts) == 0 }

// Err returns the errors of invalid names and patterns.
func (s Selector) Err() error { return s.err }

// Names returns the texts of the names and patterns.
func (s Selector) Names() []string { return slices.Clone(s.texts) }
