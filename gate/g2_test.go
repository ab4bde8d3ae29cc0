package gate_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// handoffPolicy is a handoff policy of one function.
type handoffPolicy func(p gate.Proposal) (gate.Decision, error)

func (handoffPolicy) Name() string { return "go" }
func (h handoffPolicy) CheckHandoff(_ context.Context, p gate.Proposal) (gate.Decision, error) {
	return h(p)
}

// tracer keeps events.
type tracer struct {
	mu     sync.Mutex
	events []gate.TraceEvent
}

func (t *tracer) Trace(_ context.Context, e gate.TraceEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
}

func (t *tracer) names() (names []string) {
	for _, e := range t.events {
		names = append(names, e.Name+" "+e.Decision+" "+string(e.Reason))
	}
	return names
}

// Proves G2-01, G2-02, G2-03, G2-08, G2-09, G2-10, G2-11, G2-12, G2-13, G2-14, G2-15,
// G2-16, G2-18, G2-21: the matrix of ten, for tools and handoffs alike.
func TestG2Matrix(t *testing.T) {
	permit := gate.Decision{Kind: gate.Permit, Reason: "fine"}
	forbid := gate.Decision{Kind: gate.Forbid, Reason: "no_refunds", Public: "Refunds are closed."}
	for _, c := range []struct {
		name    string
		missing bool
		answer  gate.Decision
		err     error
		panics  bool
		soft    bool
		status  stopgate.Status
		code    stopgate.Code
	}{
		{name: "allow", answer: permit, status: stopgate.Allowed},
		{name: "deny", answer: forbid, code: "no_refunds"},
		{name: "missing", missing: true, code: stopgate.CodePolicyNotConfigured},
		{name: "throws", err: errors.New("AKIA"), code: stopgate.CodePolicyError},
		{name: "panics", panics: true, code: stopgate.CodePolicyError},
		{name: "invalid", answer: gate.Decision{}, code: stopgate.CodeInvalidPolicyResult},
		{name: "no reason", answer: gate.Decision{Kind: gate.Permit}, code: stopgate.CodeInvalidPolicyResult},
		{name: "soft", answer: forbid, soft: true, code: "no_refunds"},
		{name: "soft missing", missing: true, soft: true, code: stopgate.CodePolicyNotConfigured},
	} {
		for _, kind := range []string{"tool", "handoff"} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				var rec ports.Recorder
				var seen tracer
				opts := []gate.Option{gate.WithRecorder(&rec), gate.WithTracer(&seen), gate.WithDenyMode(gate.DenyThrow)}
				if c.soft {
					opts = append(opts, gate.WithDenyMode(gate.DenyToolResult))
				}
				answer := func() (gate.Decision, error) {
					if c.panics {
						panic("AKIA")
					}
					return c.answer, c.err
				}
				if !c.missing {
					opts = append(opts,
						gate.WithToolPolicies(ports.ToolPolicy{As: "go", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) { return answer() }}),
						gate.WithHandoffPolicies(handoffPolicy(func(gate.Proposal) (gate.Decision, error) { return answer() })))
				}
				g := newGate(t, opts...)
				var out stopgate.Outcome
				var err error
				sentinel, name := gate.ErrToolDenied, gate.TraceTool
				if kind == "handoff" {
					sentinel, name = gate.ErrHandoffDenied, gate.TraceHandoff
					out, err = g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "billing", Session: "s"})
				} else {
					tool := stopgate.ToolName("free")
					if c.missing {
						tool = "nobody-knows-it"
					}
					out, err = g.Decide(ctx, stopgate.Call{Tool: tool, Session: "s", Args: []byte(`{}`)})
				}
				if out.Status != c.status || c.code != "" && out.Verdict.Code != c.code {
					t.Fatalf("%v", out)
				}
				var denied *gate.Denied
				if hard := out.Status == stopgate.Denied && !c.soft; errors.Is(err, sentinel) != hard || errors.As(err, &denied) != hard || !hard && err != nil {
					t.Errorf("error %v", err)
				}
				if out.Status == stopgate.Denied && out.Args != nil {
					t.Error("something may run")
				}
				wanted := `{"status":"ok","code":null,"publicReason":null,"data":null}`
				if !out.Allowed() {
					public := cmp.Or(c.answer.Public, c.code.Public())
					if c.missing && kind == "handoff" {
						public = "No policy covers this handoff."
					}
					wanted = fmt.Sprintf(`{"status":"denied","code":%q,"publicReason":%q,"data":null}`, c.code, public)
				}
				if text, err := json.Marshal(out.Envelope()); err != nil || string(text) != wanted {
					t.Errorf("envelope %s, %v\nwant %s", text, err, wanted)
				}
				if len(seen.events) != 1 || seen.events[0].Name != name || seen.events[0].Decision != out.Status.String() || seen.events[0].Reason != out.Verdict.Code {
					t.Errorf("traced %v", seen.names())
				}
				if rows := rec.Decisions(); len(rows) != 1 || strings.Contains(rec.Text(), "AKIA") {
					t.Errorf("rows %s", rec.Text())
				}
			})
		}
	}
}

