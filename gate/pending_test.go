package gate_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	stopgatepolicy "github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

var ctx = context.Background()

func decided(m stopgate.Mode) stopgate.Verdict {
	return stopgate.Verdict{
		Decided: true, Mode: m, Layer: stopgate.LayerRules, Code: stopgate.CodeRuleMatched,
		Rule: &stopgate.RuleRef{File: "stopgate.toml", Line: 3}, Public: "By the rule.",
	}
}

// tools is the policy of most tests: each tool is named for what it gets.
func tools() *gate.ScriptedPolicy {
	early := func(m stopgate.Mode) gate.Script {
		return gate.Script{Steps: []gate.Step{{At: 5, Verdict: decided(m)}}}
	}
	late := func(m stopgate.Mode) gate.Script {
		return gate.Script{Steps: []gate.Step{{At: gate.AtEnd, Verdict: decided(m)}}}
	}
	return &gate.ScriptedPolicy{Hash: "policy-1", Tools: map[stopgate.ToolName]gate.Script{
		"free": late(stopgate.Unattended), "asked": late(stopgate.Ask), "edited": late(stopgate.Edit),
		"skipped": late(stopgate.Skip), "denied": late(stopgate.Deny),
		"asked-early": early(stopgate.Ask), "skipped-early": early(stopgate.Skip), "denied-early": early(stopgate.Deny), "free-early": early(stopgate.Unattended),
		"undecided": {},
	}}
}

