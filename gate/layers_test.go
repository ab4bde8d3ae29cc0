package gate_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
	"pgregory.net/rapid"
)

func policyOf(name string, d gate.Decision) gate.ToolPolicy {
	return ports.ToolPolicy{As: name, Answer: func(context.Context, gate.Proposal) (gate.Decision, error) { return d, nil }}
}

// Proves G2-02, G2-04, G2-08 to G2-12, FM15: what a tool policy may answer. It
// never loosens, and what is not an answer denies.
func TestToolPolicies(t *testing.T) {
	permit := gate.Decision{Kind: gate.Permit, Reason: "fine"}
	for _, c := range []struct {
		name     string
		tool     stopgate.ToolName
		policies []gate.ToolPolicy
		status   stopgate.Status
		code     stopgate.Code
	}{
		{"permit", "free", []gate.ToolPolicy{policyOf("a", permit)}, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"no opinion", "free", []gate.ToolPolicy{policyOf("a", gate.Decision{Kind: gate.NoOpinion})}, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"forbid", "free", []gate.ToolPolicy{policyOf("a", permit), policyOf("b", gate.Decision{Kind: gate.Forbid, Reason: "too_late"}), policyOf("c", gate.Decision{})}, stopgate.Denied, "too_late"},
		{"a permit does not answer an ask", "asked", []gate.ToolPolicy{policyOf("a", permit)}, stopgate.Denied, stopgate.CodeNoApprover},
		{"a permit does not lift a denial", "denied", []gate.ToolPolicy{policyOf("a", permit)}, stopgate.Denied, stopgate.CodeRuleMatched},
		{"a permit does not make a tool known", "nobody-knows-it", []gate.ToolPolicy{policyOf("a", permit)}, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"the zero decision", "free", []gate.ToolPolicy{policyOf("a", gate.Decision{})}, stopgate.Denied, stopgate.CodeInvalidPolicyResult},
		{"an unknown kind", "free", []gate.ToolPolicy{policyOf("a", gate.Decision{Kind: 9, Reason: "fine"})}, stopgate.Denied, stopgate.CodeInvalidPolicyResult},
		{"a permit without a reason", "free", []gate.ToolPolicy{policyOf("a", gate.Decision{Kind: gate.Permit})}, stopgate.Denied, stopgate.CodeInvalidPolicyResult},
		{"a reason that is no code", "free", []gate.ToolPolicy{policyOf("a", gate.Decision{Kind: gate.Forbid, Reason: "Because I say so"})}, stopgate.Denied, stopgate.CodeInvalidPolicyResult},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := decide(t, newGate(t, gate.WithToolPolicies(c.policies...)), c.tool, `{"a":1}`)
			want(t, out, c.status, c.code)
		})
	}
	out := decide(t, newGate(t, gate.WithToolPolicies(policyOf("a", gate.Decision{Kind: gate.Forbid, Reason: "too_late", Public: "Come earlier."}))), "free", `{}`)
	if out.Verdict.Public != "Come earlier." || out.Verdict.Layer != stopgate.LayerGate || out.Envelope().PublicReason != "Come earlier." {
		t.Errorf("verdict %+v", out.Verdict)
	}
}

