package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
	"pgregory.net/rapid"
)

// Proves S25, Q24, Q26, X9: a whole row, as a log holds it.
func TestARow(t *testing.T) {
	verdict := decided(stopgate.Ask)
	verdict.Rule = &stopgate.RuleRef{File: "stopgate.toml", Line: 7, Index: 2, ID: "r1"}
	verdict.Pointer, verdict.Candidates = "/path", []int{2, stopgate.ImplicitAsk}
	verdict.Floors = []stopgate.Floor{{Mode: stopgate.Ask, Code: stopgate.CodeProtectedTarget, Pointer: "/path", At: 9}}
	policy := &gate.ScriptedPolicy{Hash: "policy-1", Tools: map[stopgate.ToolName]gate.Script{
		"fs_write": {Steps: []gate.Step{{At: 11, Verdict: verdict}}, Cause: "matcher_budget"},
	}}
	var rec ports.Recorder
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec), answers(func(v gate.View) gate.Answer { return v.Approve("ann") }),
		gate.WithClock(func() time.Time { return time.UnixMilli(1469918176385).In(time.FixedZone("", 7200)) }),
		gate.WithEntropy(strings.NewReader("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09")))
	if err != nil {
		t.Fatal(err)
	}
	args := `{"path":"x", "n":1e2}`
	out, err := g.Decide(ctx, stopgate.Call{
		Tool: "fs_write", ID: "call_1", Session: "s1", Turn: "t1", Agent: "main", Principal: "local",
		Definition: &stopgate.ToolDefinition{Name: "fs_write", Description: "d", Schema: []byte(`{}`)},
		Server:     "files", Surface: stopgate.SurfaceGateway, Dialect: "anthropic", Args: []byte(args),
	})
	if err != nil || !out.Allowed() {
		t.Fatalf("%+v, %v", out, err)
	}
	got, err := json.Marshal(rec.Decisions()[0])
	if err != nil {
		t.Fatal(err)
	}
	// Three texts, each behind its length in 8 bytes.
	definition := gate.HexHash("\x00\x00\x00\x00\x00\x00\x00\x08fs_write\x00\x00\x00\x00\x00\x00\x00\x01d\x00\x00\x00\x00\x00\x00\x00\x02{}")
	// The events asked and answered took the numbers 1 and 2.
	want := `{"v":1,"seq":3,"time":"2016-07-30T22:36:16.385Z","kind":"decision","id":"01ARYZ6S41000G40R40M30E209",` +
		`"session":"s1","principal":"local","surface":"gateway","dialect":"anthropic","agent":"main","turn":"t1","tool":"fs_write","call_id":"call_1",` +
		`"args_hash":"` + gate.HexHash(`{"n":100,"path":"x"}`) + `","args_bytes":21,"released_hash":"` + gate.HexHash(args) + `",` +
		`"status":"allowed","mode":"ask","layer":"rules","code":"rule_matched","cause":"matcher_budget",` +
		`"rule":{"file":"stopgate.toml","line":7,"index":2,"id":"r1"},"candidates":[2,-1],"pointer":"/path","decided_at":11,` +
		`"floors":[{"mode":"ask","code":"protected_target","pointer":"/path","at":9}],` +
		`"approval":{"id":"01ARYZ6S41000G40R40M30E209","by":"ann"},"policy":"policy-1","definition":"` + definition + `",` +
		`"path_resolution":"lexical","context":{"server":"files"},"enforced":true,"prev":"","hash":""}`
	if string(got) != want {
		t.Errorf("row\n got %s\nwant %s", got, want)
	}
}

// Proves P8, K4: what is released counts, not what was received: cleaned paths are
// another hash in the row.
func TestReleasedBytesHaveTheirOwnHash(t *testing.T) {
	policy := tools()
	policy.Tools["cleaned"] = gate.Script{Steps: []gate.Step{{At: gate.AtEnd, Verdict: decided(stopgate.Unattended)}}, Cleaned: `{"path":"a"}`}
	var rec ports.Recorder
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
	if err != nil {
		t.Fatal(err)
	}
	out := decide(t, g, "cleaned", `{"path":"x/../a"}`)
	row := rec.Decisions()[0]
	if string(out.Args) != `{"path":"a"}` || row.ArgsHash != gate.HexHash(`{"path":"x/../a"}`) || row.ReleasedHash != gate.HexHash(`{"path":"a"}`) {
		t.Errorf("runs %s, row %+v", out.Args, row)
	}
}