// Proves G2-04, G2-17, G2-19, TPS-34, TPS-35: what tracers see, without a secret.
func TestTraces(t *testing.T) {
	var seen tracer
	var to stopgate.AgentName
	g := newGate(t,
		gate.WithTracer(&seen, "/password", "/deep/**/token", "/list/*/key"),
		gate.WithToolPolicies(policyOf("go", gate.Decision{Kind: gate.Permit, Reason: "fine", Metadata: map[string]string{"tier": "gold"}})),
		gate.WithHandoffPolicies(handoffPolicy(func(p gate.Proposal) (gate.Decision, error) {
			to = p.To
			return gate.Decision{Kind: gate.Permit, Reason: "fine"}, nil
		})),
		gate.WithStore(&ports.Store{Memory: true}),
		gate.WithSessionPolicies(ports.Registry(policies.Require("asked").After("x").Named("first"))))
	args := `{"Password":"AKIA1","deep":{"a":[{"token":"AKIA2","n":1}],"token":{"x":"AKIA3"}},"list":[{"key":"AKIA4"},5],"plain":"seen"}`
	g.Decide(ctx, stopgate.Call{Tool: "free", ID: "c1", Turn: "t1", Agent: "triage", Session: "s", Args: []byte(args)})
	g.Decide(ctx, stopgate.Call{Tool: "asked", Session: "s", Args: []byte(`{}`)})
	g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "billing", ID: "h1", Turn: "t1", Session: "s", Payload: []byte(`{"password":"AKIA5"}`)})
	want := []string{
		"tool_policy_evaluated allowed rule_matched", "tool_policy_evaluated denied prerequisite_missing", "policy_denied denied prerequisite_missing",
		"handoff_policy_evaluated allowed fine",
	}
	if !slices.Equal(seen.names(), want) {
		t.Fatalf("%q", seen.names())
	}
	e := seen.events[0]
	if e.Args != `{"Password":"[redacted]","deep":{"a":[{"token":"[redacted]","n":1}],"token":"[redacted]"},"list":[{"key":"[redacted]"},5],"plain":"seen"}` {
		t.Errorf("args %s", e.Args)
	}
	if e.Agent != "triage" || e.Turn != "t1" || e.Tool != "free" || e.CallID != "c1" || e.Policy != g.PolicyHash() || e.Warning ||
		e.Metadata["policy go"] != "fine" || e.Metadata["go.tier"] != "gold" || e.Metadata["layer"] != "rules" {
		t.Errorf("%+v", e)
	}
	if d := seen.events[2]; d.Row == nil || d.Row.Time.IsZero() || d.Policy != "first" || d.Tool != "asked" || !d.Warning || d.Session != "s" || d.Metadata["missing"] != "x" || d.ID == "" {
		t.Errorf("%+v", d)
	}
	if h := seen.events[3]; h.Agent != "triage" || h.Turn != "t1" || h.Policy != g.PolicyHash() || h.Metadata["layer"] == "" || h.Handoff != "billing" || to != "billing" || h.Tool != "" || h.CallID != "h1" || strings.Contains(h.Args, "AKIA") {
		t.Errorf("%+v", h)
	}
}