// Proves G2-05, I8: a layer sees the complete call, and cannot change what runs.
func TestLayersSeeTheCall(t *testing.T) {
	var seen gate.Proposal
	g := newGate(t, gate.WithToolPolicies(ports.ToolPolicy{As: "a", Answer: func(_ context.Context, p gate.Proposal) (gate.Decision, error) {
		seen = p
		return gate.Decision{Kind: gate.NoOpinion}, nil
	}}))
	call := stopgate.Call{Tool: "free", ID: "call_1", Session: "s", Agent: "triage", Definition: &stopgate.ToolDefinition{Name: "free"}, Args: []byte(`{"a":1.0}`)}
	out, err := g.Decide(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Args != `{"a":1.0}` || seen.ArgsHash != gate.HexHash(`{"a":1}`) || seen.ID != out.Proposal || seen.Call.Agent != "triage" ||
		seen.Call.Args != nil || seen.Policy != g.PolicyHash() || len(seen.Definition) != 64 || seen.Verdict.Mode != stopgate.Unattended {
		t.Errorf("proposal %+v", seen)
	}
}

// sessionsOf are options for a store in memory and session policies in Go.
func sessionsOf(policies ...session.Policy) []gate.Option {
	return []gate.Option{gate.WithStore(&ports.Store{Memory: true}), gate.WithSessionPolicies(ports.Registry(policies...))}
}

func objecting(name string, code stopgate.Code, public string) session.Policy {
	return ports.SessionPolicy{As: name, Answer: func(session.View, session.Call) session.Decision { return session.Deny(code, public) }}
}

// Proves X2, TPS-02, TPS-11: all objections are kept, the first decides.
func TestObjections(t *testing.T) {
	late := []session.Policy{objecting("read first", stopgate.CodeReadRequired, ""), objecting("limit", "too_many", "Enough.")}
	early := []session.Policy{policies.Require("free").After("x").Named("read first"), policies.Require("free").After("y").Named("limit")}
	for where, policies := range map[string][]session.Policy{"open": early, "resolve": late} {
		var rec ports.Recorder
		g := newGate(t, append(sessionsOf(policies...), gate.WithRecorder(&rec))...)
		p, err := g.Open(ctx, stopgate.Call{Tool: "free", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if early := p.Verdict().Terminal(); early != (where == "open") {
			t.Errorf("%s: terminal at Open: %v", where, early)
		}
		p.Feed([]byte(`{}`))
		p.Close(stopgate.Ended)
		out, _ := p.Resolve(ctx)
		code, rows := stopgate.CodeReadRequired, []string{"read first: read_required", "limit: too_many"}
		if where == "open" {
			code, rows = stopgate.CodePrerequisiteMissing, []string{"read first: prerequisite_missing", "limit: prerequisite_missing"}
		}
		want(t, out, stopgate.Denied, code)
		row := rec.Decisions()[0]
		if row.Layer != stopgate.LayerSession || !slices.Equal(row.Objections, rows) {
			t.Errorf("%s: row %+v", where, row)
		}
		if where == "open" && *row.DecidedAt != 0 {
			t.Errorf("decided at %d, want 0", *row.DecidedAt)
		}
	}
}

// Sessions are not asked about a call that is denied anyway.
func TestSessionsAreNotAskedAboutDeniedCalls(t *testing.T) {
	asked := 0
	g := newGate(t, sessionsOf(ports.SessionPolicy{As: "p", Answer: func(session.View, session.Call) session.Decision {
		asked++
		return session.Allow()
	}})...)
	decide(t, g, "nobody-knows-it", `{}`)
	if asked != 0 {
		t.Errorf("asked %d times about an unknown tool", asked)
	}
}

// Proves X4, S29, FM1, M26, M27, P18: the judge only tightens; no failure of it
// passes for "no objection".
func TestTheJudge(t *testing.T) {
	opinion := func(m stopgate.Mode, p float64) func() (gate.Opinion, error) {
		return func() (gate.Opinion, error) { return gate.Opinion{Mode: m, Probability: p}, nil }
	}
	for _, c := range []struct {
		name    string
		tool    stopgate.ToolName
		judge   func() (gate.Opinion, error)
		onError stopgate.Mode
		there   bool // somebody who approves
		status  stopgate.Status
		code    stopgate.Code
	}{
		{"no objection", "free", opinion(stopgate.Unattended, 0), stopgate.Deny, false, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"no objection does not answer an ask", "asked", opinion(stopgate.Unattended, 0), stopgate.Deny, false, stopgate.Denied, stopgate.CodeNoApprover},
		{"deny", "free", opinion(stopgate.Deny, 1), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeDenied},
		{"deny above an approval", "asked", opinion(stopgate.Deny, 1), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeDenied},
		{"ask, and somebody says yes", "free", opinion(stopgate.Ask, 0.5), stopgate.Deny, true, stopgate.Allowed, stopgate.CodeJudgeDenied},
		{"ask, and nobody is there", "free", opinion(stopgate.Ask, 0.5), stopgate.Deny, false, stopgate.Denied, stopgate.CodeNoApprover},
		{"ask about an ask", "asked", opinion(stopgate.Ask, 0.5), stopgate.Deny, true, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"the zero opinion", "free", func() (gate.Opinion, error) { return gate.Opinion{}, nil }, stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeDenied},
		{"NaN", "free", opinion(stopgate.Unattended, math.NaN()), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"infinity", "free", opinion(stopgate.Unattended, math.Inf(1)), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"above one", "free", opinion(stopgate.Unattended, 1.01), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"below zero", "free", opinion(stopgate.Unattended, -0.01), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"a mode judges do not have", "free", opinion(stopgate.Skip, 0), stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"an error", "free", func() (gate.Opinion, error) { return gate.Opinion{Mode: stopgate.Unattended}, errors.New("401") }, stopgate.Deny, true, stopgate.Denied, stopgate.CodeJudgeUnavailable},
		{"an error that asks", "free", func() (gate.Opinion, error) { return gate.Opinion{}, errors.New("401") }, stopgate.Ask, true, stopgate.Allowed, stopgate.CodeJudgeUnavailable},
		{"an error that asks nobody", "free", func() (gate.Opinion, error) { return gate.Opinion{}, errors.New("401") }, stopgate.Ask, false, stopgate.Denied, stopgate.CodeNoApprover},
	} {
		t.Run(c.name, func(t *testing.T) {
			judged := 0
			opts := []gate.Option{gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
				judged++
				return c.judge()
			}), c.onError)}
			if c.there {
				opts = append(opts, gate.WithApprover(ports.Approver(ports.Yes)))
			}
			out := decide(t, newGate(t, opts...), c.tool, `{}`)
			want(t, out, c.status, c.code)
			if c.there && judged != 1 {
				t.Errorf("judged %d times", judged)
			}
		})
	}
}

