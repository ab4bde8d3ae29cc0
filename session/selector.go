package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
)

// Selector is a set of tools: names, and globs over names (TPS-05, TPS-26). The zero Selector
// selects no tool, and a registry refuses a policy with it (H10).
type Selector struct {
	exact []stopgate.ToolName
	globs []*glob.Name
	texts []string
	err   error
}

// Select returns the selector of names and globs; [Selector.Err] returns their errors.
func Select(tools ...string) Selector {
	var s Selector
	for _, text := range tools {
		name, err := glob.ParseName(text)
		switch {
		case text == "":
			s.err = errors.Join(s.err, errors.New("an empty tool name"))
			continue
		case err != nil:
			s.err = errors.Join(s.err, fmt.Errorf("tool %q: %w", text, err))
			continue
		}
		if slices.Contains(s.texts, text) {
			continue
		}
		s.texts = append(s.texts, text)
		if literal, exact := name.LiteralPrefix(); exact {
			s.exact = append(s.exact, stopgate.ToolName(literal))
		} else {
			s.globs = append(s.globs, name)
		}
	}
	return s
}

// Or returns the selector of both sets.
func (s Selector) Or(o Selector) Selector {
	both := Select(append(slices.Clone(s.texts), o.texts...)...)
	both.err = errors.Join(s.err, o.err)
	return both
}

// Literal reports whether the selector is one name without wildcards.
func (s Selector) Literal() bool { return len(s.exact) == 1 && len(s.texts) == 1 }

// Match reports whether the selector selects a tool.
func (s Selector) Match(tool stopgate.ToolName) bool {
	if slices.Contains(s.exact, tool) {
		return true
	}
	for _, g := range s.globs {
		if g.Match(string(tool)) {
			return true
		}
	}
	return false
}

// Empty reports whether no tool is selected.
func (s Selector) Empty() bool { return len(s.texts) == 0 }

// Err returns the errors of invalid names and globs.
func (s Selector) Err() error { return s.err }

// Names returns the names and globs as they were given to [Select].
func (s Selector) Names() []string { return slices.Clone(s.texts) }
