package hook_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// approves is a queue whose person approves, if one is there.
type approves struct{ present bool }

func (q approves) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: q.present}
}

func (q approves) Approve(ctx context.Context, question *gate.Question) (gate.Answer, error) {
	view, err := question.Complete(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	return view.Approve("ann"), nil
}

// Proves S33: a call without effects needs an approval only if a session policy asks. Where the host
// cannot ask, the queue does.
func TestSessionPolicyAsksAboutHarmlessCalls(t *testing.T) {
	p := program(t, `
version = 1
[tools.test]
policy.run = "unattended"
[[session]]
type = "require"
mode = "ask"
before = ["update_plan"]
requires = ["test"]
`)
	for _, c := range []struct {
		name     string
		queue    gate.Approver
		policies bool
		want     string
	}{
		{"a person answers", approves{true}, true, runs},
		{"the queue has no person", approves{false}, true, blocks},
		{"there is no queue", nil, true, blocks},
	} {
		h := host(t, "codex")
		open := func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
			a := h.Approver(e, c.queue)
			g, err := gate.New(p, gate.WithApprover(a), gate.WithStore(new(ports.Store)), gate.WithDenyMode(gate.DenyToolResult))
			return &hook.Backend{Gate: g, Approver: a, ObservesResults: true, SessionPolicies: c.policies}, err
		}
		r := ask(t, h, hook.Options{Open: open}, event(h.Name, "update_plan", `{"plan":[]}`))
		if got := hostDoes(h.Name, r); got != c.want {
			t.Errorf("%s: the host %s: %s", c.name, got, r.Stdout)
		}
	}
}