// Proves H17, I23: whatever names and ids hold, a row is printable, short and
// tells two of them apart.
func TestNamesInRowsArePrintableAndShort(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct{ in, want string }{
		{"fs_read", "fs_read"},
		{"Grüße, 世界", "Grüße, 世界"},
		{"a\nb", `"a\nb"`},
		{"\x1b[2J", `"\x1b[2J"`},
		{"a\u202eb", `"a\u202eb"`},
		{"a\u200bb", `"a\u200bb"`},
		{"\u009b2J", `"\u009b2J"`},
		{"\xff", `"\xff"`},
		{"\ufffd", `"�"`},
		{`"quoted"`, `"\"quoted\""`},
		{`say "hi"`, `say "hi"`},
		{long, long[:256] + "... (300 bytes, sha256 " + gate.HexHash(long)[:16] + ")"},
		{strings.Repeat("世", 100), strings.Repeat("世", 85) + "... (300 bytes, sha256 " + gate.HexHash(strings.Repeat("世", 100))[:16] + ")"},
		{strings.Repeat("\x80", 300), "\"" + strings.Repeat(`\x80`, 252) + "\"... (300 bytes, sha256 " + gate.HexHash(strings.Repeat("\x80", 300))[:16] + ")"},
	} {
		var rec ports.Recorder
		g := newGate(t, gate.WithRecorder(&rec))
		out, err := g.Decide(ctx, stopgate.Call{
			Tool: stopgate.ToolName(c.in), ID: stopgate.CallID(c.in), Session: stopgate.SessionID(c.in), Principal: stopgate.Principal(c.in),
			Turn: stopgate.TurnID(c.in), Agent: stopgate.AgentName(c.in), Surface: stopgate.Surface(c.in), Dialect: c.in, Args: []byte(`{}`),
		})
		if err != nil || out.Allowed() && c.in != "fs_read" {
			t.Fatal(err)
		}
		r := rec.Decisions()[0]
		for _, got := range []string{string(r.Tool), string(r.CallID), string(r.Session), string(r.Principal), string(r.Turn), string(r.Agent), string(r.Surface), r.Dialect} {
			if got != c.want {
				t.Errorf("%.20q...: got %s, want %s", c.in, got, c.want)
			}
		}
	}
}

// Proves H17: models choose the names of parameters, which stand in the pointers of a row
// and of its floors.
func TestPointersInRowsArePrintable(t *testing.T) {
	verdict := decided(stopgate.Deny)
	verdict.Pointer = "/a\u202eb\u009b"
	verdict.Floors = []stopgate.Floor{{Pointer: verdict.Pointer, Mode: stopgate.Deny, Code: stopgate.CodeUnknownParameter}}
	var rec ports.Recorder
	policy := &gate.ScriptedPolicy{Tools: map[stopgate.ToolName]gate.Script{"t": {Steps: []gate.Step{{At: gate.AtEnd, Verdict: verdict}}}}}
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
	if err != nil {
		t.Fatal(err)
	}
	decide(t, g, "t", `{}`)
	const want = `"/a\u202eb\u009b"`
	r := rec.Decisions()[0]
	if r.Pointer != want || len(r.Floors) != 1 || r.Floors[0].Pointer != want {
		t.Errorf("pointer %s, floors %+v, want %s", r.Pointer, r.Floors, want)
	}
}

// Lists in rows have an end.
func TestListsInRowsAreBounded(t *testing.T) {
	verdict := decided(stopgate.Deny)
	for i := range 1000 {
		verdict.Floors = append(verdict.Floors, stopgate.Floor{Pointer: strings.Repeat("/x", i), At: int64(i)})
		verdict.Candidates = append(verdict.Candidates, i)
	}
	var rec ports.Recorder
	policy := &gate.ScriptedPolicy{Tools: map[stopgate.ToolName]gate.Script{"t": {Steps: []gate.Step{{At: gate.AtEnd, Verdict: verdict}}}}}
	g, err := gate.NewScripted(policy, gate.WithRecorder(&rec))
	if err != nil {
		t.Fatal(err)
	}
	decide(t, g, "t", `{}`)
	r := rec.Decisions()[0]
	if len(r.Floors) != 64 || len(r.Candidates) != 64 || len(rec.Text()) > 32<<10 {
		t.Errorf("%d floors, %d candidates, %d bytes", len(r.Floors), len(r.Candidates), len(rec.Text()))
	}
	var many []session.Policy
	for i := range 100 {
		many = append(many, objecting(strings.Repeat("p", 1000)+strconv.Itoa(i), "no", ""))
	}
	for _, policies := range [][]session.Policy{nil, many} {
		var rec ports.Recorder
		decide(t, newGate(t, append(sessionsOf(policies...), gate.WithRecorder(&rec))...), "free", `{}`)
		if n := len(rec.Decisions()[0].Objections); n != 0 && n != 64 || len(rec.Text()) > 64<<10 {
			t.Errorf("%d objections, %d bytes", n, len(rec.Text()))
		}
	}
}

