package gate_test

import (
	"context"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

const situationFile = `version = 1
[gate]
deny_mode = "tool_result"
[[guard]]
when = { session = "/frozen", const = true }
mode = "deny"
[tools.deploy.policy]
run = [
  { when = { session = "/mode", const = "incident" }, mode = "deny" },
  { when = { session = "/team", enum = ["ops", "release"], agent = "main" }, mode = "unattended" },
  { mode = "skip" },
]
`

// Proves K60, K0c, TPS-27: rules see the session's data as it was when the call was
// opened; what nobody knows restricts and does not permit.
func TestRulesOnSessions(t *testing.T) {
	const calm = `"frozen":false,"mode":"calm"`
	for _, c := range []struct {
		name, data string
		agent      stopgate.AgentName
		code       stopgate.Code
		status     stopgate.Status
	}{
		{"nothing was set", ``, "main", stopgate.CodeRuleMatched, stopgate.Denied},
		{"all is said", `{` + calm + `,"team":"ops"}`, "main", stopgate.CodeRuleMatched, stopgate.Allowed},
		{"another agent", `{` + calm + `,"team":"ops"}`, "sub", stopgate.CodeRuleSkipped, stopgate.Skipped},
		{"another team", `{` + calm + `,"team":"web"}`, "main", stopgate.CodeRuleSkipped, stopgate.Skipped},
		{"no team", `{` + calm + `}`, "main", stopgate.CodeRuleSkipped, stopgate.Skipped},
		{"null is no team", `{` + calm + `,"team":null}`, "main", stopgate.CodeRuleSkipped, stopgate.Skipped},
		{"one of two teams", `{` + calm + `,"team":["ops","web"]}`, "main", stopgate.CodeRuleSkipped, stopgate.Skipped},
		{"both teams", `{` + calm + `,"team":["ops","release"]}`, "main", stopgate.CodeRuleMatched, stopgate.Allowed},
		{"incident", `{"frozen":false,"mode":"incident","team":"ops"}`, "main", stopgate.CodeRuleMatched, stopgate.Denied},
		{"no mode", `{"frozen":false,"team":"ops"}`, "main", stopgate.CodeRuleMatched, stopgate.Denied},
		{"frozen", `{"frozen":true,"mode":"calm","team":"ops"}`, "main", stopgate.CodeRuleMatched, stopgate.Denied},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := fileGate(t, situationFile, gate.WithStore(mem.New()))
			if c.data != "" {
				if err := g.SetData(ctx, session.Owner{Session: "s"}, []byte(c.data)); err != nil {
					t.Fatal(err)
				}
			}
			out, err := g.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Agent: c.agent, Args: []byte(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			want(t, out, c.status, c.code)
		})
	}
}

// Proves K60: data that nobody can read permits nothing, and what changes while a call
// is open does not change its rules.
func TestDataInDoubt(t *testing.T) {
	good := []byte(`{"frozen":false,"mode":"calm","team":"ops"}`)
	call := stopgate.Call{Tool: "deploy", Session: "s", Agent: "main"}
	finish := func(p *gate.Pending) stopgate.Outcome {
		t.Helper()
		p.Feed([]byte(`{}`))
		p.Close(stopgate.Ended)
		out, err := p.Resolve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	open := func(g *gate.Gate, c stopgate.Call) *gate.Pending {
		t.Helper()
		p, err := g.Open(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	owner := session.Owner{Session: "s"}

	g := fileGate(t, situationFile, gate.WithStore(mem.New()))
	if err := g.SetData(ctx, owner, good); err != nil {
		t.Fatal(err)
	}
	before := open(g, call)
	if err := g.SetData(ctx, owner, []byte(`{"frozen":true}`)); err != nil {
		t.Fatal(err)
	}
	after := open(g, call)
	want(t, finish(before), stopgate.Allowed, stopgate.CodeRuleMatched)
	want(t, finish(after), stopgate.Denied, stopgate.CodeRuleMatched)

	if err := g.SetData(ctx, owner, good); err != nil {
		t.Fatal(err)
	}
	want(t, finish(open(g, stopgate.Call{Tool: "deploy", Agent: "main"})), stopgate.Denied, stopgate.CodeRuleMatched)
	want(t, finish(open(fileGate(t, situationFile), call)), stopgate.Denied, stopgate.CodeRuleMatched)

	broken := false
	store := &ports.Store{Fault: func(context.Context, string) error {
		if broken {
			return errDisk
		}
		return nil
	}}
	g = fileGate(t, situationFile, gate.WithStore(store), gate.WithLimits(gate.Limits{Store: time.Minute}))
	if err := g.SetData(ctx, owner, good); err != nil {
		t.Fatal(err)
	}
	want(t, finish(open(g, call)), stopgate.Allowed, stopgate.CodeRuleMatched)
	broken = true
	want(t, finish(open(g, call)), stopgate.Denied, stopgate.CodeRuleMatched)
}
