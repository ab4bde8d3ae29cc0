package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// answers makes an approver of a function over the complete view.
func answers(f func(v gate.View) gate.Answer) gate.Option {
	return gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		v, err := q.Complete(ctx)
		return f(v), err
	}))
}

// Proves D25-45, K31, S31: who can answer what, and what an answer does.
func TestAnswers(t *testing.T) {
	somebody := gate.Abilities{Reachable: true}
	editor := gate.Abilities{Reachable: true, CanEdit: true}
	yes := func(v gate.View) gate.Answer { return v.Approve("ann") }
	for _, c := range []struct {
		name   string
		tool   stopgate.ToolName
		can    gate.Abilities
		answer func(v gate.View) gate.Answer
		code   stopgate.Code // "" for allowed
	}{
		{"approve an ask", "asked", somebody, yes, ""},
		{"approve an edit unchanged in an editor", "edited", editor, yes, ""},
		{"an edit where nobody can edit", "edited", somebody, yes, stopgate.CodeNoApprover},
		{"nobody there", "asked", gate.Abilities{CanEdit: true}, yes, stopgate.CodeNoApprover},
		{"decline", "asked", somebody, func(v gate.View) gate.Answer { return v.Decline("ann") }, stopgate.CodeApprovalDeclined},
		{"defer", "asked", somebody, func(v gate.View) gate.Answer { return v.Defer("q7") }, stopgate.CodeApprovalPending},
		{"nobody there, but the question is kept", "asked", gate.Abilities{Keeps: true}, func(v gate.View) gate.Answer { return v.Defer("q7") }, stopgate.CodeApprovalPending},
		{"no answer", "asked", somebody, func(v gate.View) gate.Answer { return gate.Answer{} }, stopgate.CodeInvalidPolicyResult},
		{"an answer that does not exist", "asked", somebody, func(v gate.View) gate.Answer { a := v.Approve("ann"); a.Kind = 9; return a }, stopgate.CodeInvalidPolicyResult},
		{"an edit of somebody who cannot", "asked", somebody, func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{}`)) }, stopgate.CodeInvalidPolicyResult},
		{"a yes of nobody", "asked", somebody, func(v gate.View) gate.Answer { return v.Approve("") }, stopgate.CodeInvalidPolicyResult},
		{"an edit of nobody", "edited", editor, func(v gate.View) gate.Answer { return v.Edit("", []byte(`{}`)) }, stopgate.CodeInvalidPolicyResult},
		{"a no of nobody", "asked", somebody, func(v gate.View) gate.Answer { return v.Decline("") }, stopgate.CodeApprovalDeclined},
		{"an approval by hand, of nothing", "asked", somebody, func(v gate.View) gate.Answer { return gate.Answer{Kind: gate.Approved, By: "ann"} }, stopgate.CodeApprovalStale},
		{"an approval of unseen arguments that were all there", "asked", somebody, func(v gate.View) gate.Answer { return gate.Answer{Kind: gate.Approved, By: "ann", Unseen: true} }, stopgate.CodeApprovalStale},
		{"an allowed call is not asked", "free", somebody, func(v gate.View) gate.Answer { return v.Decline("ann") }, ""},
		{"a denied call is not asked", "denied", somebody, yes, stopgate.CodeRuleMatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec ports.Recorder
			g := newGate(t, gate.WithRecorder(&rec), gate.WithApprover(ports.Able{Can: c.can, Answer: func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				if c.code == stopgate.CodeNoApprover {
					t.Error("somebody who cannot answer was asked")
				}
				v, err := q.Complete(ctx)
				return c.answer(v), err
			}}))
			out := decide(t, g, c.tool, `{"a":1}`)
			if c.code != "" {
				want(t, out, stopgate.Denied, c.code)
			} else if !out.Allowed() || string(out.Args) != `{"a":1}` {
				t.Errorf("outcome %+v", out)
			}
			row := rec.Decisions()[0]
			if asked := c.code == "" && c.tool != "free"; asked != (out.Approval != nil) || asked != (row.Approval != nil) {
				t.Errorf("approval %+v, row %+v", out.Approval, row.Approval)
			} else if asked && (out.Approval.By != "ann" || out.Approval.ID != string(out.Proposal) || out.Verdict.Mode.Permissive()) {
				t.Errorf("approval %+v of %v", out.Approval, out.Verdict)
			}
			if row.Rule == nil || row.Rule.Line != 3 {
				t.Errorf("the row does not name the rule that asked: %+v", row)
			}
		})
	}
}

// pensive says what it can do after some time.
type pensive struct {
	ports.Able
	after time.Duration
}

func (p pensive) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	time.Sleep(p.after)
	return p.Able.Abilities(ctx, call)
}

// Proves FM8: a machine that is busy for a moment keeps no question from a person; an
// approver that does not even say whether anybody is there is nobody.
func TestSlowAbilities(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		code  stopgate.Code // "" for allowed
	}{
		{900 * time.Millisecond, ""},
		{1100 * time.Millisecond, stopgate.CodeNoApprover},
	} {
		synctest.Test(t, func(t *testing.T) {
			somebody := ports.Able{Can: gate.Abilities{Reachable: true}, Answer: ports.Yes}
			out := decide(t, newGate(t, gate.WithApprover(pensive{somebody, c.after}), gate.WithLimits(gate.ProductLimits)), "asked", `{"a":1}`)
			if c.code != "" {
				want(t, out, stopgate.Denied, c.code)
			} else if !out.Allowed() {
				t.Errorf("after %v: outcome %+v", c.after, out)
			}
			time.Sleep(time.Second) // the late one returns
		})
	}
}

// Proves I16, H1: an approval of anything else than this call is stale.
func TestAnApprovalIsBoundToEverything(t *testing.T) {
	alter := map[string]func(b *gate.Binding){
		"args":       func(b *gate.Binding) { b.Args = gate.HexHash("other") },
		"tool":       func(b *gate.Binding) { b.Tool = "other" },
		"definition": func(b *gate.Binding) { b.Definition = "other" },
		"policy":     func(b *gate.Binding) { b.Policy = "other" },
		"session":    func(b *gate.Binding) { b.Session = "other" },
		"principal":  func(b *gate.Binding) { b.Principal = "other" },
	}
	var whole gate.Binding
	for field, f := range alter {
		g := newGate(t, answers(func(v gate.View) gate.Answer {
			whole = v.Binding
			a := v.Approve("ann")
			f(&a.Binding)
			return a
		}))
		want(t, decide(t, g, "asked", `{"a":1}`), stopgate.Denied, stopgate.CodeApprovalStale)
		other := whole
		f(&other)
		if other.Hash() == whole.Hash() {
			t.Errorf("the hash does not see %s", field)
		}
	}
	// The canonical arguments count, not their spelling (P9: nor a rounded number).
	if whole.Args != gate.HexHash(`{"a":1}`) || whole.Session != "s" || whole.Policy != "policy-1" || whole.Tool != "asked" {
		t.Errorf("binding %+v", whole)
	}
	a, b := gate.Binding{Tool: "ab", Definition: "c"}, gate.Binding{Tool: "a", Definition: "bc"}
	if a.Hash() == b.Hash() {
		t.Error("two bindings have one hash")
	}
}

// Proves I16: an approval with an id of its own is used once.
func TestAnApprovalIsUsedOnce(t *testing.T) {
	g := newGate(t, answers(func(v gate.View) gate.Answer {
		a := v.Approve("ann")
		a.ID = "approval-1"
		return a
	}))
	if out := decide(t, g, "asked", `{"a":1}`); !out.Allowed() || out.Approval.ID != "approval-1" {
		t.Errorf("first use: %+v", out)
	}
	want(t, decide(t, g, "asked", `{"a":1}`), stopgate.Denied, stopgate.CodeApprovalStale)
}

// The memory of used approvals forgets those that have expired, and only those.
func TestUsedApprovalsAreForgottenWhenTheyExpire(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	id := ""
	g := newGate(t, gate.WithClock(func() time.Time { return now }), answers(func(v gate.View) gate.Answer {
		a := v.Approve("ann")
		a.ID = id
		return a
	}))
	use := func(s string) bool { id = s; return decide(t, g, "asked", `{}`).Allowed() }
	for i := range gate.Generation {
		if !use(fmt.Sprint(i)) {
			t.Fatalf("approval %d was refused", i)
		}
	}
	if use("0") || use("1000") {
		t.Error("a used approval was taken again")
	}
	now = now.Add(16 * time.Minute)
	if !use("new") || !use("0") {
		t.Error("an id that expired long ago is still taken")
	}
}

// Proves FM13, I16: an approval expires by the wall clock or by the monotonic
// clock, whichever is first.
func TestApprovalsExpireOnEitherClock(t *testing.T) {
	for _, c := range []struct {
		name         string
		thinks, jump time.Duration
		expired      bool
	}{
		{"in time", 14 * time.Minute, 14 * time.Minute, false},
		{"too late by both", 16 * time.Minute, 16 * time.Minute, true},
		{"the wall clock jumped on", time.Second, 16 * time.Minute, true},
		{"the wall clock was set back", 16 * time.Minute, -time.Hour, true},
		{"the wall clock was set back in time", 14 * time.Minute, -time.Hour, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			asked := now
			g := newGate(t, gate.WithClock(func() time.Time { return now }), gate.WithLimits(gate.Limits{Hold: time.Hour}),
				answers(func(v gate.View) gate.Answer {
					if d := v.Expires.Sub(asked); d != 15*time.Minute {
						t.Errorf("expires after %v", d)
					}
					time.Sleep(c.thinks)
					now = now.Add(c.jump)
					return v.Approve("ann")
				}))
			out := decide(t, g, "asked", `{}`)
			if out.Allowed() == c.expired || c.expired && out.Verdict.Code != stopgate.CodeApprovalTimeout {
				t.Errorf("%s: %v", c.name, out.Verdict)
			}
		})
	}
}

// Proves FM8: silence is a denial at the deadline, to the millisecond, whether the
// approver looks at its context or not; what comes later is not looked at.
func TestSilenceIsADenialAtTheDeadline(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		for _, deaf := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var rec ports.Recorder
				g := newGate(t, gate.WithRecorder(&rec), gate.WithLimits(gate.Limits{Hold: 2 * time.Minute}),
					gate.WithApprover(ports.Able{Can: gate.Abilities{Reachable: true, Keeps: keeps}, Answer: func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
						v, err := q.Complete(ctx)
						if deaf {
							time.Sleep(time.Hour)
							return v.Approve("ann"), err
						}
						<-ctx.Done()
						return gate.Answer{}, context.Cause(ctx)
					}}))
				start := time.Now()
				out := decide(t, g, "asked", `{}`)
				if took := time.Since(start); took != 2*time.Minute {
					t.Errorf("denied after %v", took)
				}
				code := stopgate.CodeApprovalTimeout
				if keeps {
					code = stopgate.CodeApprovalPending
				}
				want(t, out, stopgate.Denied, code)
				synctest.Wait()
				if h := g.Health(); (h.Stuck == 1) != deaf || h.Degraded() != deaf {
					t.Errorf("health %+v", h)
				}
				time.Sleep(2 * time.Hour)
				if h := g.Health(); h.Stuck != 0 || h.Degraded() {
					t.Errorf("health %+v", h)
				}
				if len(rec.Decisions()) != 1 || len(rec.Events(stopgate.AuditAsked)) != 1 || len(rec.Events(stopgate.AuditAnswered)) != 1 {
					t.Errorf("rows %s", rec.Text())
				}
			})
		}
	}
}

// Proves FM7: the client that goes away takes the prompt with it.
func TestTheClientGoesAwayWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := make(chan error, 1)
		var rec ports.Recorder
		g := newGate(t, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			<-ctx.Done()
			withdrawn <- context.Cause(ctx)
			return gate.Answer{}, ctx.Err()
		})))
		gone, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Minute, cancel)
		out, err := g.Decide(gone, stopgate.Call{Tool: "asked", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		want(t, out, stopgate.Denied, stopgate.CodeClientGone)
		if cause := <-withdrawn; cause == nil {
			t.Error("the prompt was not withdrawn")
		}
		if len(rec.Decisions()) != 1 {
			t.Errorf("rows %s", rec.Text())
		}
		// A caller's own deadline is a timeout, not a client that left.
		short, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		out, _ = g.Decide(short, stopgate.Call{Tool: "asked", Args: []byte(`{}`)})
		want(t, out, stopgate.Denied, stopgate.CodeApprovalTimeout)
	})
}

// Proves S1, D26-16, D26-21: a prompt opens at the first ask, while the arguments
// arrive; a no acts at once and ends the feeding.
func TestAnEarlyPromptIsDeclined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan gate.View, 1)
		g := newGate(t, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			v, _ := q.View()
			seen <- v
			time.Sleep(time.Second)
			return v.Decline("ann"), nil
		})))
		p := openCall(t, g, "asked-early")
		if err := p.Ask(ctx); !errors.Is(err, gate.ErrNoAsk) {
			t.Errorf("asked before the verdict asks: %v", err)
		}
		p.Feed([]byte(`{"a":`))
		for range 2 { // the second changes nothing
			if err := p.Ask(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if v := <-seen; v.Complete || v.Args != "" || v.Received != 5 || v.Binding != (gate.Binding{}) || v.Verdict.Mode != stopgate.Ask || v.Proposal != p.ID() {
			t.Errorf("shown %+v", v)
		}
		if p.Feed([]byte(`1,`)).Terminal() {
			t.Error("denied before anybody answered")
		}
		<-p.Done()
		if v := p.Feed([]byte(`"b":2}`)); v.Code != stopgate.CodeApprovalDeclined || v.Layer != stopgate.LayerApproval || v.DecidedAt != 7 {
			t.Errorf("verdict %+v", v)
		}
		if err := p.Ask(ctx); err != nil {
			t.Errorf("Ask behind the denial: %v", err)
		}
		p.Close(stopgate.Ended)
		out, _ := p.Resolve(ctx)
		want(t, out, stopgate.Denied, stopgate.CodeApprovalDeclined)
		if trace := p.Trace(); len(trace) != 2 || trace[0].Mode != stopgate.Ask {
			t.Errorf("trace %v", trace)
		}
	})
}

// Proves S1, D26-20: a prompt that was opened early is answered when the arguments
// are complete, and Resolve joins it.
func TestAnEarlyPromptIsJoined(t *testing.T) {
	asked := 0
	g := newGate(t, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		asked++
		return ports.Yes(ctx, q)
	})))
	p := openCall(t, g, "asked-early")
	p.Feed([]byte(`{"a":1`))
	if err := p.Ask(ctx); err != nil {
		t.Fatal(err)
	}
	p.Feed([]byte(`}`))
	p.Close(stopgate.Ended)
	out, err := p.Resolve(ctx)
	if err != nil || !out.Allowed() || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", out, err, asked)
	}
}

// Proves H2, K17, X6: an approval of an unfinished call holds if nothing new asks;
// behind a new floor it is asked again; behind an integrity violation the call is
// denied.
func TestApprovalsOfUnseenArguments(t *testing.T) {
	floored := decided(stopgate.Ask)
	floored.Floors = []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/b", At: 9}}
	policy := tools()
	policy.Tools["floored-later"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: 9, Verdict: floored}}}
	policy.Tools["tightened"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: gate.AtEnd, Verdict: decided(stopgate.Edit)}}}
	for _, c := range []struct {
		tool  stopgate.ToolName
		rest  string
		asked int
		code  stopgate.Code
	}{
		{"asked-early", `1,"b":2}`, 1, ""},
		{"floored-later", `1,"b":2}`, 2, ""},
		{"tightened", `1,"b":2}`, 2, ""},
		{"asked-early", `1,"b":2`, 1, stopgate.CodeMalformedArguments},
	} {
		asked := 0 // written by one approver at a time, read when it has answered
		first := make(chan struct{})
		g, err := gate.NewScripted(policy, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			if asked++; asked == 1 {
				defer close(first)
			}
			v, _ := q.View()
			if v.Complete != (asked == 2) {
				t.Errorf("%s: prompt %d shows %+v", c.tool, asked, v)
			}
			if asked == 2 && len(v.Verdict.Floors) != 1 && v.Verdict.Mode != stopgate.Edit {
				t.Errorf("%s: the second prompt does not show what is new", c.tool)
			}
			return v.Approve("ann"), nil
		})))
		if err != nil {
			t.Fatal(err)
		}
		p := openCall(t, g, c.tool)
		p.Feed([]byte(`{"a":`))
		if err := p.Ask(ctx); err != nil {
			t.Fatal(err)
		}
		<-first
		p.Feed([]byte(c.rest))
		p.Close(stopgate.Ended)
		out, _ := p.Resolve(ctx)
		if c.code == "" && !out.Allowed() || c.code != "" && out.Verdict.Code != c.code {
			t.Errorf("%s %s: %+v", c.tool, c.rest, out.Verdict)
		}
		if asked != c.asked {
			t.Errorf("%s %s: asked %d times, want %d", c.tool, c.rest, asked, c.asked)
		}
	}
}

// Proves K17, D26-16: a floor that appears while the prompt is open is shown.
func TestAnOpenPromptShowsNewFloors(t *testing.T) {
	floored := decided(stopgate.Ask)
	floored.Floors = []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/b", At: 9}}
	policy := tools()
	policy.Tools["floored-later"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: 9, Verdict: floored}}}
	shown := make(chan gate.View, 8)
	g, err := gate.NewScripted(policy, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		for {
			v, changed := q.View()
			if shown <- v; v.Complete {
				return v.Approve("ann"), nil
			}
			<-changed
		}
	})))
	if err != nil {
		t.Fatal(err)
	}
	p := openCall(t, g, "floored-later")
	p.Feed([]byte(`{"a":`))
	p.Ask(ctx)
	if v := <-shown; len(v.Verdict.Floors) != 0 || v.Complete {
		t.Errorf("first %+v", v)
	}
	p.Feed([]byte(`1`)) // nothing new
	p.Feed([]byte(`,"b"`))
	if v := <-shown; len(v.Verdict.Floors) != 1 || v.Complete || v.Received != 10 {
		t.Errorf("second %+v", v)
	}
	p.Feed([]byte(`:2}`))
	p.Close(stopgate.Ended)
	if v := <-shown; !v.Complete || v.Args != `{"a":1,"b":2}` {
		t.Errorf("third %+v", v)
	}
	if out, _ := p.Resolve(ctx); !out.Allowed() {
		t.Errorf("%v", out.Verdict)
	}
}

// An approver that insists on approving what it has not seen is not asked for ever.
func TestUnseenApprovalOfTheSecondPrompt(t *testing.T) {
	floored := decided(stopgate.Ask)
	floored.Floors = []stopgate.Floor{{Mode: stopgate.Ask, At: 9}}
	policy := tools()
	policy.Tools["floored-later"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: 9, Verdict: floored}}}
	answered := make(chan struct{}, 2)
	g, err := gate.NewScripted(policy, gate.WithApprover(ports.Approver(func(context.Context, *gate.Question) (gate.Answer, error) {
		answered <- struct{}{}
		return gate.Answer{Kind: gate.Approved, By: "ann", Unseen: true, Seen: 5}, nil
	})))
	if err != nil {
		t.Fatal(err)
	}
	p := openCall(t, g, "floored-later")
	p.Feed([]byte(`{"a":`))
	p.Ask(ctx)
	<-answered
	p.Feed([]byte(`1,"b":2}`))
	p.Close(stopgate.Ended)
	out, _ := p.Resolve(ctx)
	want(t, out, stopgate.Denied, stopgate.CodeApprovalStale)
}

// Proves D25-46, X12, H3, I18: an edit is a new proposal with a parent; what was typed is
// judged like any other call, and only an ask is satisfied by the typing.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		name string
		tool stopgate.ToolName
		args string
		code stopgate.Code // "" for allowed
	}{
		{"an edit of an ask", "asked", `{"b":2}`, ""},
		{"an edit of an edit", "edited", `{"b":2}`, ""},
		{"an edit that is no JSON", "asked", `{"b":`, stopgate.CodeMalformedArguments},
		{"an empty edit", "asked", ``, stopgate.CodeMalformedArguments},
		{"an edit that a rule denies", "watched", `{"path":".env"}`, stopgate.CodeRuleMatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := tools()
			// "watched" denies what is as long as the edit above.
			policy.Tools["watched"] = gate.Script{Steps: []gate.Step{{At: 15, Verdict: decided(stopgate.Deny)}, {At: gate.AtEnd, Verdict: decided(stopgate.Ask)}}}
			var rec ports.Recorder
			asked := 0
			var traced tracer
			g, err := gate.NewScripted(policy, gate.WithRecorder(&rec), gate.WithTracer(&traced), answers(func(v gate.View) gate.Answer {
				asked++
				return v.Edit("ann", []byte(c.args))
			}))
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.Open(ctx, stopgate.Call{Tool: c.tool, ID: "call_1", Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			p.Feed([]byte(`{"a":1}`))
			p.Close(stopgate.Ended)
			out, _ := p.Resolve(ctx)
			rows := rec.Decisions()
			if len(rows) != 2 {
				t.Fatalf("rows %s", rec.Text())
			}
			parent, child := rows[0], rows[1]
			if parent.ID != p.ID() || parent.Status != stopgate.StatusEdited || parent.ArgsHash != gate.HexHash(`{"a":1}`) || parent.ReleasedHash != "" || !parent.Approval.Edited {
				t.Errorf("parent row %+v", parent)
			}
			if child.Parent != p.ID() || child.ID != out.Proposal || child.ID == parent.ID || child.CallID != "call_1" || child.ArgsBytes != int64(len(c.args)) {
				t.Errorf("child row %+v", child)
			}
			if asked != 1 {
				t.Errorf("asked %d times", asked)
			}
			if e := traced.events; len(e) != 2 || e[0].ID != p.ID() || e[0].Decision != "edited" || e[0].Warning || e[0].Row.Status != stopgate.StatusEdited || e[1].Decision != out.Status.String() {
				t.Errorf("traced %+v", e)
			}
			if c.code != "" {
				want(t, out, stopgate.Denied, c.code)
				if child.Status != stopgate.StatusDenied || child.Approval != nil {
					t.Errorf("child row %+v", child)
				}
				return
			}
			if !out.Allowed() || string(out.Args) != c.args || !out.Approval.Edited || out.Approval.By != "ann" {
				t.Errorf("outcome %+v", out)
			}
			if child.Status != stopgate.StatusAllowed || child.ReleasedHash != gate.HexHash(c.args) || child.ArgsHash != gate.HexHash(c.args) {
				t.Errorf("child row %+v", child)
			}
		})
	}
}

// An edit of arguments that were not complete belongs to nothing (D26-27).
func TestAnEarlyEditIsStale(t *testing.T) {
	answered := make(chan struct{})
	g := newGate(t, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		defer close(answered)
		v, _ := q.View()
		return v.Edit("ann", []byte(`{"b":2}`)), nil
	})))
	p := openCall(t, g, "asked-early")
	p.Feed([]byte(`{"a":`))
	p.Ask(ctx)
	<-answered
	p.Feed([]byte(`1}`))
	p.Close(stopgate.Ended)
	out, _ := p.Resolve(ctx)
	want(t, out, stopgate.Denied, stopgate.CodeApprovalStale)
}

// An ask that became an edit needs somebody who can edit (K31).
func TestAnAskThatBecomesAnEdit(t *testing.T) {
	policy := tools()
	policy.Tools["tightened"] = gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(stopgate.Ask)}, {At: gate.AtEnd, Verdict: decided(stopgate.Edit)}}}
	for _, able := range []bool{false, true} {
		g, err := gate.NewScripted(policy, gate.WithApprover(ports.Able{Can: gate.Abilities{Reachable: true, CanEdit: able}, Answer: ports.Yes}))
		if err != nil {
			t.Fatal(err)
		}
		p := openCall(t, g, "tightened")
		p.Feed([]byte(`{"a":`))
		p.Ask(ctx)
		p.Feed([]byte(`1}`))
		p.Close(stopgate.Ended)
		if out, _ := p.Resolve(ctx); out.Allowed() != able || !able && out.Verdict.Code != stopgate.CodeNoApprover {
			t.Errorf("able %v: %v", able, out.Verdict)
		}
	}
}

// An edit that cannot become a proposal does not run.
func TestAnEditWithoutAnID(t *testing.T) {
	g := newGate(t, gate.WithEntropy(strings.NewReader("0123456789")), answers(func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{}`)) }))
	want(t, decide(t, g, "asked", `{"a":1}`), stopgate.Denied, stopgate.CodePolicyError)
}

