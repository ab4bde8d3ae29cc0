package gate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// one is a policy with one script for the tool "t".
func one(hash string, s gate.Script) *gate.ScriptedPolicy {
	return &gate.ScriptedPolicy{Hash: hash, Tools: map[stopgate.ToolName]gate.Script{"t": s}}
}

func says(m stopgate.Mode) gate.Script {
	v := decided(m)
	v.Code = stopgate.Code(m.String() + "_rule")
	return gate.Script{Steps: []gate.Step{{At: gate.AtEnd, Verdict: v}}}
}

// Proves S16, FM11: a call goes on under the policy it began with and must pass the
// one in force when it is released; the strictest wins, and an ask that nobody has
// been asked is stale.
func TestReloadWhileACallIsOpen(t *testing.T) {
	cleaning := says(stopgate.Unattended)
	cleaning.Cleaned = `{"other":1}`
	faulty := says(stopgate.Unattended)
	faulty.Panic = "Feed"
	for _, c := range []struct {
		name     string
		old, now *gate.ScriptedPolicy
		status   stopgate.Status
		code     stopgate.Code
		policy   string
	}{
		{"the same policy", one("p1", says(stopgate.Unattended)), one("p1", says(stopgate.Deny)), stopgate.Allowed, "unattended_rule", "p1"},
		{"allowed by both", one("p1", says(stopgate.Unattended)), one("p2", says(stopgate.Unattended)), stopgate.Allowed, "unattended_rule", "p1"},
		{"denied now", one("p1", says(stopgate.Unattended)), one("p2", says(stopgate.Deny)), stopgate.Denied, "deny_rule", "p2"},
		{"skipped now", one("p1", says(stopgate.Unattended)), one("p2", says(stopgate.Skip)), stopgate.Skipped, "skip_rule", "p2"},
		{"asked now", one("p1", says(stopgate.Unattended)), one("p2", says(stopgate.Ask)), stopgate.Denied, stopgate.CodeApprovalStale, "p2"},
		{"asked before and now", one("p1", says(stopgate.Ask)), one("p2", says(stopgate.Ask)), stopgate.Denied, stopgate.CodeApprovalStale, "p2"},
		{"asked before, free now", one("p1", says(stopgate.Ask)), one("p2", says(stopgate.Unattended)), stopgate.Allowed, "ask_rule", "p1"},
		{"denied before, free now", one("p1", says(stopgate.Deny)), one("p2", says(stopgate.Unattended)), stopgate.Denied, "deny_rule", "p1"},
		{"unknown now", one("p1", says(stopgate.Unattended)), &gate.ScriptedPolicy{Hash: "p2"}, stopgate.Denied, stopgate.CodePolicyNotConfigured, "p2"},
		{"undecided now", one("p1", says(stopgate.Unattended)), one("p2", gate.Script{}), stopgate.Denied, stopgate.CodeApprovalStale, "p2"},
		{"other bytes now", one("p1", says(stopgate.Unattended)), one("p2", cleaning), stopgate.Denied, stopgate.CodeApprovalStale, "p2"},
		{"a panic now", one("p1", says(stopgate.Unattended)), one("p2", faulty), stopgate.Denied, stopgate.CodePolicyError, "p2"},
		{"observed now", one("p1", says(stopgate.Unattended)), &gate.ScriptedPolicy{Hash: "p2", Observe: true}, stopgate.Allowed, "unattended_rule", "p1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec ports.Recorder
			g, err := gate.NewScripted(c.old, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(ports.Yes)))
			if err != nil {
				t.Fatal(err)
			}
			p := openCall(t, g, "t")
			p.Feed([]byte(`{"a":`))
			g.SwapScripted(c.now)
			p.Feed([]byte(`1}`))
			p.Close(stopgate.Ended)
			out, _ := p.Resolve(ctx)
			want(t, out, c.status, c.code)
			if row := rec.Decisions()[0]; row.Policy != c.policy {
				t.Errorf("the row names policy %s, want %s", row.Policy, c.policy)
			}
			if g.PolicyHash() != c.now.Hash {
				t.Errorf("in force: %s", g.PolicyHash())
			}
			reloads := rec.Events(stopgate.AuditReload)
			if changed := c.old.Hash != c.now.Hash; changed != (len(reloads) == 1) || changed && (reloads[0].Policy != "p2" || reloads[0].Cause != "before: p1") {
				t.Errorf("reload rows %+v", reloads)
			}
		})
	}
}

