package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/store"
)

// A gate whose sessions and records are in a database that other processes may share.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "stopgate.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "limit"
tools = ["deploy"]
max_calls = 1
`)}}, policy.Options{})
	if program == nil {
		panic(found)
	}
	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		panic(err)
	}
	for range 2 {
		out, err := g.Decide(ctx, stopgate.Call{Tool: "deploy", Session: "s", Args: []byte(`{}`)})
		fmt.Println(out.Status, out.Verdict.Code, err)
	}
	// Output:
	// allowed rule_matched <nil>
	// denied session_policy_denied <nil>
}
