package policy

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/policy/syntax"
)

// lintSessions says which requirements wait for a success that nothing tells
// (DECISIONS S24): where the surface has no flag for it, as in Chat Completions, a
// result only says that the tool has finished, and the policy denies for ever.
func (c *checker) lintSessions() {
	for _, s := range c.policy.Sessions {
		if s.Type != syntax.SessionRequire || s.AcceptUnknown {
			continue
		}
		said := map[string]bool{}
		for _, tool := range s.Requires {
			name := tool
			if said[name] || c.tellsSuccess(name) {
				continue
			}
			said[name] = true
			c.report(diag.SuccessUnknown, s.Pos, fmt.Sprintf("the policy waits for the success of `%s`, and nothing says how its results tell it", name),
				fmt.Sprintf("write `success` into [tools.%s], or `accept_unknown = true` here; where the surface says it - MCP, Anthropic, hooks - neither is needed", tomltree.Key(name)))
		}
	}
}

// tellsSuccess reports whether a table says how the results of a tool, or of those a
// glob names, are read.
func (c *checker) tellsSuccess(name string) bool {
	for _, t := range c.policy.TablesFor(name) {
		if t.Success != nil {
			return true
		}
	}
	return false
}
