package gate_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
)

const turnFile = `version = 1
[gate]
deny_mode = "tool_result"
denial_limit = 0
[tools.pay.parameters.amount]
type = "number"
[tools.pay.policy]
run = "unattended"
[tools.look.policy]
run = "unattended"
[tools.mail.policy]
run = "unattended"
[tools.run.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[tools.ship.policy]
run = "unattended"
[[session]]
type = "limit"
tools = "mail"
max_calls = 2
[[session]]
type = "limit"
tools = "run"
max_in_flight = 2
scope = "session"
[[session]]
type = "limit"
tools = "pay"
sum = "/amount"
max_sum = 10
within = "1h"
[[session]]
type = "require"
before = "deploy"
requires = "run"
[[session]]
type = "require"
before = "ship"
requires = "deploy"
when = { session = "/mode", const = "strict" }
`

// Proves H4, S8: calls of one turn see the state before the turn and what its calls
// reserved. When the results of some of them come, or the session's data changes in
// between, it changes nothing for the others: not what they are allowed, and not what
// calls of an earlier turn still hold.
func TestThreatH4TurnSeesWhatWasBefore(t *testing.T) {
	program := compile(t, turnFile)
	owner := session.Owner{Session: "s"}
	property.Check(t, func(t *rapid.T) {
		var gates [2]*gate.Gate // results come at once; when the turn is over
		for i := range gates {
			g, err := gate.New(program, gate.WithStore(&ports.Store{Memory: rapid.Bool().Draw(t, "memory")}), patient)
			if err != nil {
				t.Fatal(err)
			}
			gates[i] = g
		}
		tell := func(g *gate.Gate, mode string) {
			if err := g.SetData(ctx, owner, []byte(`{"mode":"`+mode+`"}`)); err != nil {
				t.Fatal(err)
			}
		}
		type ended struct{ results [2]stopgate.Result }
		var open []ended // released, without a result
		for turn := range rapid.IntRange(1, 5).Draw(t, "turns") {
			strict := rapid.Bool().Draw(t, "strict")
			for _, g := range gates {
				tell(g, map[bool]string{true: "strict", false: "easy"}[strict])
			}
			turns := [2]*gate.Turn{gates[0].Turn(owner, ""), gates[1].Turn(owner, "")}
			for _, tt := range turns { // the turn begins: its first call
				if out, err := tt.Decide(ctx, stopgate.Call{Tool: "look", Args: []byte(`{}`)}); err != nil || !out.Allowed() {
					t.Fatal(out, err)
				}
			}
			var late []ended
			for n := range rapid.IntRange(1, 6).Draw(t, "calls") {
				for len(open) > 0 && rapid.Bool().Draw(t, "ends") {
					i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
					e := open[i]
					open = append(open[:i:i], open[i+1:]...)
					if _, err := gates[0].Observe(ctx, e.results[0]); err != nil {
						t.Fatal(err)
					}
					late = append(late, e)
				}
				if strict && rapid.Bool().Draw(t, "eases") {
					tell(gates[0], "easy")
				}
				tool := rapid.SampledFrom([]stopgate.ToolName{"mail", "mail", "run", "run", "pay", "deploy", "ship"}).Draw(t, "tool")
				call := stopgate.Call{Tool: tool, ID: stopgate.CallID(fmt.Sprint(turn, "-", n)), Args: []byte(`{}`)}
				if tool == "pay" {
					call.Args = []byte(fmt.Sprintf(`{"amount":%d}`, rapid.IntRange(1, 9).Draw(t, "amount")))
				}
				streamed := rapid.Bool().Draw(t, "streamed")
				failed := rapid.Bool().Draw(t, "failed")
				var e ended
				var allowed [2]bool
				for i, tt := range turns {
					out := inTurn(t, tt, call, streamed)
					allowed[i] = out.Allowed()
					e.results[i] = stopgate.Result{Proposal: out.Proposal, Call: call.ID, Session: "s", Tool: tool, Failed: failed, Observed: true}
				}
				if allowed[0] != allowed[1] {
					t.Fatalf("turn %d, call %d of %s: with results in between %v, without %v", turn, n, tool, allowed[0], allowed[1])
				}
				if allowed[0] {
					open = append(open, e)
				}
			}
			for _, e := range late {
				if _, err := gates[1].Observe(ctx, e.results[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// inTurn decides a call of a turn, as a whole or in pieces.
func inTurn(t rapid.TB, turn *gate.Turn, call stopgate.Call, streamed bool) stopgate.Outcome {
	if !streamed {
		out, err := turn.Decide(ctx, call)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	args := call.Args
	call.Args = nil
	p, err := turn.Open(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	for i := range args {
		p.Feed(args[i : i+1])
	}
	p.Close(stopgate.Ended)
	out, err := p.Resolve(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Proves H4: the next turn sees what came in this one.
func TestThreatH4NextTurn(t *testing.T) {
	g := fileGate(t, turnFile, gate.WithStore(&ports.Store{Memory: true}))
	owner := session.Owner{Session: "s"}
	mail := stopgate.Call{Tool: "mail", Args: []byte(`{}`)}
	fail := func(out stopgate.Outcome) {
		t.Helper()
		if !out.Allowed() {
			t.Fatal(out.Verdict)
		}
		if _, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: "mail", Failed: true, Observed: true}); err != nil {
			t.Fatal(err)
		}
	}
	old := g.Turn(owner, "")
	first, second := inTurn(t, old, mail, false), inTurn(t, old, mail, true)
	fail(first)
	fail(second)
	for _, streamed := range []bool{false, true} {
		if out := inTurn(t, old, mail, streamed); out.Allowed() {
			t.Error("what the turn reserved was given back within it")
		}
	}
	third := inTurn(t, g.Turn(owner, ""), mail, false)
	fail(third)
	fail(inTurn(t, g.Turn(owner, ""), mail, true))
}
