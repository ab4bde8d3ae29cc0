package operate

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/policy"
)

// scopes reports how many tools with a table each session policy governs: one that governs none
// may have a mistake, or be for tools that come later (H10).
func scopes(p *policy.Program) (lines []string) {
	registry, err := p.Sessions()
	if err != nil {
		return nil // the gate has refused it
	}
	for _, s := range registry.Set().All() {
		n, which := 0, s.Tools()
		for name := range p.Tools() {
			if which.Match(name) {
				n++
			}
		}
		lines = append(lines, fmt.Sprintf("session policy %s governs %s of the policy file", s.Name(), cli.Count(n, "tool")))
	}
	return lines
}