// Proves G2-04: the deny mode of one decision, whatever that of the gate is.
func TestDenyModeOfADecision(t *testing.T) {
	for _, c := range []struct {
		gate, decision gate.DenyMode
		hard           bool
	}{
		{gate.DenyThrow, gate.DenyByPolicy, true}, {gate.DenyToolResult, gate.DenyByPolicy, false},
		{gate.DenyThrow, gate.DenyToolResult, false}, {gate.DenyToolResult, gate.DenyThrow, true},
	} {
		forbid := gate.Decision{Kind: gate.Forbid, Reason: "no_refunds", DenyMode: c.decision}
		g := newGate(t, gate.WithDenyMode(c.gate), gate.WithToolPolicies(policyOf("go", forbid)),
			gate.WithHandoffPolicies(handoffPolicy(func(gate.Proposal) (gate.Decision, error) { return forbid, nil })))
		out, err := g.Decide(ctx, stopgate.Call{Tool: "free", Args: []byte(`{}`)})
		if out.Verdict.Code != "no_refunds" || errors.Is(err, gate.ErrToolDenied) != c.hard {
			t.Errorf("%+v: %v %v", c, out.Verdict, err)
		}
		out, err = g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "billing", Session: "s"})
		if out.Verdict.Code != "no_refunds" || errors.Is(err, gate.ErrHandoffDenied) != c.hard {
			t.Errorf("handoff %+v: %v %v", c, out.Verdict, err)
		}
		if out, err = g.Decide(ctx, stopgate.Call{Tool: "free", Args: []byte(`{`)}); errors.Is(err, gate.ErrToolDenied) != (c.gate != gate.DenyToolResult) {
			t.Errorf("%+v: a denial of another layer: %v %v", c, out.Verdict, err)
		}
	}
	g := newGate(t, gate.WithToolPolicies(policyOf("go", gate.Decision{Kind: gate.Permit, Reason: "fine", DenyMode: 9})))
	if out, _ := g.Decide(ctx, stopgate.Call{Tool: "free", Args: []byte(`{}`)}); out.Verdict.Code != stopgate.CodeInvalidPolicyResult {
		t.Errorf("a deny mode that is none: %v", out.Verdict)
	}
}

// Proves G2-17: a call that only a policy in Go permits has its reason, in the outcome, the row
// and the trace; one that a rule permits has the rule.
func TestReasonOfAnAllow(t *testing.T) {
	var seen tracer
	var rec ports.Recorder
	permit := gate.Decision{Kind: gate.Permit, Reason: "known_customer", Public: "The customer is known."}
	g := fileGate(t, "version = 1\n[tools.free.policy]\nrun = \"unattended\"\n", gate.WithTracer(&seen), gate.WithRecorder(&rec), gate.WithToolPolicies(policyOf("go", permit)),
		gate.WithHandoffPolicies(handoffPolicy(func(gate.Proposal) (gate.Decision, error) { return permit, nil })))
	for _, c := range []struct {
		tool stopgate.ToolName
		code stopgate.Code
		rule bool
	}{{"nobody-knows-it", "known_customer", false}, {"free", stopgate.CodeRuleMatched, true}} {
		out, err := g.Decide(ctx, stopgate.Call{Tool: c.tool, Args: []byte(`{}`)})
		rows := rec.Decisions()
		if row, e := rows[len(rows)-1], seen.events[len(seen.events)-1]; err != nil || !out.Allowed() || out.Verdict.Code != c.code || row.Code != c.code || e.Reason != c.code ||
			(out.Verdict.Rule != nil) != c.rule || (row.Rule != nil) != c.rule {
			t.Errorf("%s: %v %v, row %v, traced %v", c.tool, out.Verdict, err, row.Code, e.Reason)
		}
	}
	out, err := g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "billing", Session: "s"})
	if e := seen.events[len(seen.events)-1]; err != nil || out.Verdict.Code != "known_customer" || out.Verdict.Public != "The customer is known." || e.Reason != "known_customer" {
		t.Errorf("%v %v %v", out, err, e)
	}
}

type runContext struct{}

