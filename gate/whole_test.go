package gate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
)

// Policies that can object at the first byte, at a key, and at the end.
const wholeFile = `version = 1
[gate]
deny_mode = "tool_result"
denial_limit = 0
[tools.write.parameters.path]
type = "path"
[tools.write.parameters.file_path]
type = "path"
[tools.write.parameters.content]
type = "string"
[tools.write.policy]
run = [ { arg = "/path", glob = "**/.env*", mode = "deny" }, { arg = "/content", prefix = "#!", mode = "skip" }, { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "ask" } ]
[tools.read.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[tools.mail.parameters.to]
type = "string"
[tools.mail.policy]
run = [ { arg = "/to", const = "eve", mode = "deny" }, { mode = "unattended" } ]
[[session]]
type = "limit"
tools = "mail"
max_calls = 2
scope = "session"
[[session]]
type = "limit"
tools = "*"
max_calls = 9
scope = "session"
[[session]]
type = "read_before_write"
read_tools = "read"
write_tools = "write"
invalidated_by = "deploy"
[[session]]
type = "require"
before = "deploy"
requires = ["write"]
key = "/path"
[[session]]
type = "require"
before = "mail"
requires = ["read"]
`

// patient is for tests on busy machines: no port is late there.
var patient = gate.WithLimits(gate.Limits{Policy: time.Minute, Store: time.Minute, Record: time.Minute})

// streamed decides as a surface does whose arguments arrive in pieces.
func streamed(t *rapid.T, g *gate.Gate, call stopgate.Call) stopgate.Outcome {
	args := call.Args
	call.Args = nil
	p, err := g.Open(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	for len(args) > 0 {
		n := rapid.IntRange(1, len(args)).Draw(t, "piece")
		p.Feed(args[:n])
		args = args[n:]
	}
	p.Close(stopgate.Ended)
	out, err := p.Resolve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Proves S8, I1, D26-10: a call that comes whole gets the verdict of the same call
// that arrives in pieces, with the same byte, objections and facts, though its session
// policies are asked once.
func TestWholeAndStreamedAgree(t *testing.T) {
	argsOf := rapid.SampledFrom([]string{
		`{}`, `{"path":"src/a"}`, `{"path":"src/b"}`, `{"path":"src/.env"}`, `{"path":"src/a","content":"x"}`, `{"content":"#!","path":"src/a"}`,
		`{"path":"src/a","content":"#!"}`, `{"content":"#!","path":"src/.env"}`, `{"path":"src/a","file_path":"src/b"}`, `{"file_path":"src/b","path":"src/b"}`,
		`{"path":"other"}`, `{"path":["src/a"]}`, `{"to":"ann"}`, `{"to":"eve"}`, `{"path":"src/a"`, `{"path":"src/a","path":"src/a"}`, `{"path":"../x"}`, ``,
	})
	program := compile(t, wholeFile)
	property.Check(t, func(t *rapid.T) {
		var gates [2]*gate.Gate
		var rows [2]*ports.Recorder
		var stores [2]*ports.Store
		for i := range gates {
			rows[i], stores[i] = new(ports.Recorder), &ports.Store{Memory: rapid.Bool().Draw(t, "memory")}
			g, err := gate.New(program, gate.WithStore(stores[i]), gate.WithRecorder(rows[i]), patient)
			if err != nil {
				t.Fatal(err)
			}
			gates[i] = g
		}
		for n := range rapid.IntRange(1, 12).Draw(t, "calls") {
			call := stopgate.Call{
				Tool: rapid.SampledFrom([]stopgate.ToolName{"write", "write", "read", "deploy", "mail", "other"}).Draw(t, "tool"),
				ID:   stopgate.CallID(fmt.Sprint("c", n)), Session: "s", Turn: rapid.SampledFrom([]stopgate.TurnID{"", "", "t1", "t2"}).Draw(t, "turn"),
				Args: []byte(argsOf.Draw(t, "args")),
			}
			whole, err := gates[0].Decide(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			pieces := streamed(t, gates[1], call)
			if a, b := summary(whole), summary(pieces); a != b {
				t.Fatalf("%s %s: whole %s, in pieces %s", call.Tool, call.Args, a, b)
			}
			a, b := rows[0].Decisions()[n], rows[1].Decisions()[n]
			if fmt.Sprint(a.Objections, a.FactsAt, a.Status, a.Code, a.ArgsHash) != fmt.Sprint(b.Objections, b.FactsAt, b.Status, b.Code, b.ArgsHash) {
				t.Fatalf("rows differ:\n%+v\n%+v", a, b)
			}
			if whole.Allowed() && rapid.Bool().Draw(t, "ends") {
				for i, out := range []stopgate.Outcome{whole, pieces} {
					r := stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: call.Tool, Observed: true}
					if _, err := gates[i].Observe(ctx, r); err != nil {
						t.Fatal(err)
					}
				}
			}
			o := session.Owner{Session: "s"}
			if a, b := stores[0].Kinds(o), stores[1].Kinds(o); fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("facts differ: %v and %v", a, b)
			}
		}
	})
}

func summary(o stopgate.Outcome) string {
	v := o.Verdict
	rule := -1
	if v.Rule != nil {
		rule = v.Rule.Index
	}
	return fmt.Sprint(o.Status, string(o.Args), v, v.Layer, v.Pointer, v.Public, rule, v.Candidates, v.Floors)
}
