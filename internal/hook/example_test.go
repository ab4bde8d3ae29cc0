package hook_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// A coding agent asks before it runs a tool, and gets a reply in its own format.
func Example() {
	host, err := hook.Lookup("claude-code")
	if err != nil {
		fmt.Println(err)
		return
	}
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
`)}}, policy.Options{})
	if program == nil {
		fmt.Println(mistakes)
		return
	}
	open := func(_ context.Context, e *hook.Event) (*hook.Backend, error) {
		approver := host.Approver(e, nil) // calls that the policy asks about are left to the agent's user
		g, err := gate.New(program, gate.WithApprover(approver), gate.WithDenyMode(gate.DenyToolResult))
		return &hook.Backend{Gate: g, Approver: approver}, err
	}
	for _, file := range []string{"README.md", ".env"} {
		event := `{"session_id":"s1","cwd":"/srv/proj","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"` + file + `"}}`
		reply := host.Run(context.Background(), hook.Options{Open: open}, strings.NewReader(event))
		fmt.Printf("%s: exit %d\n%s", file, reply.Exit, reply.Stdout)
	}
	// Output:
	// README.md: exit 0
	// .env: exit 2
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"stopgate: secrets stay out of reach (rule_matched)"}}
}