// The end of the caller's own time while a layer works is no answer of the layer.
func TestTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, gate.WithJudge(ports.Judge(func(ctx context.Context, _ gate.Proposal) (gate.Opinion, error) {
			<-ctx.Done()
			return gate.Opinion{Mode: stopgate.Unattended}, nil // too late to be believed
		}), stopgate.Ask), gate.WithApprover(ports.Approver(ports.Yes)))
		for range 100 { // whichever of the two is seen first
			short, cancel := context.WithTimeout(ctx, time.Second)
			out, err := g.Decide(short, stopgate.Call{Tool: "free", Args: []byte(`{}`)})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			want(t, out, stopgate.Denied, stopgate.CodePolicyTimeout)
		}
	})
}

// A call that is refused while a layer works stays refused, whatever the layer says.
func TestRefusedWhileALayerWorks(t *testing.T) {
	for range 50 {
		var p *gate.Pending
		refuse := func() { p.Refuse(stopgate.CodeStreamTruncated) }
		g := newGate(t,
			gate.WithToolPolicies(ports.ToolPolicy{As: "p", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) {
				return gate.Decision{Kind: gate.Permit, Reason: "fine"}, nil
			}}),
			gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
				refuse()
				return gate.Opinion{Mode: stopgate.Deny}, nil
			}), stopgate.Deny))
		p = openCall(t, g, "free")
		p.Feed([]byte(`{}`))
		p.Close(stopgate.Ended)
		out, _ := p.Resolve(ctx)
		want(t, out, stopgate.Denied, stopgate.CodeStreamTruncated)
	}
}

// A denied call costs no judge (S29).
func TestDeniedCallsAreNotJudged(t *testing.T) {
	g := newGate(t, gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
		t.Error("the judge was asked")
		return gate.Opinion{}, nil
	}), stopgate.Deny))
	for _, tool := range []stopgate.ToolName{"denied", "skipped", "nobody-knows-it"} {
		decide(t, g, tool, `{}`)
	}
}

// Proves S29: the judge works beside the open prompt, and its denial withdraws it.
func TestTheJudgeWorksBesideThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withdrawn := make(chan error, 1)
		g := newGate(t,
			gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
				time.Sleep(3 * time.Second)
				return gate.Opinion{Mode: stopgate.Deny, Public: "It deletes the database."}, nil
			}), stopgate.Deny),
			gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
				<-ctx.Done()
				withdrawn <- context.Cause(ctx)
				return gate.Answer{}, ctx.Err()
			})))
		start := time.Now()
		out := decide(t, g, "asked", `{}`)
		want(t, out, stopgate.Denied, stopgate.CodeJudgeDenied)
		if took := time.Since(start); took != 3*time.Second || out.Verdict.Public != "It deletes the database." {
			t.Errorf("%+v after %v", out.Verdict, took)
		}
		if cause := <-withdrawn; !strings.Contains(cause.Error(), "judge_denied") {
			t.Errorf("cause %v", cause)
		}
	})
}

// A person's no ends the judge's work.
func TestADeclinedPromptEndsTheJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t,
			gate.WithJudge(ports.Judge(func(ctx context.Context, _ gate.Proposal) (gate.Opinion, error) {
				<-ctx.Done()
				return gate.Opinion{}, ctx.Err()
			}), stopgate.Deny),
			gate.WithApprover(ports.Approver(ports.No)))
		start := time.Now()
		want(t, decide(t, g, "asked", `{}`), stopgate.Denied, stopgate.CodeApprovalDeclined)
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