// Complete waits for the arguments, or for the end of its context.
func TestQuestionComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		views := make(chan gate.View, 1)
		g := newGate(t, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			short, cancel := context.WithTimeoutCause(ctx, time.Second, errDisk)
			defer cancel()
			if v, err := q.Complete(short); !errors.Is(err, errDisk) || v.Complete {
				t.Errorf("%+v, %v", v, err)
			}
			v, err := q.Complete(ctx)
			views <- v
			return v.Approve("ann"), err
		})))
		p := openCall(t, g, "asked-early")
		p.Feed([]byte(`{"a":`))
		p.Ask(ctx)
		time.Sleep(2 * time.Second)
		p.Feed([]byte(`1}`))
		p.Close(stopgate.Ended)
		if v := <-views; !v.Complete || v.Args != `{"a":1}` || v.Received != 7 {
			t.Errorf("view %+v", v)
		}
		if out, _ := p.Resolve(ctx); !out.Allowed() {
			t.Errorf("%v", out.Verdict)
		}
	})
}

// Proves I22: an edit whose rows cannot be written does not run; both proposals
// are accounted for.
func TestAnEditWithoutItsRows(t *testing.T) {
	for lost := range 2 {
		rec := &ports.Recorder{}
		n := 0
		rec.Fault = func(_ context.Context, _ int, r *stopgate.Record) error {
			if r.Kind == stopgate.RecordDecision {
				if n++; n == lost+1 {
					return errors.New("disk full")
				}
			}
			return nil
		}
		g := newGate(t, gate.WithRecorder(rec), answers(func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{"b":2}`)) }))
		want(t, decide(t, g, "asked", `{"a":1}`), stopgate.Denied, stopgate.CodeAuditUnavailable)
		decide(t, g, "denied", `{}`)
		gaps := rec.Events(stopgate.AuditGap)
		if len(gaps) != 1 || gaps[0].Count != 1 {
			t.Errorf("lost row %d: %s", lost, rec.Text())
		}
		if n := len(rec.Decisions()); n != 2 {
			t.Errorf("lost row %d: %d decision rows, want the other one and the denial", lost, n)
		}
	}
}

// Proves S1: refusing or giving up a call ends a Resolve that waits for an answer.
func TestAWaitingResolveIsEnded(t *testing.T) {
	for name, end := range map[string]func(p *gate.Pending){
		"refused":   func(p *gate.Pending) { p.Refuse(stopgate.CodeStreamTruncated) },
		"cancelled": func(p *gate.Pending) { p.Cancel(ctx) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var rec ports.Recorder
			g := newGate(t, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				<-ctx.Done()
				return gate.Answer{}, ctx.Err()
			})))
			p := openCall(t, g, "asked")
			p.Feed([]byte(`{}`))
			p.Close(stopgate.Ended)
			time.AfterFunc(time.Second, func() { end(p) })
			start := time.Now()
			out, err := p.Resolve(ctx)
			if err != nil || out.Allowed() || time.Since(start) != time.Second || len(rec.Decisions()) != 1 {
				t.Errorf("%s: %+v, %v after %v, %d rows", name, out, err, time.Since(start), len(rec.Decisions()))
			}
			if !strings.HasPrefix(name, strings.TrimSuffix(string(out.Verdict.Code), "_truncated")[:3]) && name == "cancelled" {
				t.Errorf("%s: %v", name, out.Verdict)
			}
		})
	}
}

// An early prompt whose call is given up is withdrawn, and nobody waits for ever.
func TestCancelWithdrawsThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		g := newGate(t, gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return gate.Answer{}, ctx.Err()
		})))
		p := openCall(t, g, "asked-early")
		p.Feed([]byte(`{"a":1}`))
		p.Ask(ctx)
		synctest.Wait()
		p.Cancel(ctx)
		if cause := <-causes; !strings.Contains(cause.Error(), "cancelled") {
			t.Errorf("cause %v", cause)
		}
	})
}