func newGate(t testing.TB, opts ...gate.Option) *gate.Gate {
	t.Helper()
	g, err := gate.NewScripted(tools(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func openCall(t testing.TB, g *gate.Gate, tool stopgate.ToolName) *gate.Pending {
	t.Helper()
	p, err := g.Open(ctx, stopgate.Call{Tool: tool, ID: "call_1", Session: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decide(t testing.TB, g *gate.Gate, tool stopgate.ToolName, args string) stopgate.Outcome {
	t.Helper()
	out, err := g.Decide(ctx, stopgate.Call{Tool: tool, ID: "call_1", Session: "s", Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// want checks status, code and that bytes go with an allow and only with one.
func want(t testing.TB, out stopgate.Outcome, status stopgate.Status, code stopgate.Code) {
	t.Helper()
	if out.Status != status || out.Verdict.Code != code {
		t.Errorf("%s %s, want %s %s", out.Status, out.Verdict.Code, status, code)
	}
	if out.Allowed() != (out.Args != nil) {
		t.Errorf("%s with arguments %q", out.Status, out.Args)
	}
	if out.Proposal == "" {
		t.Error("the outcome has no proposal id")
	}
}

// Proves P1, P2, P7, P10, X1, D25-45, K34: what each mode comes to.
func TestModesAndOutcomes(t *testing.T) {
	for _, c := range []struct {
		tool   stopgate.ToolName
		args   string
		status stopgate.Status
		code   stopgate.Code
	}{
		{"free", `{"a":1}`, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"free-early", `{"a":1}`, stopgate.Allowed, stopgate.CodeRuleMatched},
		{"asked", `{"a":1}`, stopgate.Denied, stopgate.CodeNoApprover},
		{"edited", `{"a":1}`, stopgate.Denied, stopgate.CodeNoApprover},
		{"skipped", `{"a":1}`, stopgate.Skipped, stopgate.CodeRuleMatched},
		{"denied", `{"a":1}`, stopgate.Denied, stopgate.CodeRuleMatched},
		{"denied-early", `{"a":1}`, stopgate.Denied, stopgate.CodeRuleMatched},
		{"nobody-knows-it", `{"a":1}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
		{"free", `{"a":`, stopgate.Denied, stopgate.CodeMalformedArguments},
		{"free", ``, stopgate.Denied, stopgate.CodeMalformedArguments},
		{"free", `[1]`, stopgate.Denied, stopgate.CodeMalformedArguments},
		{"undecided", `{"a":1}`, stopgate.Denied, stopgate.CodePolicyError},
	} {
		t.Run(string(c.tool)+" "+c.args, func(t *testing.T) {
			var rec ports.Recorder
			out := decide(t, newGate(t, gate.WithRecorder(&rec)), c.tool, c.args)
			want(t, out, c.status, c.code)
			if out.Allowed() && string(out.Args) != c.args {
				t.Errorf("runs %s", out.Args)
			}
			if !out.Enforced || out.Approval != nil {
				t.Errorf("outcome %+v", out)
			}
			if n := len(rec.Decisions()); n != 1 {
				t.Errorf("%d decision rows", n)
			}
		})
	}
}

// Proves K51, K50: Open refuses arguments, Decide wants them.
func TestOpenAndDecide(t *testing.T) {
	g := newGate(t)
	if _, err := g.Open(ctx, stopgate.Call{Tool: "free", Args: []byte(`{}`)}); !errors.Is(err, gate.ErrArgs) {
		t.Errorf("Open with arguments: %v", err)
	}
	out, err := g.Decide(ctx, stopgate.Call{Tool: "free"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, out, stopgate.Denied, stopgate.CodeMalformedArguments)
}

// Proves K51: everything that is said twice or too late changes nothing.
func TestCallsOutOfOrder(t *testing.T) {
	g := newGate(t)
	p := openCall(t, g, "free")
	if _, err := p.Resolve(ctx); !errors.Is(err, gate.ErrOpen) {
		t.Errorf("Resolve before Close: %v", err)
	}
	done := p.Done()
	p.Feed([]byte(`{"a":1}`))
	first := p.Close(stopgate.Ended)
	for _, v := range []stopgate.Verdict{p.Feed([]byte("x")), p.Close(stopgate.Cancelled), p.Verdict()} {
		if v.String() != first.String() {
			t.Errorf("verdict %v, want %v", v, first)
		}
	}
	out, err := p.Resolve(ctx)
	if err != nil || !out.Allowed() {
		t.Fatalf("%+v, %v", out, err)
	}
	<-done // closed with the outcome, so that nobody waits for a call that is over
	if out, err := p.Resolve(ctx); !errors.Is(err, gate.ErrResolved) || out.Allowed() || out.Proposal != p.ID() {
		t.Errorf("second Resolve: %+v, %v", out, err)
	}
	if err := p.Ask(ctx); !errors.Is(err, gate.ErrResolved) {
		t.Errorf("Ask after Resolve: %v", err)
	}
	p.Cancel(ctx)
	if v := p.Refuse(stopgate.CodeClientGone); v.Terminal() {
		t.Errorf("Refuse after Resolve: %v", v)
	}
	if v := p.Verdict(); v.Code != stopgate.CodeRuleMatched || len(p.Trace()) != 1 {
		t.Errorf("after Resolve: %v, trace %v", v, p.Trace())
	}
}

// Proves K7, D26-21: bytes behind a terminal verdict are counted and change nothing.
func TestBytesBehindADenial(t *testing.T) {
	var rec ports.Recorder
	g := newGate(t, gate.WithRecorder(&rec))
	p := openCall(t, g, "denied-early")
	if v := p.Feed([]byte(`{"a"`)); v.Decided {
		t.Fatalf("after 4 bytes: %v", v)
	}
	if v := p.Feed([]byte(`:1`)); !v.Terminal() || v.DecidedAt != 5 {
		t.Fatalf("after 6 bytes: %v", v)
	}
	select {
	case <-p.Done():
	default:
		t.Error("Done is open behind a terminal verdict")
	}
	p.Feed([]byte("\xff\x00 garbage"))
	p.Close(stopgate.Truncated)
	out, _ := p.Resolve(ctx)
	want(t, out, stopgate.Denied, stopgate.CodeRuleMatched)
	row := rec.Decisions()[0]
	if row.ArgsBytes != 16 || *row.DecidedAt != 5 || row.Status != stopgate.StatusDenied {
		t.Errorf("row: %d bytes, decided at %d, %s", row.ArgsBytes, *row.DecidedAt, row.Status)
	}
}

// Proves I4, L6: a call whose end was not a normal one is never allowed.
func TestAbnormalEnds(t *testing.T) {
	for end, status := range map[stopgate.End]stopgate.RecordStatus{
		stopgate.Truncated: stopgate.StatusTruncated, stopgate.Failed: stopgate.StatusTruncated,
		stopgate.Cancelled: stopgate.StatusCancelled, 99: stopgate.StatusTruncated,
	} {
		var rec ports.Recorder
		g := newGate(t, gate.WithRecorder(&rec))
		p := openCall(t, g, "free-early")
		p.Feed([]byte(`{"a":1}`))
		if v := p.Close(end); v.Mode != stopgate.Deny || !v.Terminal() {
			t.Errorf("%v: verdict %v", end, v)
		}
		out, _ := p.Resolve(ctx)
		if out.Allowed() {
			t.Errorf("%v: allowed", end)
		}
		if row := rec.Decisions()[0]; row.Status != status {
			t.Errorf("%v: row says %s, want %s", end, row.Status, status)
		}
	}
}

// Proves L6, F8: the surface refuses a call at any time before its row is written,
// also one that was closed as complete.
func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		code   stopgate.Code
		layer  stopgate.Layer
		status stopgate.RecordStatus
	}{
		{stopgate.CodeProtocolViolation, stopgate.LayerIntegrity, stopgate.StatusDenied},
		{stopgate.CodeEnvelopeMismatch, stopgate.LayerIntegrity, stopgate.StatusDenied},
		{stopgate.CodeStreamTruncated, stopgate.LayerIntegrity, stopgate.StatusTruncated},
		{stopgate.CodeClientGone, stopgate.LayerApproval, stopgate.StatusDenied},
		{stopgate.CodeUpstreamError, stopgate.LayerFailure, stopgate.StatusDenied},
		{stopgate.CodeServerToolNotAllowed, stopgate.LayerGate, stopgate.StatusDenied},
		{"Not A Code", stopgate.LayerIntegrity, stopgate.StatusDenied},
	} {
		for _, when := range []string{"before", "between", "closed"} {
			var rec ports.Recorder
			g := newGate(t, gate.WithRecorder(&rec))
			p := openCall(t, g, "free")
			done := p.Done()
			if when != "before" {
				p.Feed([]byte(`{"a":1}`))
			}
			if when == "closed" {
				p.Close(stopgate.Ended)
			}
			p.Refuse(c.code)
			p.Refuse(stopgate.CodeOverloaded) // the first one stays
			<-done
			p.Feed([]byte(`{"a":1}`))
			p.Close(stopgate.Ended)
			out, _ := p.Resolve(ctx)
			code := c.code
			if !code.Valid() {
				code = stopgate.CodeProtocolViolation
			}
			want(t, out, stopgate.Denied, code)
			if row := rec.Decisions()[0]; row.Layer != c.layer || row.Status != c.status || row.Code != code {
				t.Errorf("%s %s: row %s %s %s", c.code, when, row.Layer, row.Status, row.Code)
			}
		}
	}
}

// A surface's refusal does not take the place of a denial that was first (K7).
func TestTheFirstTerminalVerdictStays(t *testing.T) {
	for tool, mode := range map[stopgate.ToolName]stopgate.Mode{"denied-early": stopgate.Deny, "skipped-early": stopgate.Skip} {
		p := openCall(t, newGate(t), tool)
		p.Feed([]byte(`{"a":1}`))
		if v := p.Refuse(stopgate.CodeProtocolViolation); v.Mode != mode || v.Code != stopgate.CodeRuleMatched {
			t.Errorf("verdict %v", v)
		}
		p.Cancel(ctx)
		if v := p.Verdict(); v.Mode != mode || v.Code != stopgate.CodeRuleMatched {
			t.Errorf("verdict %v", v)
		}
	}
}

// Proves I23, S42: a call that is given up has its row, once.
func TestCancel(t *testing.T) {
	for _, when := range []string{"opened", "fed", "closed", "denied", "resolved"} {
		var rec ports.Recorder
		g := newGate(t, gate.WithRecorder(&rec))
		tool, status := stopgate.ToolName("free"), stopgate.StatusCancelled
		if when == "denied" {
			tool, status = "denied-early", stopgate.StatusDenied
		}
		p := openCall(t, g, tool)
		if when != "opened" {
			p.Feed([]byte(`{"a":1}`))
		}
		if when == "closed" || when == "resolved" {
			p.Close(stopgate.Ended)
		}
		if when == "resolved" {
			p.Resolve(ctx)
			status = stopgate.StatusAllowed
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		p.Cancel(gone)
		p.Cancel(ctx)
		if _, err := p.Resolve(ctx); !errors.Is(err, gate.ErrResolved) {
			t.Errorf("%s: Resolve after Cancel: %v", when, err)
		}
		rows := rec.Decisions()
		if len(rows) != 1 || rows[0].Status != status {
			t.Errorf("%s: rows %+v", when, rows)
		}
		<-p.Done()
	}
}

// Proves K51: a Pending that is dropped is recorded as cancelled.
func TestDropped(t *testing.T) {
	rec := &ports.Recorder{}
	g := newGate(t, gate.WithRecorder(rec))
	func() {
		p := openCall(t, g, "free")
		p.Feed([]byte(`{"a"`))
		q := openCall(t, g, "free") // resolved: no second row
		q.Close(stopgate.Ended)
		q.Resolve(ctx)
	}()
	deadline := time.Now().Add(20 * time.Second)
	for len(rec.Decisions()) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("the dropped call was not recorded")
		}
		runtime.GC()
		runtime.Gosched()
	}
	for range 5 {
		runtime.GC()
	}
	var cancelled int
	for _, r := range rec.Decisions() {
		if r.Status == stopgate.StatusCancelled && r.ArgsBytes == 4 {
			cancelled++
		}
	}
	if cancelled != 1 || len(rec.Decisions()) != 2 {
		t.Errorf("rows %+v", rec.Decisions())
	}
}

// Proves S20, G2-13, G2-14, K33, K34: who throws.
func TestDenyModes(t *testing.T) {
	for _, c := range []struct {
		file, option gate.DenyMode
		throws       bool
	}{
		{gate.DenyToolResult, gate.DenyByPolicy, false},
		{gate.DenyThrow, gate.DenyByPolicy, true},
		{gate.DenyToolResult, gate.DenyThrow, true},
		{gate.DenyThrow, gate.DenyToolResult, false},
	} {
		policy := tools()
		policy.Mode = c.file
		g, err := gate.NewScripted(policy, gate.WithDenyMode(c.option))
		if err != nil {
			t.Fatal(err)
		}
		for tool, hard := range map[stopgate.ToolName]bool{"denied": true, "skipped": false, "free": false} {
			out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Args: []byte(`{}`)})
			if hard = hard && c.throws; hard != (err != nil) {
				t.Errorf("file %d, option %d, %s: error %v", c.file, c.option, tool, err)
			}
			var denied *gate.Denied
			if hard && (!errors.As(err, &denied) || denied.Outcome.Proposal != out.Proposal) {
				t.Errorf("error %#v", err)
			}
		}
	}
}

// Proves S20, G2-14: one error type, told apart by errors.Is.
func TestDenied(t *testing.T) {
	tool := &gate.Denied{Outcome: stopgate.Outcome{Verdict: stopgate.Verdict{Code: stopgate.CodeNoApprover}}}
	handoff := &gate.Denied{Kind: gate.Handoff, Outcome: tool.Outcome}
	for _, c := range []struct {
		err       error
		is, isNot error
		text      string
	}{
		{tool, gate.ErrToolDenied, gate.ErrHandoffDenied, "tool call denied (no_approver): This call needs an approval"},
		{handoff, gate.ErrHandoffDenied, gate.ErrToolDenied, "handoff denied (no_approver): This call needs an approval"},
	} {
		if !errors.Is(c.err, c.is) || errors.Is(c.err, c.isNot) || !strings.HasPrefix(c.err.Error(), c.text) {
			t.Errorf("%v", c.err)
		}
	}
}

// A call's id may come after its name: rows have it.
func TestIdentify(t *testing.T) {
	var rec ports.Recorder
	g := newGate(t, gate.WithRecorder(&rec))
	p, err := g.Open(ctx, stopgate.Call{Tool: "free"})
	if err != nil {
		t.Fatal(err)
	}
	p.Identify("call_late")
	p.Cancel(ctx)
	if id := rec.Decisions()[0].CallID; id != "call_late" {
		t.Errorf("call id %q", id)
	}
}

func TestOptionsThatMakeNoGate(t *testing.T) {
	ask := ports.Judge(nil)
	policy := ports.ToolPolicy{As: "same"}
	for name, opts := range map[string][]gate.Option{
		"no clock":          {gate.WithClock(nil)},
		"no entropy":        {gate.WithEntropy(nil)},
		"a weak judge":      {gate.WithJudge(ask, stopgate.Unattended)},
		"a skipping judge":  {gate.WithJudge(ask, stopgate.Skip)},
		"a nil policy":      {gate.WithToolPolicies(nil)},
		"a nameless policy": {gate.WithToolPolicies(ports.ToolPolicy{})},
		"the same twice":    {gate.WithToolPolicies(policy, policy)},
	} {
		if _, err := gate.NewScripted(tools(), opts...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	var missing *stopgatepolicy.Program // as Compile returns it with errors
	if _, err := gate.New(nil); !errors.Is(err, gate.ErrNoPolicy) {
		t.Errorf("no policy: %v", err)
	}
	if _, err := gate.New(missing); !errors.Is(err, gate.ErrNoPolicy) {
		t.Errorf("a nil program: %v", err)
	}
	if _, err := gate.New(compile(t, "version = 1"), gate.WithClock(nil)); err == nil {
		t.Error("no clock: accepted")
	}
}

// Proves S23: proposal ids are ULIDs.
func TestProposalIDs(t *testing.T) {
	at := time.UnixMilli(1469918176385) // the example of the ULID specification: 01ARYZ6S41
	g := newGate(t, gate.WithClock(func() time.Time { return at }), gate.WithEntropy(strings.NewReader("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09")))
	p := openCall(t, g, "free")
	defer p.Cancel(ctx)
	// 80 bits 00 01 .. 09 in groups of five, worked out by hand.
	if want := stopgate.ProposalID("01ARYZ6S41" + "000G40R40M30E209"); p.ID() != want {
		t.Errorf("id %s, want %s", p.ID(), want)
	}
	if _, err := g.Open(ctx, stopgate.Call{Tool: "free"}); err == nil {
		t.Error("an id was made without entropy")
	}
	if out, err := g.Decide(ctx, stopgate.Call{Tool: "free", Args: []byte(`{}`)}); err == nil || out.Allowed() {
		t.Errorf("decided without an id: %+v, %v", out, err)
	}
}