// A reload between the prompt and the answer takes the approval with it (H1).
func TestReloadWhileAsked(t *testing.T) {
	var g *gate.Gate
	g, err := gate.NewScripted(one("p1", says(stopgate.Ask)), answers(func(v gate.View) gate.Answer {
		g.SwapScripted(one("p2", says(stopgate.Ask)))
		return v.Approve("ann")
	}))
	if err != nil {
		t.Fatal(err)
	}
	want(t, decide(t, g, "t", `{}`), stopgate.Denied, stopgate.CodeApprovalStale)
}

// A nil program is no policy to change to.
func TestSwapToNothing(t *testing.T) {
	g := newGate(t)
	g.Swap(nil)
	if g.PolicyHash() != "policy-1" || !decide(t, g, "free", `{}`).Allowed() {
		t.Error("the policy is gone")
	}
}

// Bindings are made once for a tool, a definition and the constant facts of a call,
// and never shared across different ones (K0c, I13).
func TestBindingsAreCached(t *testing.T) {
	made := 0
	policy := tools()
	policy.Binds = func() { made++ }
	g, err := gate.NewScripted(policy)
	if err != nil {
		t.Fatal(err)
	}
	base := stopgate.Call{Tool: "free", Agent: "a", Principal: "p", Server: "s", Surface: stopgate.SurfaceMCP,
		Definition: &stopgate.ToolDefinition{Name: "free", Description: "d", Schema: []byte(`{}`)}, Args: []byte(`{}`)}
	calls := []stopgate.Call{base}
	for _, change := range []func(c *stopgate.Call, d *stopgate.ToolDefinition){
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Tool = "asked" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Agent = "b" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Principal = "q" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Server = "t" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Surface = stopgate.SurfaceHook },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { c.Definition = nil },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { d.Name = "fre" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { d.Name, d.Description = "freed", "" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { d.Description = "e" },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { d.Schema = []byte(`{ }`) },
		func(c *stopgate.Call, d *stopgate.ToolDefinition) { d.EmptyMeansNone = true },
	} {
		c, d := base, *base.Definition
		c.Definition = &d
		change(&c, &d)
		calls = append(calls, c)
	}
	for range 3 {
		for _, c := range calls {
			if _, err := g.Decide(ctx, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != len(calls) {
		t.Errorf("%d bindings for %d different calls", made, len(calls))
	}
}

// Proves FM14: what callers choose does not grow the cache without bound.
func TestTheCacheIsBounded(t *testing.T) {
	made := 0
	policy := tools()
	policy.Binds = func() { made++ }
	g, err := gate.NewScripted(policy)
	if err != nil {
		t.Fatal(err)
	}
	call := func(i int) {
		g.Decide(ctx, stopgate.Call{Tool: "free", Agent: stopgate.AgentName(fmt.Sprint(i)), Args: []byte(`{}`)})
	}
	call(-1)
	for i := range 5 * gate.Generation {
		call(i)
		call(-1) // in use all the time: never forgotten
	}
	if made != 5*gate.Generation+1 {
		t.Errorf("%d bindings made", made)
	}
	before := made
	call(0) // long unused: forgotten
	if made != before+1 {
		t.Errorf("%d bindings made for a forgotten one", made-before)
	}
	before = made
	for range 3 { // a name of any length is judged, but not kept
		g.Decide(ctx, stopgate.Call{Tool: "free", Agent: stopgate.AgentName(make([]byte, 5000)), Args: []byte(`{}`)})
	}
	if made != before+3 {
		t.Errorf("%d bindings made for a long name", made-before)
	}
}

// Proves X1, K38, S31: in observe mode every call passes as it came, nobody is
// asked, and the row says what would have been.
func TestObserveMode(t *testing.T) {
	for _, c := range []struct {
		tool   stopgate.ToolName
		args   string
		end    stopgate.End
		mode   stopgate.Mode
		code   stopgate.Code
		status stopgate.RecordStatus
	}{
		{"free", `{"a": 1}`, stopgate.Ended, stopgate.Unattended, stopgate.CodeRuleMatched, stopgate.StatusObserved},
		{"asked", `{"a": 1}`, stopgate.Ended, stopgate.Ask, stopgate.CodeRuleMatched, stopgate.StatusObserved},
		{"denied", `{"a": 1}`, stopgate.Ended, stopgate.Deny, stopgate.CodeRuleMatched, stopgate.StatusObserved},
		{"skipped", `{"a": 1}`, stopgate.Ended, stopgate.Skip, stopgate.CodeRuleMatched, stopgate.StatusObserved},
		{"denied-early", `{"a": 1}`, stopgate.Ended, stopgate.Deny, stopgate.CodeRuleMatched, stopgate.StatusObserved},
		{"nobody-knows-it", `{"a": 1}`, stopgate.Ended, stopgate.Deny, stopgate.CodePolicyNotConfigured, stopgate.StatusObserved},
		{"free", `{"a": `, stopgate.Ended, stopgate.Deny, stopgate.CodeMalformedArguments, stopgate.StatusObserved},
		{"free", `{"a": `, stopgate.Truncated, stopgate.Deny, stopgate.CodeStreamTruncated, stopgate.StatusTruncated},
	} {
		t.Run(string(c.tool), func(t *testing.T) {
			policy := tools()
			policy.Observe = true
			policy.Mode = gate.DenyThrow
			var rec ports.Recorder
			never := func(context.Context, *gate.Question) (gate.Answer, error) {
				t.Error("somebody was asked")
				return gate.Answer{}, nil
			}
			g, err := gate.NewScripted(policy, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(never)),
				gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
					t.Error("the judge was asked")
					return gate.Opinion{}, nil
				}), stopgate.Deny))
			if err != nil {
				t.Fatal(err)
			}
			if g.Enforced() {
				t.Error("the gate says it enforces")
			}
			p := openCall(t, g, c.tool)
			if p.Enforced() {
				t.Error("the call says it is enforced")
			}
			for i := range len(c.args) {
				p.Feed([]byte(c.args[i : i+1]))
			}
			p.Close(c.end)
			if err := p.Ask(ctx); err != nil {
				t.Errorf("Ask: %v", err)
			}
			out, err := p.Resolve(ctx)
			if err != nil || !out.Allowed() || out.Enforced || string(out.Args) != c.args {
				t.Errorf("outcome %+v, %v", out, err)
			}
			if out.Verdict.Mode != c.mode || out.Verdict.Code != c.code {
				t.Errorf("would be %v, want %s %s", out.Verdict, c.mode, c.code)
			}
			row := rec.Decisions()[0]
			if *row.Enforced || row.Status != c.status || *row.Mode != c.mode || row.Code != c.code || row.ReleasedHash != "" {
				t.Errorf("row %+v", row)
			}
		})
	}
}

