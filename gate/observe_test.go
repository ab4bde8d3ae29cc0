package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

func result(out stopgate.Outcome) stopgate.Result {
	return stopgate.Result{Proposal: out.Proposal, Call: "call_1", Session: "s", Tool: "t", Data: []byte("the data"), Observed: true}
}

// Proves K32, D25-43, G2-15: what a model gets of a result, by the result rules.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		mode      stopgate.Mode
		delivered bool
	}{
		{stopgate.Unattended, true}, {stopgate.Ask, false}, {stopgate.Edit, false}, {stopgate.Skip, false}, {stopgate.Deny, false},
	} {
		script := says(stopgate.Unattended)
		script.Result = decided(c.mode)
		var rec ports.Recorder
		g, err := gate.NewScripted(one("p", script), gate.WithRecorder(&rec))
		if err != nil {
			t.Fatal(err)
		}
		out := decide(t, g, "t", `{}`)
		d, err := g.Observe(ctx, result(out))
		if err != nil || d.Delivered() != c.delivered {
			t.Errorf("%s: %+v, %v", c.mode, d, err)
		}
		if c.delivered {
			if string(d.Data) != "the data" {
				t.Errorf("data %q", d.Data)
			}
		} else {
			var e map[string]any
			if err := json.Unmarshal(d.Data, &e); err != nil || e["status"] != "denied" || e["code"] != "result_withheld" || e["data"] != nil || len(e) != 4 {
				t.Errorf("%s: data %s", c.mode, d.Data)
			}
		}
		rows := rec.Events(stopgate.AuditResult)
		if len(rows) != 1 || rows[0].ID != out.Proposal || *rows[0].Mode != c.mode || rows[0].Cause != "observed" || rows[0].Tool != "t" {
			t.Errorf("%s: rows %+v", c.mode, rows)
		}
	}
}

// Proves H5, M36, X13: only the first result of a released call counts; a forged one
// changes nothing, not even the place of the real one.
func TestResultsOfNoReleasedCall(t *testing.T) {
	var rec ports.Recorder
	policy := one("p", says(stopgate.Unattended))
	policy.Tools["no"] = says(stopgate.Deny)
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
	if err != nil {
		t.Fatal(err)
	}
	out := decide(t, g, "t", `{}`)
	denied := decide(t, g, "no", `{}`)
	otherTool, otherSession := result(out), result(out)
	otherTool.Tool, otherSession.Session = "u", "r"
	for name, r := range map[string]stopgate.Result{
		"denied": result(denied), "unknown": {Proposal: "nope"}, "nothing": {}, "another tool's": otherTool, "another session's": otherSession,
	} {
		d, err := g.Observe(ctx, r)
		if !errors.Is(err, gate.ErrUnmatched) || d.Delivered() || string(d.Data) == "the data" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	real := result(out)
	real.Failed, real.Observed = true, false
	if d, err := g.Observe(ctx, real); err != nil || !d.Delivered() {
		t.Errorf("the real one: %+v, %v", d, err)
	}
	if d, err := g.Observe(ctx, real); !errors.Is(err, gate.ErrUnmatched) || d.Delivered() {
		t.Errorf("the second: %+v, %v", d, err)
	}
	if n := len(rec.Events(stopgate.AuditUnmatchedResult)); n != 6 {
		t.Errorf("%d rows of unmatched results", n)
	}
	if rows := rec.Events(stopgate.AuditResult); len(rows) != 1 || rows[0].Cause != "reported, failed" {
		t.Errorf("rows %+v", rows)
	}
}

// Proves FM14: results that never come do not fill the memory.
func TestResultsThatNeverCome(t *testing.T) {
	g, err := gate.NewScripted(one("p", says(stopgate.Unattended)))
	if err != nil {
		t.Fatal(err)
	}
	first := decide(t, g, "t", `{}`)
	var last stopgate.Outcome
	for range 3 * gate.Generation {
		last = decide(t, g, "t", `{}`)
	}
	if _, err := g.Observe(ctx, result(first)); !errors.Is(err, gate.ErrUnmatched) {
		t.Errorf("the oldest is still there: %v", err)
	}
	if _, err := g.Observe(ctx, result(last)); err != nil {
		t.Errorf("the youngest is gone: %v", err)
	}
}

// Proves FM16: a result that cannot be stored is said to have run; until an operator
// looked at the session, what session policies govern is denied there, and nowhere
// else.
func TestAResultThatCannotBeStored(t *testing.T) {
	var rec ports.Recorder
	broken := false
	store := &ports.Store{Fault: func(context.Context, string) error {
		if broken {
			return errDisk
		}
		return nil
	}}
	governs := ports.SessionPolicy{As: "p", For: []string{"t"}, Answer: func(session.View, session.Call) session.Decision { return session.Allow() }}
	policy := one("p", says(stopgate.Unattended))
	policy.Tools["free"] = policy.Tools["t"]
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec), gate.WithStore(store), gate.WithSessionPolicies(ports.Registry(governs)))
	if err != nil {
		t.Fatal(err)
	}
	out := decide(t, g, "t", `{}`)
	broken = true
	if _, err := g.Observe(ctx, result(out)); err == nil {
		t.Error("nobody was told")
	}
	if rows := rec.Events(stopgate.AuditResult); rows[0].Code != stopgate.CodeExecutedStateUnknown {
		t.Errorf("rows %+v", rows)
	}
	if !g.Health().Degraded() {
		t.Error("the gate is well")
	}
	want(t, decide(t, g, "t", `{}`), stopgate.Denied, stopgate.CodeStoreUnavailable)
	want(t, decide(t, g, "free", `{}`), stopgate.Allowed, "unattended_rule")
	broken = false
	want(t, decide(t, g, "t", `{}`), stopgate.Denied, stopgate.CodeSessionDegraded)
	owner := session.Owner{Session: "s"}
	if err := g.Reconcile(ctx, owner, "ann"); err != nil {
		t.Fatal(err)
	}
	want(t, decide(t, g, "t", `{}`), stopgate.Allowed, "unattended_rule")
	if g.Health().Degraded() || len(rec.Events(stopgate.AuditReconciled)) != 1 {
		t.Error("nobody reconciled")
	}
}

