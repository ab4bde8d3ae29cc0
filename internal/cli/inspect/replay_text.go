package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/visible"
)

// text is the table for people: changes summed up by tool and verdicts.
func (r *replayJSON) text() string {
	type group struct {
		change replayChange // the first of them
		calls  int
	}
	type key struct {
		tool       stopgate.ToolName
		was, would stopgate.Mode
		code       stopgate.Code
		rule       dryrun.Rule
	}
	var order []key
	groups := map[key]*group{}
	for _, c := range r.Changes {
		k := key{tool: c.Tool, was: c.Was.Mode, would: c.Would.Mode, code: c.Would.Code}
		if c.Would.Rule != nil {
			k.rule = *c.Would.Rule
		}
		if groups[k] == nil {
			groups[k] = &group{change: c}
			order = append(order, k)
		}
		groups[k].calls++
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(groups[b].calls, groups[a].calls) })
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d calls judged again: %d loosened, %d tightened\n", r.Replayed, r.Calls, r.Loosened, r.Tightened)
	if len(order) > 0 {
		fmt.Fprintf(&b, "  %5s  %-20s %-11s %-11s %s\n", "calls", "tool", "was", "would be", "why, and the first of them")
	}
	for _, k := range order {
		g := groups[k]
		why := string(k.code)
		if k.rule != (dryrun.Rule{}) {
			why += fmt.Sprintf(" %s:%d", visible.Text(k.rule.File), k.rule.Line)
		}
		fmt.Fprintf(&b, "  %5d  %-20s %-11s %-11s %s, %s\n", g.calls, visible.Text(string(k.tool)), k.was, k.would, why, visible.Text(string(g.change.ID)))
	}
	if r.Incomplete > 0 {
		fmt.Fprintf(&b, "judged again without all that was known then: %d, the first of them %s\n", r.Incomplete, visible.Text(r.incomplete))
	}
	reasons := make([]string, 0, len(r.Unreplayable))
	for reason := range r.Unreplayable {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		fmt.Fprintf(&b, "not replayable: %d, %s\n", r.Unreplayable[reason], reason)
	}
	return b.String()
}