// Observe mode lets calls pass without a log; what is missing is counted.
func TestObserveModeWithoutALog(t *testing.T) {
	policy := tools()
	policy.Observe = true
	rec := &ports.Recorder{Fault: func(context.Context, int, *stopgate.Record) error { return errDisk }}
	store := &ports.Store{Memory: true}
	g, err := gate.NewScripted(policy, gate.WithRecorder(rec), gate.WithStore(store),
		gate.WithSessionPolicies(ports.Registry(objecting("p", "no", ""))))
	if err != nil {
		t.Fatal(err)
	}
	if out := decide(t, g, "free", `{}`); !out.Allowed() || out.Enforced || out.Verdict.Code != "no" {
		t.Errorf("outcome %+v", out)
	}
	if kinds := store.Kinds(session.Owner{Session: "s"}); g.Health().LostRows != 1 || !slices.Equal(kinds, []session.Kind{session.Released}) {
		t.Errorf("health %+v, facts %v", g.Health(), kinds)
	}
}

// A call that is given up in observe mode was not let through by anybody.
func TestObserveModeAndCancel(t *testing.T) {
	policy := tools()
	policy.Observe = true
	var rec ports.Recorder
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
	if err != nil {
		t.Fatal(err)
	}
	p := openCall(t, g, "free")
	p.Feed([]byte(`{}`))
	p.Cancel(ctx)
	if row := rec.Decisions()[0]; row.Status != stopgate.StatusCancelled || *row.Enforced {
		t.Errorf("row %+v", row)
	}
}

// Proves FM14: observe mode does not keep more of a call than the limit on
// arguments; the surface has the bytes.
func TestObserveModeIsBounded(t *testing.T) {
	policy := tools()
	policy.Observe = true
	g, err := gate.NewScripted(policy)
	if err != nil {
		t.Fatal(err)
	}
	p := openCall(t, g, "denied-early")
	p.Feed([]byte(`{"a":`))
	for range 17 {
		p.Feed(make([]byte, 1<<20))
	}
	p.Close(stopgate.Ended)
	if out, _ := p.Resolve(ctx); !out.Allowed() || out.Args != nil {
		t.Errorf("%s with %d bytes", out.Status, len(out.Args))
	}
}
