package agent

import (
	"fmt"
	"io"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/config"
)

// renew reads the policy again, because its bundle is another one or too old, and brings it into force for
// the calls that follow. Settings of the tables [agent], [mcp.servers] and [approvals] stay.
func (r *agentRun) renew(g *gate.Gate, notice func(string)) error {
	r.swap.Lock()
	defer r.swap.Unlock()
	r.flags.Again = true
	l, err := r.flags.LoadAt(io.Discard, r.optionsOf)
	if err != nil {
		return err
	}
	if err := service.SameFiles(r.Set, l.Set); err != nil {
		return err
	}
	if err := g.Swap(l.Program); err != nil {
		return err
	}
	before := r.Set.Rollout
	r.Set, r.Tools = l.Set, l.Tools
	r.current.Store(l.Program)
	if text := rolledOut(before, l.Set.Rollout); text != "" {
		notice(text)
	}
	return nil
}

// rolledOut describes what changed with the bundle, "" for nothing.
func rolledOut(before, now *config.Rollout) string {
	switch {
	case before == nil || now == nil:
		return ""
	case now.Stale && !before.Stale:
		return "the policy bundle is too old, and its channel cannot be reached: every call is denied"
	case now.Bundle.Digest != before.Bundle.Digest:
		return fmt.Sprintf("the policy bundle of generation %d is in force", now.Bundle.Generation)
	case before.Stale && !now.Stale:
		return "the channel of the policy bundle is good again: its rules are in force"
	}
	return ""
}

// toolNames returns the names of tools in the policy that is in force.
func (r *agentRun) toolNames() map[stopgate.ToolName]stopgate.ToolName {
	return r.current.Load().ToolNames()
}