// Proves S29, H3: an edited call is judged again.
func TestEditsAreJudged(t *testing.T) {
	var judged []string
	g := newGate(t,
		gate.WithJudge(ports.Judge(func(_ context.Context, p gate.Proposal) (gate.Opinion, error) {
			judged = append(judged, p.Args)
			if p.Parent != "" {
				return gate.Opinion{Mode: stopgate.Deny}, nil
			}
			return gate.Opinion{Mode: stopgate.Unattended}, nil
		}), stopgate.Deny),
		answers(func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{"b":2}`)) }))
	want(t, decide(t, g, "asked", `{"a":1}`), stopgate.Denied, stopgate.CodeJudgeDenied)
	if !slices.Equal(judged, []string{`{"a":1}`, `{"b":2}`}) {
		t.Errorf("judged %v", judged)
	}
}

// Proves I3, I15, I14, M26, X1: for random layers the outcome is the strictest of
// what they say, the trace never gets weaker, and a layer less never makes the
// outcome stricter.
func TestLayersCompose(t *testing.T) {
	modes := []stopgate.Mode{stopgate.Deny, stopgate.Skip, stopgate.Edit, stopgate.Ask, stopgate.Unattended}
	property.Check(t, func(t *rapid.T) {
		// The rules publish modes that get stricter, as any evaluator must.
		var steps []gate.Step
		rule := stopgate.Unattended
		for at := int64(0); at < 7 && !rule.Terminal(); at++ { // the first terminal one is the last (K7)
			if m := rapid.SampledFrom(modes).Draw(t, "mode"); m <= rule && rapid.Bool().Draw(t, "published") {
				if rule = m; len(steps) == 0 || steps[len(steps)-1].Mode != m {
					steps = append(steps, gate.Step{At: at, Verdict: decided(m)})
				}
			}
		}
		if len(steps) == 0 {
			steps = []gate.Step{{At: gate.AtEnd, Verdict: decided(rule)}}
		}
		forbids := rapid.Bool().Draw(t, "tool policy forbids")
		objects := rapid.Bool().Draw(t, "session objects")
		judge := rapid.SampledFrom([]stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Deny}).Draw(t, "judge")
		approves := rapid.Bool().Draw(t, "approves")
		run := func(without string) (stopgate.Outcome, []stopgate.Verdict) {
			policy := &gate.ScriptedPolicy{Hash: "p", Tools: map[stopgate.ToolName]gate.Script{"t": {Steps: steps}}}
			var opts []gate.Option
			if forbids && without != "policy" {
				opts = append(opts, gate.WithToolPolicies(policyOf("go", gate.Decision{Kind: gate.Forbid, Reason: "no"})))
			}
			if objects && without != "sessions" {
				opts = append(opts, sessionsOf(objecting("p", "no", ""))...)
			}
			if without != "judge" {
				opts = append(opts, gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) {
					return gate.Opinion{Mode: judge}, nil
				}), stopgate.Deny))
			}
			if approves {
				opts = append(opts, gate.WithApprover(ports.Approver(ports.Yes)))
			}
			g, err := gate.NewScripted(policy, opts...)
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.Open(ctx, stopgate.Call{Tool: "t"})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range []byte(`{"a":1}`) {
				p.Feed([]byte{b})
			}
			p.Close(stopgate.Ended)
			out, err := p.Resolve(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return out, p.Trace()
		}

		out, trace := run("")
		strictest := stopgate.Strictest(rule, judge)
		if rule.Terminal() {
			strictest = rule // nobody else is asked
		} else if forbids || objects {
			strictest = stopgate.Deny
		}
		status := stopgate.Denied
		switch {
		case strictest == stopgate.Skip:
			status = stopgate.Skipped
		case strictest.Permissive(), !strictest.Terminal() && approves:
			status = stopgate.Allowed
		}
		if out.Status != status {
			t.Fatalf("%s, want %s (strictest %s): %v", out.Status, status, strictest, trace)
		}
		for i := 1; i < len(trace); i++ {
			if trace[i].Mode > trace[i-1].Mode {
				t.Fatalf("the trace gets weaker: %v", trace)
			}
		}
		if last := trace[len(trace)-1]; last.Mode != out.Verdict.Mode {
			t.Fatalf("the trace ends with %v, the outcome is %v", last, out.Verdict)
		}
		for _, without := range []string{"policy", "sessions", "judge"} {
			if less, _ := run(without); out.Allowed() && !less.Allowed() {
				t.Fatalf("without %s the call is denied: %v", without, less.Verdict)
			}
		}
	})
}
