package gate_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// A requirement per principal or project accepts the success of another session, for as long as it
// lives: not of another principal, another project, or after a call that invalidates it.
func TestRequirementsAcrossSessions(t *testing.T) {
	require := func() *policies.Requirement {
		return policies.Require("deploy").After("read").Within(time.Hour).InvalidatedBy("mail").Named("r")
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	store := &ports.Store{Memory: true}
	open := func(p session.Policy) *bench {
		b := &bench{t: t, store: store, rec: new(ports.Recorder)}
		b.g = fileGate(t, "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.deploy.policy]\nrun = \"unattended\"\n[tools.read.policy]\nrun = \"unattended\"\n[tools.mail.policy]\nrun = \"unattended\"\n",
			gate.WithStore(store), gate.WithSessionPolicies(ports.Registry(p)), gate.WithClock(func() time.Time { return now }))
		return b
	}
	other := session.Owner{Principal: "ann", Session: "t"}
	for name, c := range map[string]struct {
		policy, later session.Policy
		owner         session.Owner
		after         func(*bench)
		allowed       bool
	}{
		"per session, the same":        {policy: require(), owner: sessionS, allowed: true},
		"per session, another":         {policy: require(), owner: other},
		"per principal, another":       {policy: require().PerPrincipal(), owner: other, allowed: true},
		"per principal, no session":    {policy: require().PerPrincipal(), owner: session.Owner{Principal: "ann"}, allowed: true},
		"per principal, another one":   {policy: require().PerPrincipal(), owner: session.Owner{Principal: "bob", Session: "t"}},
		"per principal, much later":    {policy: require().PerPrincipal(), owner: other, after: func(*bench) { now = now.Add(2 * time.Hour) }},
		"per principal, invalidated":   {policy: require().PerPrincipal(), owner: other, after: func(b *bench) { b.expect("mail", `{}`, "") }},
		"per project, the same":        {policy: require().PerProject("/p"), owner: other, allowed: true},
		"per project, another":         {policy: require().PerProject("/p"), later: require().PerProject("/q"), owner: other},
		"per project, not known":       {policy: require().PerProject(""), owner: other},
		"per project, known since":     {policy: require().PerProject(""), later: require().PerProject("/p"), owner: other},
		"per principal, was a project": {policy: require().PerProject("/p"), later: require().PerPrincipal(), owner: other},
	} {
		*store = ports.Store{Memory: true}
		b := open(c.policy)
		b.run("read", `{}`, "text")
		if c.after != nil {
			c.after(b)
		}
		if c.later == nil {
			c.later = c.policy
		}
		out := open(c.later).decideIn(c.owner, "deploy", `{}`)
		if out.Allowed() != c.allowed || !c.allowed && out.Verdict.Code != stopgate.CodePrerequisiteMissing {
			t.Errorf("%s: %v %s", name, out.Status, out.Verdict.Code)
		}
	}
	for _, wrong := range []session.Policy{
		policies.Require("deploy").After("read").PerPrincipal(),
		require().Approved("plan").PerProject("/p"),
	} {
		if err := session.NewRegistry().Register(wrong); err == nil {
			t.Errorf("%s is registered", wrong.Name())
		}
	}
}
