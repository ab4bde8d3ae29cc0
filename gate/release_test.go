package gate_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// What calls have in common for their results is kept once, and never taken for that of
// a call that differs in anything.
func TestReleasesAreShared(t *testing.T) {
	g := fileGate(t, `version = 1
[gate]
deny_mode = "tool_result"
[tools.a.policy]
run = "unattended"
result = [ { arg = "/x", const = 1, mode = "skip" }, { mode = "unattended" } ]
[tools.b.policy]
run = "unattended"
result = "ask"
[tools.c.policy]
run = "unattended"
`, gate.WithStore(&ports.Store{Memory: true}))
	calls := []stopgate.Call{
		{Tool: "a", Args: []byte(`{"x":1}`)}, {Tool: "a", Args: []byte(`{"x":2}`)}, {Tool: "b", Args: []byte(`{}`)}, {Tool: "c", Args: []byte(`{}`)},
		{Tool: "c", Args: []byte(`{}`), Dialect: "openai-chat"}, {Tool: "c", Args: []byte(`{}`), Surface: stopgate.SurfaceGateway},
		{Tool: "c", Args: []byte(`{}`), Surface: stopgate.SurfaceHook},
	}
	release := func(call stopgate.Call) *session.Release {
		t.Helper()
		call.Session = "s"
		turn := g.Turn(session.Owner{Session: "s"}, "")
		store := gate.StoreOf(g)
		out, err := turn.Decide(ctx, call)
		if err != nil || !out.Allowed() {
			t.Fatal(out, err)
		}
		k := session.CallKey(out.Proposal)
		state, err := store.Load(ctx, session.Owner{Session: "s"}, []session.Key{k})
		if err != nil {
			t.Fatal(err)
		}
		cell, _ := state.Cell(k)
		return cell.Call.Fact.Release
	}
	var alone []*session.Release // each behind itself
	for _, c := range calls {
		first := release(c)
		if again := release(c); again != first {
			t.Errorf("%s %s: what two calls have in common is kept twice", c.Tool, c.Args)
		}
		alone = append(alone, first)
	}
	for i, a := range calls {
		for j, b := range calls {
			release(a)
			if got := release(b); !cmp.Equal(got, alone[j]) || i != j && (got.Dialect != b.Dialect || got.Surface != b.Surface) {
				t.Errorf("%s %s behind %s %s: %+v, want %+v", b.Tool, b.Args, a.Tool, a.Args, got, alone[j])
			}
		}
	}
	if n := reflect.TypeFor[stopgate.Verdict]().NumField(); n != 11 {
		t.Errorf("a verdict has %d fields: look at alike.sameRelease", n)
	}
	if n := reflect.TypeFor[session.Release]().NumField(); n != 6 {
		t.Errorf("a release has %d fields: look at alike.sameRelease", n)
	}
}
