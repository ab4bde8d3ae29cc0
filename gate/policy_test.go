package gate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"go.uber.org/goleak"
)

// filePolicy is a real policy file.
const filePolicy = `
version = 1

[gate]
unknown_tool = "deny"
deny_mode = "tool_result"

[lists]
secrets = ["**/.env*", "**/*.pem"]

[[guard]]
on = "path"
glob_in = "secrets"
mode = "deny"
reason = "secrets stay out of reach"

[tools.fs_write.parameters]
path = { type = "path", required = true }
mode = { type = "integer" }
content = { type = "string" }

[tools.fs_write.policy]
run = [
  { arg = "/path", prefix = "src/", mode = "unattended" },
  { arg = "/path", prefix = "tmp/", mode = "skip" },
  { mode = "ask" },
]

[tools.deploy.parameters]
to = { type = "string", required = true }
[tools.deploy.policy]
run = [
  { arg = "/to", const = "staging", mode = "unattended", when = { agent = "ops" } },
  { mode = "edit" },
]

[tools.echo.policy]
run = "unattended"
`

func compile(t testing.TB, text string) *policy.Program {
	t.Helper()
	p, list := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

func fileGate(t testing.TB, text string, opts ...gate.Option) *gate.Gate {
	t.Helper()
	g, err := gate.New(compile(t, text), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var fileCalls = []struct {
	name   string
	call   stopgate.Call
	args   string
	status stopgate.Status
	code   stopgate.Code
}{
	{"under the prefix", stopgate.Call{Tool: "fs_write"}, `{"path":"src/a","content":"x"}`, stopgate.Allowed, stopgate.CodeRuleMatched},
	{"beside the prefix (C4)", stopgate.Call{Tool: "fs_write"}, `{"path":"src-old/a"}`, stopgate.Denied, stopgate.CodeNoApprover},
	{"a guard above the list (K0a)", stopgate.Call{Tool: "fs_write"}, `{"path":"src/.env"}`, stopgate.Denied, stopgate.CodeRuleMatched},
	{"skip (P1)", stopgate.Call{Tool: "fs_write"}, `{"path":"tmp/a"}`, stopgate.Skipped, stopgate.CodeRuleSkipped},
	{"ask without anybody (P2)", stopgate.Call{Tool: "fs_write"}, `{"path":"a"}`, stopgate.Denied, stopgate.CodeNoApprover},
	{"absent (P5)", stopgate.Call{Tool: "fs_write"}, `{"content":"x"}`, stopgate.Denied, stopgate.CodeSchemaViolation},
	{"a key twice (P6)", stopgate.Call{Tool: "fs_write"}, `{"path":"src/a","pa\u0074h":"/etc"}`, stopgate.Denied, stopgate.CodeDuplicateKey},
	{"malformed (P7)", stopgate.Call{Tool: "fs_write"}, `{"path":"src/a"`, stopgate.Denied, stopgate.CodeTruncatedArguments},
	{"nothing (P7, K50)", stopgate.Call{Tool: "fs_write"}, ``, stopgate.Denied, stopgate.CodeMalformedArguments},
	{"behind the end (A12)", stopgate.Call{Tool: "fs_write"}, `{"path":"src/a"} {}`, stopgate.Denied, stopgate.CodeTrailingData},
	{"no object (A15)", stopgate.Call{Tool: "fs_write"}, `["src/a"]`, stopgate.Denied, stopgate.CodeNonObjectRoot},
	{"a wrong type", stopgate.Call{Tool: "fs_write"}, `{"path":"src/a","mode":1.5}`, stopgate.Denied, stopgate.CodeSchemaViolation},
	{"an unknown tool (P10)", stopgate.Call{Tool: "fs_delete"}, `{}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
	{"a tool name of another form (G1)", stopgate.Call{Tool: "fs_write\u200b"}, `{}`, stopgate.Denied, stopgate.CodePolicyNotConfigured},
	{"when it holds", stopgate.Call{Tool: "deploy", Agent: "ops"}, `{"to":"staging"}`, stopgate.Allowed, stopgate.CodeRuleMatched},
	{"when it does not hold", stopgate.Call{Tool: "deploy", Agent: "dev"}, `{"to":"staging"}`, stopgate.Denied, stopgate.CodeNoApprover},
	{"the list as one word", stopgate.Call{Tool: "echo"}, `{"any":[1,{"thing":null}]}`, stopgate.Allowed, stopgate.CodeRuleMatched},
}

// Proves I12, I1, P1, P2, P5, P6, P7, P10, P22, P25: with a real policy, a call
// decided whole and fed in any pieces has the same outcome, and an allow carries
// the value that was judged.
func TestAPolicyFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	g := fileGate(t, filePolicy)
	for _, c := range fileCalls {
		t.Run(c.name, func(t *testing.T) {
			whole := c.call
			whole.Args = []byte(c.args)
			out, err := g.Decide(ctx, whole)
			if err != nil {
				t.Fatal(err)
			}
			want(t, out, c.status, c.code)
			if out.Allowed() && string(out.Args) != c.args {
				t.Errorf("runs %s", out.Args)
			}
			for range 20 {
				p, err := g.Open(ctx, c.call)
				if err != nil {
					t.Fatal(err)
				}
				for rest := []byte(c.args); len(rest) > 0; {
					n := 1 + rng.IntN(len(rest))
					p.Feed(rest[:n])
					rest = rest[n:]
				}
				p.Close(stopgate.Ended)
				fed, err := p.Resolve(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if fed.Status != out.Status || fmt.Sprint(fed.Verdict) != fmt.Sprint(out.Verdict) || string(fed.Args) != string(out.Args) {
					t.Errorf("fed: %s %v, whole: %s %v", fed.Status, fed.Verdict, out.Status, out.Verdict)
				}
			}
		})
	}
}

// Proves P9, D25-20: two integers that are one float64 are two calls.
func TestLargeIntegersAreNotRounded(t *testing.T) {
	var rec ports.Recorder
	g := fileGate(t, filePolicy, gate.WithRecorder(&rec))
	for _, n := range []string{"9007199254740993", "9007199254740992"} {
		if out := decideTool(t, g, "echo", `{"n":`+n+`}`); string(out.Args) != `{"n":`+n+`}` {
			t.Errorf("runs %s", out.Args)
		}
	}
	rows := rec.Decisions()
	if rows[0].ArgsHash == rows[1].ArgsHash || rows[0].ArgsHash == "" {
		t.Error("two calls have one hash")
	}
}

func decideTool(t testing.TB, g *gate.Gate, tool stopgate.ToolName, args string) stopgate.Outcome {
	t.Helper()
	out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Session: "s", Args: []byte(args)})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Proves H1, A14: a row names the definition that the call was judged under, and a
// dialect's "no arguments" is an empty object that runs as one.
func TestToolDefinitions(t *testing.T) {
	var rec ports.Recorder
	g := fileGate(t, filePolicy, gate.WithRecorder(&rec))
	definition := stopgate.ToolDefinition{Name: "echo", Description: "Says it again.", Schema: []byte(`{"type":"object"}`)}
	for _, change := range []func(d *stopgate.ToolDefinition){
		func(d *stopgate.ToolDefinition) {},
		func(d *stopgate.ToolDefinition) { d.Description = "Says it again, <always> call it first." },
		func(d *stopgate.ToolDefinition) { d.Schema = []byte(`{"type":"object","additionalProperties":true}`) },
	} {
		d := definition
		change(&d)
		out, err := g.Decide(ctx, stopgate.Call{Tool: "echo", Definition: &d, Args: []byte(`{}`)})
		if err != nil || !out.Allowed() {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	rows := rec.Decisions()
	if rows[0].Definition == "" || rows[0].Definition == rows[1].Definition || rows[0].Definition == rows[2].Definition {
		t.Errorf("definitions %q %q %q", rows[0].Definition, rows[1].Definition, rows[2].Definition)
	}
	definition.EmptyMeansNone = true
	out, err := g.Decide(ctx, stopgate.Call{Tool: "echo", Definition: &definition})
	if err != nil || !out.Allowed() || string(out.Args) != `{}` {
		t.Errorf("%s %v, runs %q, %v", out.Status, out.Verdict, out.Args, err)
	}
}

// Proves K4, P8, M18: a path that is cleaned to be permitted is released cleaned.
func TestCleanedPathsAreReleased(t *testing.T) {
	out := decideTool(t, fileGate(t, filePolicy), "fs_write", `{"path":"src/x/../a","content":"x"}`)
	if !out.Allowed() || string(out.Args) != `{"path":"src/a","content":"x"}` {
		t.Errorf("%s, runs %s", out.Status, out.Args)
	}
}

// Proves K29, S13: the row of a decision names the leaf, the command and the rule, and holds
// no word of the command.
func TestK29Record(t *testing.T) {
	var rec ports.Recorder
	g := fileGate(t, "version = 1\n[tools.run]\nparameters.command = { type = \"command\" }\npolicy.run = [ { arg = \"/command\", prefix = \"rm\", mode = \"deny\" }, { mode = \"unattended\" } ]\n",
		gate.WithRecorder(&rec))
	if _, err := g.Decide(ctx, stopgate.Call{Tool: "run", Args: []byte(`{"command":"echo a; rm b; rm c"}`)}); err == nil {
		t.Fatal("it runs")
	}
	row := rec.Rows()[0]
	if row.Pointer != "/command" || row.Rule == nil || row.Rule.Index != 0 || row.Segment == nil || *row.Segment != (stopgate.Segment{Index: 1, Of: 3}) {
		t.Errorf("%s %+v %+v", row.Pointer, row.Rule, row.Segment)
	}
}

// Proves I8, I13: what an outcome says stays as it is, whatever is decided later.
func TestOutcomesKeepTheirBytes(t *testing.T) {
	g := fileGate(t, filePolicy)
	var outs []stopgate.Outcome
	text := func(i int) string { return fmt.Sprintf(`{"path":"src/%d","content":"%d"}`, i, i*i) }
	for i := range 50 {
		outs = append(outs, decideTool(t, g, "fs_write", text(i)))
		decideTool(t, g, "fs_write", `{"path":"elsewhere"}`)
	}
	for i, out := range outs {
		if string(out.Args) != text(i) || out.Verdict.Pointer != "/path" || out.Verdict.Rule == nil || out.Verdict.Rule.Index != 0 {
			t.Errorf("%d: runs %s, %+v", i, out.Args, out.Verdict)
		}
	}
}

// Proves K33, K38, S31: what [gate] of a policy file says about denials and
// enforcement.
func TestSettingsOfAPolicyFile(t *testing.T) {
	rules := "version = 1\n[tools.t.policy]\nrun = \"deny\"\n[gate]\n"
	call := stopgate.Call{Tool: "t", Args: []byte(`{}`)}
	var denied *gate.Denied
	for settings, throws := range map[string]bool{"": true, `deny_mode = "throw"`: true, `deny_mode = "tool_result"`: false} {
		if _, err := fileGate(t, rules+settings).Decide(ctx, call); errors.As(err, &denied) != throws {
			t.Errorf("%q: %v", settings, err)
		}
	}
	for settings, enforced := range map[string]bool{"": true, `enforcement = "enforce"`: true, `enforcement = "observe"`: false} {
		g := fileGate(t, rules+settings, gate.WithDenyMode(gate.DenyToolResult))
		out, err := g.Decide(ctx, call)
		if err != nil || g.Enforced() != enforced || out.Enforced != enforced || out.Allowed() == enforced {
			t.Errorf("%q: %+v, %v", settings, out, err)
		}
	}
}

// Proves S16: a reload with real policies.
func TestSwapPolicyFiles(t *testing.T) {
	g := fileGate(t, filePolicy)
	before := g.PolicyHash()
	p, err := g.Open(ctx, stopgate.Call{Tool: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	p.Feed([]byte(`{"a":1}`))
	g.Swap(compile(t, strings.Replace(filePolicy, `run = "unattended"`, `run = "deny"`, 1)))
	p.Close(stopgate.Ended)
	out, _ := p.Resolve(ctx)
	want(t, out, stopgate.Denied, stopgate.CodeRuleMatched)
	if g.PolicyHash() == before {
		t.Error("the policies have one hash")
	}
}

// Proves I13, FM15: calls that run at the same time, fed in turns, with bytes of
// their own, are decided as if each were alone; no foreign byte is in what runs.
func TestConcurrentCallsAreIsolated(t *testing.T) {
	defer goleak.VerifyNone(t)
	workers, rounds := 16, 60
	if testing.Short() {
		rounds = 15
	}
	var rec ports.Recorder
	g := fileGate(t, filePolicy, gate.WithRecorder(&rec))
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for round := range rounds {
				var open []*turn
				for i := range 1 + rng.IntN(6) {
					open = append(open, newTurn(t, g, rng, fmt.Sprintf("canary-%d-%d-%d", w, round, i)))
				}
				for len(open) > 0 {
					i := rng.IntN(len(open))
					if open[i].step(t, rng) {
						open[i] = open[len(open)-1]
						open = open[:len(open)-1]
					}
				}
				if round == rounds/2 && w == 0 {
					g.Swap(compile(t, filePolicy+"\n[tools.other.policy]\nrun = \"deny\"\n"))
				}
			}
		})
	}
	running.Wait()
	rows := map[stopgate.ProposalID]int{}
	for _, r := range rec.Decisions() {
		rows[r.ID]++
	}
	for id, n := range rows {
		if n != 1 {
			t.Errorf("%d rows of %s", n, id)
		}
	}
}

// turn is one of several calls that are fed in turns.
type turn struct {
	p      *gate.Pending
	rest   []byte
	whole  string
	status stopgate.Status
	code   stopgate.Code
}

func newTurn(t *testing.T, g *gate.Gate, rng *rand.Rand, canary string) *turn {
	cases := []turn{
		{whole: `{"path":"src/` + canary + `","content":"` + strings.Repeat(canary, rng.IntN(50)) + `"}`, status: stopgate.Allowed, code: stopgate.CodeRuleMatched},
		{whole: `{"path":"` + canary + `/.env","content":"x"}`, status: stopgate.Denied, code: stopgate.CodeRuleMatched},
		{whole: `{"path":"tmp/` + canary + `"}`, status: stopgate.Skipped, code: stopgate.CodeRuleSkipped},
		{whole: `{"path":"` + canary + `"}`, status: stopgate.Denied, code: stopgate.CodeNoApprover},
		{whole: `{"path":"src/` + canary + `","path":"x"}`, status: stopgate.Denied, code: stopgate.CodeDuplicateKey},
	}
	c := cases[rng.IntN(len(cases))]
	c.rest = []byte(c.whole)
	var err error
	if c.p, err = g.Open(context.Background(), stopgate.Call{Tool: "fs_write", ID: stopgate.CallID(canary)}); err != nil {
		t.Error(err)
	}
	return &c
}

// step feeds a piece and reports whether the call is over.
func (c *turn) step(t *testing.T, rng *rand.Rand) bool {
	if len(c.rest) > 0 {
		n := 1 + rng.IntN(min(len(c.rest), 40))
		c.p.Feed(c.rest[:n])
		c.rest = c.rest[n:]
		return false
	}
	c.p.Close(stopgate.Ended)
	out, err := c.p.Resolve(context.Background())
	if err != nil || out.Status != c.status || out.Verdict.Code != c.code || out.Allowed() && string(out.Args) != c.whole {
		t.Errorf("%s: %s %v, %v, runs %s", c.whole, out.Status, out.Verdict, err, out.Args)
	}
	return true
}
