package gate_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// lookout is a policy with notes: "other" is denied until "read" has succeeded.
type lookout struct {
	mu   sync.Mutex
	told []session.Kind
}

func (*lookout) Name() string            { return "lookout" }
func (*lookout) Tools() session.Selector { return session.Select("read", "denied", "other") }
func (*lookout) Needs(session.Call) []session.Key {
	return []session.Key{session.NoteKey("lookout", "")}
}

func (*lookout) Check(v session.View, c session.Call) session.Decision {
	if _, seen := v.Note("lookout", ""); c.Tool == "other" && !seen {
		return session.Deny("not_seen", "")
	}
	return session.Allow()
}

func (l *lookout) OnResult(_ session.View, r session.Result) []session.Fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, r.Kind)
	return []session.Fact{session.Note("lookout", "", string(r.Data))}
}

func (l *lookout) times() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.told)
}

// Proves TPS-08, TPS-33: a policy hears of a result once, when its call was released and
// succeeded: not of denied calls, failures, forgeries and repetitions. A denial without a
// sentence has the one of its code or the general one.
func TestPoliciesHearOfSuccess(t *testing.T) {
	l := new(lookout)
	b := newBench(t, gate.WithSessionPolicies(ports.Registry(l)))
	if out := b.expect("other", `{}`, "not_seen"); out.Envelope().PublicReason == "" || strings.Contains(out.Envelope().PublicReason, "not_seen") {
		t.Errorf("%+v", out.Envelope())
	}
	denied := b.expect("denied", `{}`, stopgate.CodeRuleMatched)
	failed, late := b.expect("read", `{"path":"a"}`, ""), b.expect("read", `{"path":"b"}`, "")
	raised := resultOf(failed, "read", "boom")
	raised.Failed = true
	forged := resultOf(late, "read", "x")
	forged.Principal = "bob"
	for name, c := range map[string]struct {
		r    stopgate.Result
		want error
	}{"denied": {resultOf(denied, "denied", "x"), gate.ErrUnmatched}, "failed": {raised, nil}, "forged": {forged, gate.ErrUnmatched}} {
		if _, err := b.g.Observe(ctx, c.r); !errors.Is(err, c.want) || l.times() != 0 {
			t.Errorf("%s: %v, told %v", name, err, l.told)
		}
	}
	b.expect("other", `{}`, "not_seen")
	for _, want := range []error{nil, gate.ErrUnmatched} {
		if _, err := b.g.Observe(ctx, resultOf(late, "read", "x")); !errors.Is(err, want) || l.times() != 1 || l.told[0] != session.Succeeded {
			t.Errorf("%v, told %v", err, l.told)
		}
	}
	b.expect("other", `{}`, "")
}

// Proves TPS-29, TPS-30, X18, I21: what a policy in Go noted is kept in the session, for
// every process on the store, and a restore takes it back like everything that permits.
func TestNotesAreKeptAndTakenBack(t *testing.T) {
	b := newBench(t, gate.WithSessionPolicies(ports.Registry(new(lookout))))
	before, err := b.g.Snapshot(ctx, sessionS)
	if err != nil {
		t.Fatal(err)
	}
	b.run("read", `{"path":"a"}`, "x")
	b.expect("other", `{}`, "")
	again := newBench(t, gate.WithStore(b.store), gate.WithSessionPolicies(ports.Registry(new(lookout))))
	again.expect("other", `{}`, "")
	if out := again.decideIn(session.Owner{Principal: "ann", Session: "t"}, "other", `{}`); out.Verdict.Code != "not_seen" {
		t.Errorf("another session: %v", out.Verdict)
	}
	if err := b.g.Restore(ctx, sessionS, before, gate.Rewind{By: "op"}); err != nil {
		t.Fatal(err)
	}
	b.expect("other", `{}`, "not_seen")
	again.expect("other", `{}`, "not_seen")
	b.run("read", `{"path":"a"}`, "x")
	b.expect("other", `{}`, "")
}

// Proves TPS-10, TPS-28, S37: policies come, go, sleep and wake while the gate runs. A
// turn that was open goes on with those it began with, facts are learned all the while,
// and every change is on record.
func TestPoliciesChangeAtRunTime(t *testing.T) {
	r := ports.Registry(policies.Require("other").After("read").Named("ours"))
	b := newBench(t, gate.WithSessionPolicies(r))
	in := func(turn *gate.Turn) stopgate.Code {
		t.Helper()
		out, err := turn.Decide(ctx, stopgate.Call{Tool: "other", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		if out.Allowed() {
			return ""
		}
		return out.Verdict.Code
	}
	strict := b.g.Turn(sessionS, "")
	if code := in(strict); code != stopgate.CodePrerequisiteMissing {
		t.Fatal(code)
	}
	if !r.Enable("ours", false) {
		t.Fatal("no such policy")
	}
	if code := in(strict); code != stopgate.CodePrerequisiteMissing {
		t.Errorf("an open turn was eased: %q", code)
	}
	if code := in(b.g.Turn(sessionS, "")); code != "" {
		t.Errorf("a policy that is off denies: %s", code)
	}
	b.run("read", `{"path":"a"}`, "x") // learned while off
	r.Enable("ours", true)
	if code := in(b.g.Turn(sessionS, "")); code != "" {
		t.Errorf("it learned nothing while it was off: %s", code)
	}
	if err := r.Register(policies.Require("other").After("test").Named("more")); err != nil {
		t.Fatal(err)
	}
	if code := in(b.g.Turn(sessionS, "")); code != stopgate.CodePrerequisiteMissing {
		t.Errorf("a new policy does not hold: %q", code)
	}
	if !r.Unregister("more") {
		t.Error("it was not there")
	}
	if code := in(b.g.Turn(sessionS, "")); code != "" {
		t.Errorf("a removed policy holds: %s", code)
	}
	var causes []string
	for _, row := range b.rec.Events(stopgate.AuditReload) {
		causes = append(causes, row.Cause)
	}
	if got, want := strings.Join(causes, "; "), "session policies: disable ours; session policies: enable ours; session policies: register more; session policies: unregister more"; got != want {
		t.Errorf("rows %q", got)
	}
}

// Proves TPS-39, X12: a person who approves a call of a tool gives the approval of that
// name; declining it, and calls that nobody was asked about, do not.
func TestAnApprovedCallIsAnApproval(t *testing.T) {
	yes := false
	r := ports.Registry(policies.Require("other").Approved("asked").Named("planned"))
	b := newBench(t, gate.WithSessionPolicies(r), answers(func(v gate.View) gate.Answer {
		if yes {
			return v.Approve("ann")
		}
		return v.Decline("ann")
	}))
	b.expect("asked", `{"a":1}`, stopgate.CodeApprovalDeclined)
	b.expect("read", `{"path":"a"}`, "")
	b.expect("other", `{}`, stopgate.CodePrerequisiteMissing)
	yes = true
	b.expect("asked", `{"a":2}`, "")
	b.expect("other", `{}`, "")
	if out := b.decideIn(session.Owner{Principal: "ann", Session: "t"}, "other", `{}`); out.Allowed() {
		t.Error("an approval counts in another session")
	}
}
