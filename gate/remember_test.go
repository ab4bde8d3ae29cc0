package gate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

const needsTest = `version = 1
[tools.test.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[tools.other.policy]
run = "unattended"
[[session]]
type = "require"
before = ["deploy"]
requires = ["test"]
accept_unknown = true
`

// failing is a store whose reads of histories fail.
type failing struct {
	gate.Store
	on bool
}

func (f *failing) Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error) {
	if f.on {
		return session.State{}, errors.New("down")
	}
	return f.Store.Load(ctx, o, keys)
}

func remembering(t *testing.T, store gate.Store) *gate.Gate {
	t.Helper()
	p, diags := prove.Compile([]policy.Source{{Name: "p", Text: []byte(needsTest), Trusted: true}}, policy.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	g, err := gate.New(p, gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func told(id, args, result string) gate.PastCall {
	return gate.PastCall{
		Call: stopgate.CallID(id), Tool: "test", Args: func() []byte { return []byte(args) },
		Answered: result != "", Result: func() ([]byte, bool) { return []byte(result), false },
	}
}

// Proves FM2, W51: where the history of a guessed session cannot be read, governed
// calls are denied, and others are served. So it is in a named session if the history has
// results, since a policy may restrict by them; without results it sees what it knew. The next
// turn, which is told the same, is served.
func TestRememberWithoutStore(t *testing.T) {
	for _, c := range []struct {
		name, result string
		session      stopgate.SessionID
		alone        bool
		deploy, next stopgate.Code
	}{
		{"guessed", "ok", session.WeakID("x"), true, stopgate.CodeStoreUnavailable, stopgate.CodeRuleMatched},
		{"named", "ok", "x", false, stopgate.CodeStoreUnavailable, stopgate.CodeRuleMatched},
		{"named, without a result", "", "x", false, stopgate.CodePrerequisitePending, stopgate.CodePrerequisitePending},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &failing{Store: mem.New()}
			g := remembering(t, f)
			ctx, o := t.Context(), session.Owner{Principal: "p", Session: c.session}
			if out, err := g.Turn(o, "t0").Decide(ctx, stopgate.Call{Tool: "test", ID: "c", Args: []byte(`{}`)}); err != nil || !out.Allowed() {
				t.Fatal(out, err)
			}
			history := []gate.PastCall{told("c", "{}", c.result)}
			turn := g.Turn(o, "t1")
			f.on = true
			if _, err := turn.Remember(ctx, stopgate.Call{}, history, gate.Memory{Learn: true, Isolated: c.alone}); err == nil {
				t.Fatal("no error")
			}
			f.on = false
			for tool, want := range map[stopgate.ToolName]stopgate.Code{"deploy": c.deploy, "other": stopgate.CodeRuleMatched} {
				out, err := turn.Decide(ctx, stopgate.Call{Tool: tool, ID: "d", Args: []byte(`{}`)})
				if err != nil || out.Verdict.Code != want {
					t.Errorf("%s: %s %v", tool, out.Verdict.Code, err)
				}
			}
			turn = g.Turn(o, "t2")
			if _, err := turn.Remember(ctx, stopgate.Call{}, history, gate.Memory{Learn: true, Isolated: c.alone}); err != nil {
				t.Fatal(err)
			}
			if out, err := turn.Decide(ctx, stopgate.Call{Tool: "deploy", ID: "e", Args: []byte(`{}`)}); err != nil || out.Verdict.Code != c.next {
				t.Errorf("the next turn: %s %v", out.Verdict.Code, err)
			}
		})
	}
}

// Proves W50, S35: a turn that is alone sees what it is told and released itself, and
// what it released counts in the session once it is told of it again.
func TestAlone(t *testing.T) {
	g := remembering(t, mem.New())
	ctx, o := t.Context(), session.Owner{Principal: "p", Session: session.WeakID("x")}
	n := 0
	begin := func(list ...gate.PastCall) (*gate.Turn, []gate.KnownCall) {
		t.Helper()
		n++
		turn := g.Turn(o, stopgate.TurnID(string(rune('a'+n))))
		known, err := turn.Remember(ctx, stopgate.Call{}, list, gate.Memory{Learn: true, Isolated: true})
		if err != nil {
			t.Fatal(err)
		}
		return turn, known
	}
	decide := func(turn *gate.Turn, tool stopgate.ToolName) stopgate.Outcome {
		t.Helper()
		out, err := turn.Decide(ctx, stopgate.Call{Tool: tool, ID: "c1", Args: []byte(`{"n":1}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first, _ := begin()
	released := decide(first, "test")
	if !released.Allowed() || decide(first, "deploy").Allowed() {
		t.Fatal("the first turn")
	}
	turn, known := begin(told("c1", `{"n":1.0}`, "ok"))
	if known[0].Proposal != released.Proposal || !decide(turn, "deploy").Allowed() {
		t.Errorf("told: %+v", known)
	}
	if turn, _ := begin(); decide(turn, "deploy").Allowed() {
		t.Error("a turn that was told nothing knows of the test")
	}
	if next := turn.Next("n"); !decide(next, "deploy").Allowed() {
		t.Error("the next turn of the same request does not know of it")
	}
	if turn, known = begin(told("c1", `{"n":2}`, "ok"), told("c2", `{"n":1}`, "ok")); known[0].Proposal != "" || known[1].Proposal != "" || decide(turn, "deploy").Allowed() {
		t.Errorf("made up: %+v", known)
	}
}