// Proves G2-05, G2-06, G2-07, G2-20, G2-23: a policy in Go is given agent, tool or receiver, the
// arguments as text and parsed, the turn and the context of the run; the same proposal is
// the same input, whatever its spelling; and it can refuse by a sensitive member.
func TestWhatPoliciesAreGiven(t *testing.T) {
	var seen []gate.Proposal
	look := func(ctx context.Context, p gate.Proposal) (gate.Decision, error) {
		if ctx.Value(runContext{}) != "run 7" {
			t.Error("another context")
		}
		seen = append(seen, p)
		args, err := p.Parsed()
		if err != nil {
			return gate.Decision{}, err
		}
		if _, sensitive := args.Get("password"); sensitive {
			return gate.Decision{Kind: gate.Forbid, Reason: "sensitive"}, nil
		}
		return gate.Decision{Kind: gate.Permit, Reason: "fine"}, nil
	}
	g := newGate(t, gate.WithDenyMode(gate.DenyToolResult), gate.WithToolPolicies(ports.ToolPolicy{As: "go", Answer: look}), gate.WithHandoffPolicies(lookingAt(look)))
	run := context.WithValue(ctx, runContext{}, "run 7")
	spellings := []string{`{"n":1,"m":[{"k":"v"}]}`, ` { "n" : 1 , "m" : [ { "\u006b" : "v" } ] } `, `{"n":1,"pass\u0077ord":"x"}`}
	for i, args := range spellings {
		want := map[bool]stopgate.Status{true: stopgate.Denied, false: stopgate.Allowed}[strings.Contains(args, "pass")]
		turn := stopgate.TurnID(fmt.Sprint("t", i)) // one transfer in each
		out, err := g.Decide(run, stopgate.Call{Tool: "free", ID: "c1", Turn: turn, Agent: "triage", Session: "s", Principal: "ann", Args: []byte(args)})
		if err != nil || out.Status != want {
			t.Errorf("%s: %v %v", args, out, err)
		}
		out, err = g.Handoff(run, gate.HandoffCall{From: "triage", To: "billing", ID: "h1", Turn: turn, Session: "s", Principal: "ann", Payload: []byte(args)})
		if err != nil || out.Status != want {
			t.Errorf("payload %s: %v %v", args, out, err)
		}
	}
	for i, p := range seen {
		if raw := spellings[i/2]; p.Raw != raw {
			t.Errorf("raw %q", p.Raw)
		}
		if c := p.Call; c.Agent != "triage" || c.Turn != stopgate.TurnID(fmt.Sprint("t", i/2)) || c.Session != "s" || c.Principal != "ann" || c.Args != nil || p.Policy != g.PolicyHash() {
			t.Errorf("proposal %d: %+v", i, p)
		}
		switch c := p.Call; i % 2 {
		case 0:
			if c.Tool != "free" || c.ID != "c1" || p.To != "" {
				t.Errorf("call %+v", p)
			}
		case 1:
			if p.To != "billing" || c.ID != "h1" {
				t.Errorf("handoff %+v", p)
			}
		}
	}
	for i := range 2 {
		a, b := seen[i], seen[i+2]
		x, _ := a.Parsed()
		y, err := b.Parsed()
		if same := slices.Equal(jsonstream.AppendCanonical(nil, x), jsonstream.AppendCanonical(nil, y)); err != nil || !same || a.ID == b.ID || a.ArgsHash != b.ArgsHash || a.ArgsHash == "" {
			t.Errorf("the same proposal twice: %+v, %+v", a, b)
		}
	}
}

// lookingAt is a handoff policy that sees its context too.
type lookingAt func(context.Context, gate.Proposal) (gate.Decision, error)

func (lookingAt) Name() string { return "go" }
func (l lookingAt) CheckHandoff(ctx context.Context, p gate.Proposal) (gate.Decision, error) {
	return l(ctx, p)
}