// Proves I23, P10, P12: however a call goes and ends, there is exactly one decision
// row for it, and an allow only after its row.
func TestOneRowForEveryProposal(t *testing.T) {
	names := []stopgate.ToolName{"free", "asked", "edited", "skipped", "denied", "asked-early", "denied-early", "free-early", "undecided", "nobody-knows-it"}
	ends := []stopgate.End{stopgate.Ended, stopgate.Truncated, stopgate.Failed, stopgate.Cancelled}
	property.Check(t, func(t *rapid.T) {
		rec := &ports.Recorder{}
		down := rapid.IntRange(0, 3).Draw(t, "the log refuses every so often")
		rec.Fault = func(_ context.Context, n int, _ *stopgate.Record) error {
			if down > 0 && n%(down+2) == 1 {
				return errDisk
			}
			return nil
		}
		answer := rapid.SampledFrom([]gate.AnswerKind{gate.Unanswered, gate.Declined, gate.Approved, gate.Edited, gate.Deferred}).Draw(t, "answer")
		g, err := gate.NewScripted(tools(), gate.WithRecorder(rec), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
			v, err := q.Complete(ctx)
			a := v.Approve("ann")
			if a.Kind = answer; answer == gate.Edited {
				a.Args = []byte(`{"b":2}`)
			}
			return a, err
		})))
		if err != nil {
			t.Fatal(err)
		}
		proposals, edits := 0, 0
		var allowed []stopgate.ProposalID
		calls := rapid.IntRange(1, 8).Draw(t, "calls")
		for range calls {
			p, err := g.Open(ctx, stopgate.Call{Tool: rapid.SampledFrom(names).Draw(t, "tool")})
			if err != nil {
				t.Fatal(err)
			}
			proposals++
			text := rapid.SampledFrom([]string{`{"a":1}`, `{"a":1`, ``, `[]`, `{"a":1}x`}).Draw(t, "text")
			p.Feed([]byte(text))
			if rapid.Bool().Draw(t, "asked early") {
				_ = p.Ask(ctx)
			}
			if rapid.IntRange(0, 4).Draw(t, "refused") == 0 {
				p.Refuse(stopgate.CodeProtocolViolation)
			}
			if rapid.IntRange(0, 4).Draw(t, "given up") == 0 {
				p.Cancel(ctx)
				continue
			}
			p.Close(rapid.SampledFrom(ends).Draw(t, "end"))
			out, err := p.Resolve(ctx)
			if err != nil {
				t.Fatal(err)
			}
			p.Cancel(ctx)
			if out.Allowed() {
				allowed = append(allowed, out.Proposal)
				if rows := rec.Decisions(); rows[len(rows)-1].ID != out.Proposal {
					t.Fatalf("%s was let out before its row", out.Proposal)
				}
			}
			if out.Proposal != p.ID() {
				edits++
			}
		}
		rec.Fault = nil
		g.Note(ctx, stopgate.Record{Event: stopgate.AuditNotEvaluated}) // writes the gap
		seen := map[stopgate.ProposalID]int{}
		durable := map[stopgate.ProposalID]bool{}
		var lost int64
		for _, r := range rec.Rows() {
			switch {
			case r.Kind == stopgate.RecordDecision:
				seen[r.ID]++
				durable[r.ID] = r.Status == stopgate.StatusAllowed
				if r.Status == stopgate.StatusEdited {
					proposals++ // the edit is a proposal of its own
				}
			case r.Event == stopgate.AuditGap:
				lost += r.Count
			}
		}
		for id, n := range seen {
			if n != 1 {
				t.Fatalf("%d rows of %s", n, id)
			}
		}
		for _, id := range allowed {
			if !durable[id] {
				t.Fatalf("%s was allowed without its row", id)
			}
		}
		if missing := int64(proposals - len(seen)); missing < 0 || missing > lost+int64(edits) || down == 0 && (missing != 0 || lost != 0) {
			t.Fatalf("%d proposals, %d rows, %d lost: %v", proposals, len(seen), lost, sequence(rec))
		}
	})
}

// canaries are secrets and control sequences that no sink may show.
var canaries = []string{"AKIAIOSFODNN7EXAMPLE", "-----BEGIN PRIVATE KEY-----", "hunter2", "\x1b[2J", "\u009b", "\u202e", "\r\n"}