// Result rules that do not decide withhold, whatever their mode says; so do
// arguments that cannot be read again.
func TestResultsThatNobodyDecided(t *testing.T) {
	undecided := says(stopgate.Unattended)
	undecided.Result = stopgate.Verdict{Mode: stopgate.Unattended}
	garbled := says(stopgate.Unattended)
	garbled.Cleaned = `{"a":`
	for _, script := range []gate.Script{undecided, garbled} {
		g, err := gate.NewScripted(one("p", script))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := g.Observe(ctx, result(decide(t, g, "t", `{}`))); err != nil || d.Delivered() {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

// Proves D25-42, D25-48, K32: result rules look at what ran, cleaned paths included, and not at what
// it returned.
func TestResultRulesOfAPolicyFile(t *testing.T) {
	g := fileGate(t, strings.Replace(filePolicy, "[tools.fs_write.policy]", `[tools.fs_write.policy]
result = [ { arg = "/path", prefix = "src/private/", mode = "skip" }, { mode = "unattended" } ]`, 1))
	for path, delivered := range map[string]bool{"src/a": true, "src/private/a": false, "src/x/../private/a": false} {
		out := decideTool(t, g, "fs_write", `{"path":"`+path+`"}`)
		if !out.Allowed() {
			t.Fatalf("%s: %v", path, out.Verdict)
		}
		d, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: "fs_write", Data: []byte(`{"path":"src/private/a"}`)})
		if err != nil || d.Delivered() != delivered {
			t.Errorf("%s: %+v, %v", path, d, err)
		}
	}
}

// Observe mode delivers every result.
func TestResultsInObserveMode(t *testing.T) {
	script := says(stopgate.Deny)
	script.Result = decided(stopgate.Skip)
	policy := one("p", script)
	policy.Observe = true
	g, err := gate.NewScripted(policy)
	if err != nil {
		t.Fatal(err)
	}
	d, err := g.Observe(ctx, result(decide(t, g, "t", `{}`)))
	if err != nil || !d.Delivered() || string(d.Data) != "the data" {
		t.Errorf("%+v, %v", d, err)
	}
}

// Proves FM16: the same holds for a gate that has to ask the store whose result it is, as a
// process does that another one's call is told to: the session is uncertain there too.
func TestAResultWhoseCallCannotBeFound(t *testing.T) {
	var rec ports.Recorder
	broken := false
	store := &ports.Store{Fault: func(context.Context, string) error {
		if broken {
			return errDisk
		}
		return nil
	}}
	governs := ports.SessionPolicy{As: "p", For: []string{"t"}, Answer: func(session.View, session.Call) session.Decision { return session.Allow() }}
	both := [2]*gate.Gate{}
	for i := range both {
		var err error
		both[i], err = gate.NewScripted(one("p", says(stopgate.Unattended)), gate.WithRecorder(&rec), gate.WithStore(store), gate.WithSessionPolicies(ports.Registry(governs)))
		if err != nil {
			t.Fatal(err)
		}
	}
	out := decide(t, both[0], "t", `{}`)
	broken = true
	r := result(out)
	r.Session = "s"
	if d, err := both[1].Observe(ctx, r); err == nil || d.Delivered() {
		t.Errorf("%+v, %v", d, err)
	}
	broken = false
	if rows := rec.Events(stopgate.AuditResult); len(rows) != 1 || rows[0].Code != stopgate.CodeExecutedStateUnknown || len(rec.Events(stopgate.AuditUnmatchedResult)) != 0 {
		t.Errorf("rows %+v", rows)
	}
	want(t, decide(t, both[1], "t", `{}`), stopgate.Denied, stopgate.CodeSessionDegraded)
	// A result of no call at all changes nothing.
	r.Proposal, r.Session = "01ARYZ6S41000G40R40M30E209", "other"
	if _, err := both[1].Observe(ctx, r); !errors.Is(err, gate.ErrUnmatched) {
		t.Error(err)
	}
}
