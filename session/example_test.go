package session_test

import (
	"context"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// Session policies in a gate: no deployment before the tests passed, and at most two
// deployments in an hour.
func Example() {
	registry := session.NewRegistry()
	for _, p := range []session.Policy{
		policies.Require("deploy").After("test").Because("Run the tests first."),
		policies.Limit("deploy").Calls(2).Within(time.Hour),
	} {
		if err := registry.Register(p); err != nil {
			fmt.Println(err)
			return
		}
	}
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
tools.test.policy.run = "unattended"
tools.deploy.policy.run = "unattended"
`)}}, policy.Options{})
	if program == nil {
		fmt.Println(mistakes)
		return
	}
	g, err := gate.New(program, gate.WithStore(mem.New()), gate.WithSessionPolicies(registry), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, tool := range []stopgate.ToolName{"deploy", "test", "deploy", "deploy", "deploy"} {
		ran, err := g.Run(context.Background(), stopgate.Call{
			Tool: tool, ID: stopgate.CallID(fmt.Sprint("call_", i)), Session: "s1", Principal: "anna", Args: []byte(`{}`),
		}, func(context.Context, []byte) ([]byte, error) { return []byte(`"ok"`), nil })
		if err != nil {
			fmt.Println(err)
			return
		}
		if !ran.Outcome.Allowed() {
			fmt.Printf("%s %s: %s\n", tool, ran.Outcome.Status, ran.Outcome.Envelope().PublicReason)
			continue
		}
		fmt.Println(tool, ran.Outcome.Status)
	}
	// Output:
	// deploy denied: Run the tests first.
	// test allowed
	// deploy allowed
	// deploy allowed
	// deploy denied: The limit of 2 calls within 1h would be exceeded; try again later.
}

// Sessions without a gate: the state is a value, facts change it, and policies check calls on
// it. The caller keeps the facts and the cells.
func ExampleApply() {
	registry := session.NewRegistry()
	if err := registry.Register(policies.Require("deploy").After("test")); err != nil {
		fmt.Println(err)
		return
	}
	test, deploy := session.Call{Proposal: "p1", Tool: "test", ID: "call_1"}, session.Call{Proposal: "p2", Tool: "deploy", ID: "call_2"}

	// The facts of a call: its release and its success.
	released := session.Fact{Seq: 1, Kind: session.Released, Proposal: test.Proposal, Tool: test.Tool, CallID: test.ID, Marks: registry.Set().Marks(test)}
	succeeded := session.Fact{Seq: 2, Kind: session.Succeeded, Proposal: test.Proposal, Tool: test.Tool, CallID: test.ID}

	// A new session: every cell that is needed is loaded and empty.
	var cells []session.Entry
	for _, key := range append(released.Keys(), registry.Set().Needs(deploy)...) {
		cells = append(cells, session.Entry{Key: key, Cell: new(session.Cell)})
	}
	state := session.NewState(0, cells)
	check := func() {
		view := session.View{State: state, Owner: session.Owner{Principal: "anna", Session: "s1"}, Horizon: state.Head}
		primary, _ := registry.CheckAll(view, deploy)
		fmt.Printf("%d facts: %t %s\n", state.Head, primary.Allowed, primary.Code)
	}
	check()
	for _, fact := range []session.Fact{released, succeeded} {
		var err error
		if state, err = session.Apply(state, fact); err != nil {
			fmt.Println(err)
			return
		}
		check()
	}
	// Output:
	// 0 facts: false prerequisite_missing
	// 1 facts: false prerequisite_pending
	// 2 facts: true
}
