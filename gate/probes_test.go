package gate_test

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// The probes are what existing systems of this kind get wrong, one short scenario
// each, on one policy file and through the whole gate. Those that only a surface can
// show name the test that shows them; those of a surface that is not built say so.
const probeFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools.skipped.policy]
run = "skip"
[tools.asked.policy]
run = "ask"
[tools.free.policy]
run = "unattended"
[tools.many.parameters.paths]
type = "array"
items = { type = "path" }
[tools.many.policy]
run = [ { arg = "/paths", prefix = "src", mode = "unattended" }, { mode = "ask" } ]
[tools.write.parameters.path]
type = "path"
[tools.write.parameters.mode]
type = "string"
[tools.write.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny" },
  { arg = "/mode", const = "force", mode = "deny" },
  { arg = "/path", prefix = "src", mode = "unattended" },
  { mode = "ask" },
]
[tools.number.parameters.n]
type = "integer"
[tools.number.policy]
run = [ { arg = "/n", maximum = 9007199254740992, mode = "unattended" }, { mode = "deny" } ]
[tools.test.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "require"
before = "deploy"
requires = "test"
[[session]]
type = "read_before_write"
name = "files"
read_tools = "open_file"
write_tools = "save_file"
[tools.open_file.policy]
run = "unattended"
[tools.save_file.policy]
run = "unattended"
[[handoffs]]
to = ["a", "b"]
mode = "unattended"
`

// probe is one scenario; p decides calls in one session.
type probe struct {
	id, what string
	run      func(t *testing.T, p *prober)
	// at names the test that shows what only a surface can: "package TestName".
	at string
	// open says why nothing shows it yet.
	open string
}

type prober struct {
	t     *testing.T
	store *ports.Store
	rec   *ports.Recorder
	gate  *gate.Gate
}

func (p *prober) with(opts ...gate.Option) *prober {
	q := &prober{t: p.t, store: &ports.Store{Memory: true}, rec: new(ports.Recorder)}
	q.gate = fileGate(p.t, probeFile, append([]gate.Option{gate.WithStore(q.store), gate.WithRecorder(q.rec), gate.WithSealKey([]byte(strings.Repeat("k", 32)))}, opts...)...)
	return q
}

func (p *prober) call(tool stopgate.ToolName, args string) stopgate.Outcome {
	p.t.Helper()
	out, err := p.gate.Decide(ctx, stopgate.Call{Tool: tool, ID: "call_0", Session: "s", Args: []byte(args)})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *prober) allowed(tool stopgate.ToolName, args string) stopgate.Outcome {
	p.t.Helper()
	out := p.call(tool, args)
	if !out.Allowed() {
		p.t.Errorf("%s %s: %v", tool, args, out.Verdict)
	}
	return out
}

func (p *prober) refused(tool stopgate.ToolName, args string, code stopgate.Code) stopgate.Outcome {
	p.t.Helper()
	out := p.call(tool, args)
	if out.Allowed() || out.Verdict.Code != code {
		p.t.Errorf("%s %s: %v, want %s", tool, args, out.Verdict, code)
	}
	return out
}

func (p *prober) result(tool stopgate.ToolName, out stopgate.Outcome, failed bool) {
	p.t.Helper()
	if _, err := p.gate.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: tool, Failed: failed, Observed: true}); err != nil {
		p.t.Error(err)
	}
}

// judges is a judge with a fixed answer.
func judges(o gate.Opinion, err error) gate.Option {
	return gate.WithJudge(ports.Judge(func(context.Context, gate.Proposal) (gate.Opinion, error) { return o, err }), stopgate.Deny)
}

var probes = []probe{
	{id: "P1", what: "skip never executes", run: func(t *testing.T, p *prober) {
		if out := p.refused("skipped", `{}`, stopgate.CodeRuleSkipped); out.Status != stopgate.Skipped || out.Args != nil {
			t.Error(out)
		}
	}},
	{id: "P2", what: "ask without an approver never executes", run: func(_ *testing.T, p *prober) {
		p.refused("asked", `{}`, stopgate.CodeNoApprover)
	}},
	{id: "P3", what: "an approval does not widen to other arguments", run: func(_ *testing.T, p *prober) {
		var first *gate.Answer
		q := p.with(answers(func(v gate.View) gate.Answer {
			a := v.Approve("ann")
			if first == nil {
				first = &a
			}
			return *first // whatever is asked, the first approval is shown again
		}))
		q.allowed("asked", `{"a":1}`)
		q.refused("asked", `{"a":2}`, stopgate.CodeApprovalStale)
	}},
	{id: "P4", what: "a mixed array does not pass a permissive rule", run: func(_ *testing.T, p *prober) {
		p.allowed("many", `{"paths":["src/a","src/b"]}`)
		p.refused("many", `{"paths":["src/a",".env"]}`, stopgate.CodeNoApprover)
		p.refused("many", `{"paths":[]}`, stopgate.CodeNoApprover)
	}},
	{id: "P5", what: "an optional argument that is absent satisfies nothing", run: func(_ *testing.T, p *prober) {
		p.refused("write", `{"mode":"x"}`, stopgate.CodeNoApprover)
		p.allowed("write", `{"path":"src/a"}`)
	}},
	{id: "P6", what: "a key twice: at the top, nested, escaped", run: func(_ *testing.T, p *prober) {
		for _, args := range []string{`{"path":"src/a","path":".env"}`, `{"path":"src/a","pa\u0074h":".env"}`} {
			p.refused("write", args, stopgate.CodeDuplicateKey)
		}
		p.refused("free", `{"x":{"a":1,"a":2}}`, stopgate.CodeDuplicateKey)
	}},
	{id: "P7", what: "malformed arguments never become {}", run: func(_ *testing.T, p *prober) {
		for _, args := range []string{"", " ", "{", `{"a":}`, `{'a':1}`, "nul"} {
			if out := p.call("free", args); out.Allowed() {
				p.t.Errorf("%q runs", args)
			}
		}
	}},
	{id: "P8", what: "what was judged is what runs", run: func(t *testing.T, p *prober) {
		if out := p.allowed("write", `{"path" : "src/x/../a" , "mode":"\u0061"}`); string(out.Args) != `{"path":"src/a","mode":"a"}` {
			t.Errorf("%s", out.Args)
		}
	}},
	{id: "P9", what: "9007199254740993 is not 9007199254740992", run: func(t *testing.T, p *prober) {
		p.allowed("number", `{"n":9007199254740992}`)
		p.refused("number", `{"n":9007199254740993}`, stopgate.CodeRuleMatched)
		a, b := p.allowed("free", `{"n":9007199254740992}`), p.allowed("free", `{"n":9007199254740993}`)
		rows := p.rec.Decisions()
		if rows[len(rows)-1].ArgsHash == rows[len(rows)-2].ArgsHash || string(a.Args) == string(b.Args) {
			t.Error("the same hash")
		}
	}},
	{id: "P10", what: "an unknown tool is recorded", run: func(t *testing.T, p *prober) {
		p.refused("unheard_of", `{}`, stopgate.CodePolicyNotConfigured)
		if rows := p.rec.Decisions(); len(rows) != 1 || rows[0].Tool != "unheard_of" {
			t.Error(rows)
		}
	}},
	{id: "P11", what: "two handoffs in a turn", run: func(t *testing.T, p *prober) {
		turn := p.gate.Turn(session.Owner{Session: "s"}, "t")
		first, _ := turn.Handoff(ctx, gate.HandoffCall{To: "a"})
		second, _ := turn.Handoff(ctx, gate.HandoffCall{To: "b"})
		if !first.Allowed() || second.Verdict.Code != stopgate.CodeHandoffAlreadyTaken {
			t.Error(first.Verdict, second.Verdict)
		}
	}},
	{id: "P12", what: "every call is answered after a hard denial", run: func(t *testing.T, p *prober) {
		q := p.with(gate.WithDenyMode(gate.DenyThrow))
		turn := q.gate.Turn(session.Owner{Session: "s"}, "t")
		var open []*gate.Pending
		for _, tool := range []stopgate.ToolName{"skipped", "unheard_of", "free"} {
			call, err := turn.Open(ctx, stopgate.Call{Tool: tool})
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, call)
		}
		var ends []stopgate.Status
		for _, call := range open {
			call.Feed([]byte(`{}`))
			call.Close(stopgate.Ended)
			out, err := call.Resolve(ctx)
			if hard := out.Verdict.Code == stopgate.CodePolicyNotConfigured; errors.Is(err, gate.ErrToolDenied) != hard {
				t.Error(err)
			}
			ends = append(ends, out.Status)
		}
		if !slices.Equal(ends, []stopgate.Status{stopgate.Skipped, stopgate.Denied, stopgate.Allowed}) || len(q.rec.Decisions()) != 3 {
			t.Error(ends)
		}
	}},
	{id: "P13", what: "a prerequisite that another surface governs still counts", run: func(_ *testing.T, p *prober) {
		// Another process with the same sessions, and a policy that knows nothing of deploy.
		other := fileGate(p.t, "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.test.policy]\nrun = \"unattended\"\n", gate.WithStore(p.store))
		p.refused("deploy", `{}`, stopgate.CodePrerequisiteMissing)
		out, _ := other.Decide(ctx, stopgate.Call{Tool: "test", Session: "s", Surface: stopgate.SurfaceMCP, Args: []byte(`{}`)})
		if _, err := other.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: "test", Observed: true}); err != nil {
			p.t.Error(err)
		}
		p.allowed("deploy", `{}`)
	}},
	{id: "P14", what: "a parallel call that fails takes nothing from its sibling", run: func(_ *testing.T, p *prober) {
		good, bad := p.allowed("test", `{"n":1}`), p.allowed("test", `{"n":2}`)
		p.result("test", good, false)
		p.result("test", bad, true)
		p.allowed("deploy", `{}`)
	}},
	{id: "P15", what: "a file may be written again after it was created", run: func(_ *testing.T, p *prober) {
		p.refused("save_file", `{"path":"new"}`, stopgate.CodeReadRequired)
		look := p.allowed("open_file", `{"path":"./new"}`)
		p.gate.Observe(ctx, stopgate.Result{Proposal: look.Proposal, Session: "s", Tool: "open_file", Failed: true, Absent: true, Observed: true})
		p.result("save_file", p.allowed("save_file", `{"path":"new"}`), false)
		p.allowed("save_file", `{"path":"new"}`)
	}},
	{id: "P16", what: "all calls denied: the stop reason is right", at: "../gateway/stream_test.go"},
	{id: "P17", what: "the middle call denied: indexes stay contiguous", at: "../gateway/stream_test.go"},
	{id: "P18", what: "a judge that fails in any way denies", run: func(_ *testing.T, p *prober) {
		p.with(judges(gate.Opinion{}, errors.New("401"))).refused("free", `{}`, stopgate.CodeJudgeUnavailable)
		p.with(judges(gate.Opinion{Mode: stopgate.Unattended, Probability: math.NaN()}, nil)).refused("free", `{}`, stopgate.CodeJudgeUnavailable)
		p.with(judges(gate.Opinion{Mode: stopgate.Unattended, Probability: 7}, nil)).refused("free", `{}`, stopgate.CodeJudgeUnavailable)
	}},
	{id: "P19", what: "arguments that talk to the judge", at: "../judge/injection_test.go"},
	{id: "P20", what: "thinking blocks and unknown events stay byte for byte", at: "../gateway/stream_test.go"},
	{id: "P21", what: "an empty upstream stream", at: "../internal/provider/openaichat/transcript_test.go"},
	{id: "P22", what: "streamed and whole arguments agree", run: func(t *testing.T, p *prober) {
		args := `{"path":"a/.env","content":"x"}`
		whole := p.refused("write", args, stopgate.CodeRuleMatched)
		call, err := p.gate.Open(ctx, stopgate.Call{Tool: "write", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(args) {
			call.Feed([]byte(args[i : i+1]))
		}
		call.Close(stopgate.Ended)
		if out, _ := call.Resolve(ctx); out.Verdict.DecidedAt != whole.Verdict.DecidedAt || out.Verdict.Rule.Index != whole.Verdict.Rule.Index {
			t.Error(out.Verdict, whole.Verdict)
		}
	}},
	{id: "P23", what: "terminal escapes at the prompt", at: "../approve/terminal/terminal_test.go"},
	{id: "P24", what: ".env.local, app/.env, src/../.env, SRC/", run: func(_ *testing.T, p *prober) {
		for _, path := range []string{".env.local", "app/.env", "src/../.env", "src/./.ENV"} {
			p.refused("write", `{"path":"`+path+`"}`, stopgate.CodeRuleMatched)
		}
		p.refused("write", `{"path":"SRC/a"}`, stopgate.CodeNoApprover)
	}},
	{id: "P25", what: "the same verdict over all chunkings and orders of keys", run: func(t *testing.T, p *prober) {
		for _, args := range []string{`{"path":"src/a","mode":"force"}`, `{"mode":"force","path":"src/a"}`} {
			for cut := range len(args) {
				call, _ := p.gate.Open(ctx, stopgate.Call{Tool: "write", Session: "s2"})
				call.Feed([]byte(args[:cut]))
				call.Feed([]byte(args[cut:]))
				if v := call.Close(stopgate.Ended); v.Code != stopgate.CodeRuleMatched || v.Mode != stopgate.Deny {
					t.Fatalf("cut at %d: %v", cut, v)
				}
				call.Cancel(ctx)
			}
		}
	}},
	{id: "P26", what: "twice the bytes take twice the time", at: "../jsonstream/bench_test.go"},
	{id: "P27", what: "a restore widens nothing", run: func(t *testing.T, p *prober) {
		p.result("test", p.allowed("test", `{}`), false)
		sealed, err := p.gate.Snapshot(ctx, session.Owner{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		p.result("open_file", p.allowed("open_file", `{"path":"a"}`), false)
		p.allowed("save_file", `{"path":"a"}`)
		if err := p.gate.Restore(ctx, session.Owner{Session: "s"}, sealed, gate.Rewind{By: "op"}); err != nil {
			t.Fatal(err)
		}
		p.allowed("deploy", `{}`)
		p.refused("save_file", `{"path":"a"}`, stopgate.CodeReadRequired)
	}},
	{id: "P28", what: "a pending approval survives a restart", at: "../approve/queue_test.go"},
}

// Proves P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P18, P22,
// P24, P25, P27.
func TestProbes(t *testing.T) {
	if len(probes) != 28 {
		t.Fatalf("%d probes", len(probes))
	}
	for _, c := range probes {
		t.Run(c.id+" "+c.what, func(t *testing.T) {
			switch {
			case c.run != nil:
				c.run(t, (&prober{t: t}).with())
			case c.at != "":
				if _, err := os.Stat(c.at); err != nil {
					t.Errorf("it is said to be shown in %s: %v", c.at, err)
				}
			default:
				t.Log("open: " + c.open)
			}
		})
	}
}
