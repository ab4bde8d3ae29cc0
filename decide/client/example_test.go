package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/decide/client"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// A program that runs tools for a model requests a decision from a remote gate before each call.
func Example() {
	ctx := context.Background()
	gate, stop := running(`
version = 1
[tools.write_file.parameters]
path = { type = "path", required = true }
[tools.write_file.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny", reason = "secrets stay out of reach" },
  { mode = "unattended" },
]`)
	defer stop()
	for _, args := range []string{`{"path": "src/a.go"}`, `{"path": "src/../.env"}`} {
		answer, err := gate.Decide(ctx, client.Call{Tool: "write_file", Args: []byte(args), Session: "s1"})
		if err != nil || !answer.Allowed() {
			fmt.Println("not run:", answer.Public)
			continue
		}
		fmt.Printf("run %s\n", answer.Args) // exactly these bytes
		delivery, err := gate.Observe(ctx, answer.ID, client.Result{Data: []byte("written"), Succeeded: true})
		fmt.Println(delivery.Data, err)
	}
	// While the model still writes the arguments:
	stream, err := gate.Stream(ctx, client.Call{Tool: "write_file"})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream.Write([]byte(`{"path":".env",`))
	<-stream.Refused() // the rest is not needed
	answer, err := stream.Close()
	fmt.Println(answer.Mode, answer.DecidedAt, err)
	// Output:
	// run {"path":"src/a.go"}
	// written <nil>
	// not run: secrets stay out of reach
	// deny 14 <nil>
}

// running starts a gate that serves the decision API, as stopgate up does.
func running(text string) (*client.Client, func()) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(text)}}, policy.Options{})
	if program == nil {
		panic(mistakes)
	}
	g, err := gate.New(program, gate.WithRecorder(new(ports.Recorder)), gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		panic(err)
	}
	api, err := decide.New(decide.Options{Gate: g})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(api.Handler(true))
	c, err := client.New(server.URL)
	if err != nil {
		panic(err)
	}
	return c, func() { api.Close(context.Background()); server.Close() }
}