// Proves G2-16, G2-17: every proposal is traced once, however it ends.
func TestEveryProposalIsTraced(t *testing.T) {
	var seen tracer
	g := newGate(t, gate.WithTracer(&seen), answers(func(v gate.View) gate.Answer { return v.Edit("ann", []byte(`{"b":2}`)) }))
	for _, end := range []stopgate.End{stopgate.Truncated, stopgate.Ended} {
		p := openCall(t, g, "free")
		p.Feed([]byte(`{"a":`))
		p.Close(end)
		p.Resolve(ctx)
	}
	p := openCall(t, g, "free")
	p.Cancel(ctx)
	p.Cancel(ctx)
	decide(t, g, "skipped", `{}`)
	decide(t, g, "nobody-knows-it", `{}`)
	decide(t, g, "edited", `{}`)
	var got []string
	for _, e := range seen.events {
		if got = append(got, e.Decision+" "+string(e.Reason)); e.Name != gate.TraceTool || e.Tool == "" || e.Policy != "policy-1" || e.Session != "s" {
			t.Errorf("%+v", e)
		}
	}
	want := []string{"denied stream_truncated", "denied malformed_arguments", "denied cancelled", "skipped rule_matched", "denied policy_not_configured", "edited rule_matched", "allowed rule_matched"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Proves G2-14, K33: without a word about it, in the file or in Go, a denial is an error.
func TestDenyModeOmitted(t *testing.T) {
	g := fileGate(t, "version = 1\n[tools.a.policy]\nrun = \"deny\"\n")
	if _, err := g.Decide(ctx, stopgate.Call{Tool: "a", Args: []byte(`{}`)}); !errors.Is(err, gate.ErrToolDenied) {
		t.Error(err)
	}
	if _, err := g.Handoff(ctx, gate.HandoffCall{To: "b"}); !errors.Is(err, gate.ErrHandoffDenied) {
		t.Error(err)
	}
}

// A tracer that fails changes nothing.
func TestATracerThatFails(t *testing.T) {
	g := newGate(t, gate.WithTracer(broken{}))
	want(t, decide(t, g, "free", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
}

type broken struct{}

func (broken) Trace(context.Context, gate.TraceEvent) { panic("no") }

const handoffFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools."*".policy]
run = "deny"
[tools.search.policy]
run = [ { when = { agent = "triage" }, mode = "ask" }, { mode = "unattended" } ]
[tools.task.parameters.agent]
type = "string"
[tools.task.policy]
run = "unattended"
[[handoffs]]
from = "triage"
to = ["billing", "refunds"]
mode = "unattended"
[[handoffs]]
from = "billing"
to = "vault"
mode = "ask"
[[handoffs]]
to = "helper"
mode = "unattended"
kind = "delegate"
[[handoffs]]
from = "triage"
to = "clerk"
mode = "unattended"
inherit = true
[[handoffs]]
to = "forbidden"
mode = "deny"
reason = "Nobody may."
[[handoffs]]
to = "*_worker"
mode = "unattended"
kind = "delegate"
tool = "task"
to_arg = "/agent"
`

// Proves X15, P11, S9, S41: one transfer in a turn, delegates without limit; files
// decide by the first entry; tools can be handoffs.
func TestHandoffs(t *testing.T) {
	store := &ports.Store{Memory: true}
	g := fileGate(t, handoffFile, gate.WithStore(store))
	turn := g.Turn(session.Owner{Session: "s"}, "")
	hand := func(in interface {
		Handoff(context.Context, gate.HandoffCall) (stopgate.Outcome, error)
	}, from, to stopgate.AgentName, status stopgate.Status, code stopgate.Code) stopgate.Outcome {
		t.Helper()
		out, err := in.Handoff(ctx, gate.HandoffCall{From: from, To: to, Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		want(t, out, status, code)
		return out
	}
	hand(turn, "triage", "vault", stopgate.Denied, stopgate.CodePolicyNotConfigured)
	hand(turn, "triage", "", stopgate.Denied, stopgate.CodePolicyNotConfigured)
	hand(turn, "billing", "vault", stopgate.Denied, stopgate.CodeNoApprover)
	if out := hand(turn, "", "forbidden", stopgate.Denied, stopgate.CodeRuleMatched); out.Verdict.Public != "Nobody may." {
		t.Errorf("%q", out.Verdict.Public)
	}
	hand(turn, "triage", "helper", stopgate.Allowed, stopgate.CodeRuleMatched)
	hand(turn, "triage", "billing", stopgate.Allowed, stopgate.CodeRuleMatched)
	hand(turn, "triage", "refunds", stopgate.Denied, stopgate.CodeHandoffAlreadyTaken)
	hand(turn, "triage", "helper", stopgate.Allowed, stopgate.CodeRuleMatched)
	hand(g, "triage", "refunds", stopgate.Allowed, stopgate.CodeRuleMatched)
	out, err := turn.Decide(ctx, stopgate.Call{Tool: "search", Agent: "refunds", Args: []byte(`{}`)})
	if err != nil || !out.Allowed() {
		t.Errorf("a call behind the transfer: %v %v", out, err)
	}
	for args, code := range map[string]stopgate.Code{
		`{"agent":"a_worker"}`: "", `{"agent":"billing"}`: stopgate.CodePolicyNotConfigured, `{}`: stopgate.CodePolicyNotConfigured, `{"agent":"forbidden"}`: stopgate.CodeRuleMatched,
	} {
		out, err := turn.Decide(ctx, stopgate.Call{Tool: "task", Args: []byte(args)})
		if err != nil || out.Allowed() != (code == "") || code != "" && out.Verdict.Code != code {
			t.Errorf("task %s: %v %v", args, out, err)
		}
	}
	if out, _ := g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "billing", Payload: []byte(`{"a":1,"a":2}`)}); out.Verdict.Code != stopgate.CodeDuplicateKey {
		t.Errorf("%v", out.Verdict)
	}
}

// Proves X15, S9: the receiver of an inheriting handoff is never governed more weakly
// than whoever handed over, also behind further handoffs.
func TestInheritance(t *testing.T) {
	g := fileGate(t, handoffFile, gate.WithStore(&ports.Store{Memory: true}))
	search := func(agent stopgate.AgentName) stopgate.Outcome {
		out, err := g.Decide(ctx, stopgate.Call{Tool: "search", Agent: agent, Session: "s", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want(t, search("clerk"), stopgate.Allowed, stopgate.CodeRuleMatched)
	want(t, search("triage"), stopgate.Denied, stopgate.CodeNoApprover)
	if out, _ := g.Handoff(ctx, gate.HandoffCall{From: "triage", To: "clerk", Session: "s"}); !out.Allowed() {
		t.Fatal(out.Verdict)
	}
	want(t, search("clerk"), stopgate.Denied, stopgate.CodeNoApprover)
	bare := fileGate(t, handoffFile)
	if out, _ := bare.Handoff(ctx, gate.HandoffCall{From: "triage", To: "clerk", Session: "s"}); out.Verdict.Code != stopgate.CodeStoreUnavailable {
		t.Errorf("nobody remembers, and it is allowed: %v", out.Verdict)
	}
}

// Proves G2-22, X12: a handoff can be asked about, and an approval belongs to the
// receiver.
func TestHandoffApproval(t *testing.T) {
	var asked gate.View
	g := fileGate(t, handoffFile, gate.WithStore(&ports.Store{Memory: true}), answers(func(v gate.View) gate.Answer {
		asked = v
		return v.Approve("ann")
	}))
	out, err := g.Handoff(ctx, gate.HandoffCall{From: "billing", To: "vault", Session: "s", Payload: []byte(`{"why":"x"}`)})
	if err != nil || !out.Allowed() || string(out.Args) != `{"why":"x"}` || out.Approval == nil {
		t.Fatalf("%v %v", out, err)
	}
	if asked.To != "vault" || asked.Call.Agent != "billing" || !strings.Contains(string(asked.Binding.Tool), "vault") {
		t.Errorf("asked %+v", asked)
	}
}

// Proves G2-17: a tracer is told whether the arguments of a call were complete when it
// ended, and that a question was left to the program that runs the tool.
func TestTracesOfCallsThatEnd(t *testing.T) {
	var seen tracer
	g := newGate(t, gate.WithTracer(&seen), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		view, err := q.Complete(ctx)
		return view.Refer("host prompt"), err
	})))
	p := openCall(t, g, "free")
	p.Feed([]byte(`{"a":`))
	p.Close(stopgate.Truncated)
	if out, _ := p.Resolve(ctx); out.Verdict.Code != stopgate.CodeStreamTruncated {
		t.Errorf("a call that is cut off: %s", out.Verdict)
	}
	want(t, decide(t, g, "free", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
	want(t, decide(t, g, "asked", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
	if len(seen.events) != 3 || !seen.events[0].Partial || seen.events[1].Partial || seen.events[2].Partial {
		t.Fatalf("%+v", seen.events)
	}
	if e := seen.events[2]; e.Via != "host" || e.Answer == nil || !e.Answer.Referred || e.Answer.By != "host prompt" {
		t.Errorf("by way of %q: %+v", e.Via, e.Answer)
	}
}
