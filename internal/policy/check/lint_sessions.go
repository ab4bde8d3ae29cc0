package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/session/policies"
)

// successes reports requirements for the success of a tool whose results do not show success
// (S24): if the protocol has no flag for it, as in Chat Completions, a result only means that
// the tool has finished, and the policy denies every call.
func (c *checker) successes() {
	for _, s := range c.File.Sessions {
		if s.Type != syntax.SessionRequire || s.AcceptUnknown {
			continue
		}
		reported := map[string]bool{}
		for _, tool := range s.Requires {
			name := tool
			if reported[name] || c.hasSuccess(name) {
				continue
			}
			reported[name] = true
			c.Report(diag.SuccessUnknown, s.Pos, fmt.Sprintf("the policy waits for the success of `%s`, and nothing says how its results tell it", name),
				fmt.Sprintf("write `success` into [tools.%s], or `accept_unknown = true` here; where the surface says it - MCP, Anthropic, hooks - neither is needed", tomltree.Key(name)))
		}
	}
}

// prerequisites notes that a requirement of several calls waits for all of them, because both
// readings are common (H9).
func (c *checker) prerequisites() {
	for _, s := range c.File.Sessions {
		if n := len(s.Requires) + len(s.Approvals); s.Type == syntax.SessionRequire && n > 1 && !s.Any && !s.AllWritten {
			c.Report(diag.AllRequired, s.Pos, fmt.Sprintf("the policy waits for all of its %d prerequisites", n),
				"write `require = \"all\"` to say so, or `require = \"any\"` where one is enough")
		}
	}
}

// scopes reports session policies that govern no known tool (H10), for example because of a
// misspelt name.
func (c *checker) scopes() {
	if c.File.Gate.UnknownTool != stopgate.Deny {
		return
	}
	known, all := c.knownNames()
	if !all {
		return
	}
	for _, s := range c.File.Sessions {
		if s.Effects || s.Type == "" {
			continue
		}
		governed := slices.Concat(s.Before, s.WriteTools, s.Tools)
		if len(governed) == 0 && s.Type == syntax.SessionFlow {
			continue // reported by the parser
		}
		if len(governed) == 0 { // the default writers
			governed = policies.ReadBeforeWrite().Denies().Names()
		}
		if !slices.ContainsFunc(governed, func(name string) bool { return selects(name, known) }) {
			c.Report(diag.GovernsNothing, s.Pos, "the policy governs no tool that is known here: "+strings.Join(governed, ", "),
				"see the names of the tables [tools.NAME]; `--tools FILE` tells check of others")
		}
	}
}

// selects reports whether a name or glob is that of one of some tools.
func selects(text string, tools []string) bool {
	name, err := glob.ParseName(text)
	return err != nil || slices.ContainsFunc(tools, name.Match)
}

// hasSuccess reports whether a table declares how the results of a tool, or of the tools that a
// glob names, are read.
func (c *checker) hasSuccess(name string) bool {
	for _, t := range c.File.TablesFor(name) {
		if t.Success != nil {
			return true
		}
	}
	return false
}