// Proves I23, H17, G2-19: secrets and control characters in arguments, edits,
// names, errors and panics reach no row, no error, no public text and no log.
func TestCanariesReachNoSink(t *testing.T) {
	var logged bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(old)
	stderr := os.Stderr
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = writer

	var rec ports.Recorder
	var said strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for i, canary := range canaries {
		value, _ := json.Marshal(map[string]any{"path": canary, "list": []string{canary, "x" + canary}})
		fault := func() error { return fmt.Errorf("cannot open %s", canary) }
		for _, opts := range [][]gate.Option{
			{},
			{answers(func(v gate.View) gate.Answer { return v.Edit("ann", value) })},
			{gate.WithToolPolicies(ports.ToolPolicy{As: "p", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) { return gate.Decision{}, fault() }})},
			{gate.WithToolPolicies(ports.ToolPolicy{As: "p", Answer: func(context.Context, gate.Proposal) (gate.Decision, error) { panic(canary) }})},
			{gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) { return gate.Opinion{}, fault() }), stopgate.Deny)},
			{gate.WithStore(&ports.Store{Fault: func(context.Context, string) error { return fault() }}), gate.WithSessionPolicies(ports.Registry(objecting("p", "no", "")))},
			{gate.WithApprover(ports.Approver(func(context.Context, *gate.Question) (gate.Answer, error) { panic(canary) }))},
		} {
			policy := tools()
			policy.Mode = gate.DenyThrow
			g, err := gate.NewScripted(policy, append(opts, gate.WithRecorder(&rec))...)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range []stopgate.ToolName{"free", "asked", "denied-early", "undecided"} {
				text := value
				if rng.IntN(3) == 0 {
					text = value[:len(value)-1-rng.IntN(5)] // malformed
				}
				out, err := g.Decide(ctx, stopgate.Call{Tool: tool, ID: "c", Session: "s", Args: text})
				fmt.Fprintf(&said, "%d %v %+v %v\n", i, err, out.Verdict, out.Envelope())
				d, _ := g.Observe(ctx, stopgate.Result{Proposal: "forged", Data: []byte(canary)})
				said.Write(d.Data)
			}
		}
	}
	writer.Close()
	os.Stderr = stderr
	var printed bytes.Buffer
	printed.ReadFrom(reader)
	for name, text := range map[string]string{"rows": rec.Text(), "errors and texts": said.String(), "the log": logged.String(), "stderr": printed.String()} {
		for _, canary := range canaries {
			if strings.Contains(text, canary) {
				t.Errorf("%s show %q", name, canary)
			}
		}
		for _, r := range text {
			if unicode.IsControl(r) && r != '\n' {
				t.Errorf("%s hold the control character %U", name, r)
				break
			}
		}
	}
	if len(rec.Decisions()) < 100 {
		t.Errorf("only %d rows", len(rec.Decisions()))
	}
}

// keeper is a recorder that keeps arguments.
type keeper struct{ ports.Recorder }

func (*keeper) Capabilities() gate.Capabilities { return gate.Capabilities{KeepsArguments: true} }

// Proves S13: the arguments behind a row's hash go to a recorder that keeps them, and
// to no other; of a call that was refused early they do if they came to their end.
func TestArgumentsForTheRecorder(t *testing.T) {
	program := compile(t, "version = 1\n[tools.t.parameters]\na = { type = \"string\" }\nb = { type = \"string\" }\n"+
		"[tools.t.policy]\nrun = [ { arg = \"/a\", const = \"no\", mode = \"deny\" }, { mode = \"unattended\" } ]\n")
	for _, c := range []struct {
		name, args string
		end        stopgate.End
		want       string
	}{
		{"allowed", `{"a": "yes"}`, stopgate.Ended, `{"a":"yes"}`},
		{"refused early", `{"a": "no", "b":"x"}`, stopgate.Ended, `{"a": "no", "b":"x"}`},
		{"refused early and cut off", `{"a": "no", "b"`, stopgate.Truncated, ""},
		{"refused early, then malformed", `{"a": "no", b}`, stopgate.Ended, ""},
		{"malformed", `{"a": `, stopgate.Ended, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, plain := &keeper{}, &ports.Recorder{}
			for _, rec := range []gate.Recorder{kept, plain} {
				g, err := gate.New(program, gate.WithRecorder(rec), gate.WithDenyMode(gate.DenyToolResult))
				if err != nil {
					t.Fatal(err)
				}
				p, err := g.Open(t.Context(), stopgate.Call{Tool: "t"})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range []byte(c.args) {
					p.Feed([]byte{b})
				}
				p.Close(c.end)
				if _, err := p.Resolve(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := string(kept.Decisions()[0].Args); got != c.want {
				t.Errorf("kept %q, want %q", got, c.want)
			}
			if (kept.Decisions()[0].ArgsHash != "") != (c.want != "") {
				t.Errorf("hash %q", kept.Decisions()[0].ArgsHash)
			}
			if got := plain.Decisions()[0].Args; got != nil {
				t.Errorf("a recorder that keeps nothing got %q", got)
			}
		})
	}
}
