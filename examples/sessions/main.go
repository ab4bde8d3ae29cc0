// Command sessions is a program with session policies of its own: a review before a merge, an
// order of tools, and a read before a write.
//
//	go run ./examples/sessions
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// rules know the tools and allow them: only the session policies object.
const rules = `
version = 1
[tools]
"*" = { uncovered = "allow", policy = { run = "unattended" } }
approve_pr = {}
merge_pr = {}
lint = {}
test = {}
build = {}
deploy = {}
read_file = {}
write_file = {}
edit_file = {}
`

func run(ctx context.Context, out io.Writer) error {
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if program == nil {
		return found.Err()
	}
	registry := session.NewRegistry()
	for _, p := range []session.Policy{
		review{},
		sequence{"deploy": {"test", "build"}, "build": {"lint"}},
		readFirst{readers: []string{"read_file"}, writers: []string{"write_file", "edit_file"}},
	} {
		if err := registry.Register(p); err != nil {
			return err
		}
	}
	g, err := gate.New(program, gate.WithSessionPolicies(registry), gate.WithStore(store.Memory()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return err
	}
	tool := func(context.Context, []byte) ([]byte, error) { return []byte(`"ok"`), nil }
	for _, c := range []struct{ tool, args string }{
		{"merge_pr", `{"pr_id":"7"}`},
		{"approve_pr", `{"pr_id":"7"}`},
		{"merge_pr", `{"pr_id":"7"}`},
		{"merge_pr", `{"pr_id":"8"}`},
		{"merge_pr", `{}`},
		{"build", `{}`},
		{"lint", `{}`},
		{"build", `{}`},
		{"deploy", `{}`},
		{"test", `{}`},
		{"deploy", `{}`},
		{"read_file", `{"path":"config.yaml"}`},
		{"write_file", `{"path":"config.yaml","content":"a: 1"}`},
		{"write_file", `{"path":"other.yaml","content":"a: 1"}`},
	} {
		ran, err := g.Run(ctx, stopgate.Call{Tool: stopgate.ToolName(c.tool), Args: []byte(c.args), Session: "s1", Principal: "ann"}, tool)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-10s %-42s %s\n", c.tool, c.args, answer(&ran))
	}
	return nil
}

// answer is what a denied call tells the model.
func answer(ran *gate.Ran) string {
	if ran.Outcome.Allowed() {
		return "ran"
	}
	return string(ran.Outcome.Verdict.Code) + ": " + ran.Envelope.PublicReason
}
