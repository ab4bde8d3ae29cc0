package gate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store/mem"
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
	p, diags := policy.Compile([]policy.Source{{Name: "p", Text: []byte(needsTest), Trusted: true}}, policy.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	g, err := gate.New(p, gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func told(id, args, result string) gate.Told {
	return gate.Told{
		Call: stopgate.CallID(id), Tool: "test", Args: func() []byte { return []byte(args) },
		Answered: result != "", Result: func() ([]byte, bool) { return []byte(result), false },
	}
}

// Proves FM2, W51: where the history of a guessed session cannot be read, governed
// calls are denied, and others are served; a named session sees what it knew.
func TestRememberWithoutStore(t *testing.T) {
	f := &failing{Store: mem.New()}
	g := remembering(t, f)
	ctx, o := t.Context(), session.Owner{Principal: "p", Session: session.WeakID("x")}
	turn := g.Turn(o, "t1")
	f.on = true
	if _, err := turn.Remember(ctx, stopgate.Call{}, []gate.Told{told("c", "{}", "ok")}, gate.Memory{Learn: true, Alone: true}); err == nil {
		t.Fatal("no error")
	}
	f.on = false
	for tool, want := range map[stopgate.ToolName]stopgate.Code{"deploy": stopgate.CodeStoreUnavailable, "other": stopgate.CodeRuleMatched} {
		out, err := turn.Decide(ctx, stopgate.Call{Tool: tool, ID: "d", Args: []byte(`{}`)})
		if err != nil || out.Verdict.Code != want {
			t.Errorf("%s: %s %v", tool, out.Verdict.Code, err)
		}
	}
}

// Proves W50, S35: a turn that is alone sees what it is told and released itself, and
// what it released counts in the session once it is told of it again.
func TestAlone(t *testing.T) {
	g := remembering(t, mem.New())
	ctx, o := t.Context(), session.Owner{Principal: "p", Session: session.WeakID("x")}
	n := 0
	begin := func(list ...gate.Told) (*gate.Turn, []gate.Known) {
		t.Helper()
		n++
		turn := g.Turn(o, stopgate.TurnID(string(rune('a'+n))))
		known, err := turn.Remember(ctx, stopgate.Call{}, list, gate.Memory{Learn: true, Alone: true})
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
