package mcpgate_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/pin"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
)

// notes is an MCP server with two tools, in the same process. [link.Start] and [link.Dial] connect
// to others.
type notes struct{}

func (notes) Call(_ context.Context, c *link.Call) (link.Reply, error) {
	result := `{"content":[{"type":"text","text":"done"}]}`
	switch c.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"erase","inputSchema":{"type":"object"}}]}`
	}
	m, err := jsonrpc.Read(jsonrpc.AppendResult(nil, c.ID, []byte(result)))
	return link.Reply{Message: m}, err
}

func (notes) Send(context.Context, *link.Call) error { return nil }
func (notes) Done() <-chan struct{}                  { return nil }
func (notes) Close() error                           { return nil }

// An agent uses a server through the gate: it sees the tools that it may use, and no other one
// runs.
func Example() {
	program, mistakes := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
tools.read.policy.run = "unattended"
tools.erase.policy.run = "deny"
`)}}, policy.Options{})
	if program == nil {
		fmt.Println(mistakes)
		return
	}
	decides, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := mcpgate.New(mcpgate.Options{
		Gate: decides, Program: func() mcpgate.Policy { return program }, Pins: pin.InMemory(),
		Servers: []mcpgate.Server{{Identity: "notes", Open: func(context.Context, link.Events) (link.Link, error) { return notes{}, nil }}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The agent's side of standard input and output.
	fromAgent, agent := io.Pipe()
	answers, toAgent := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- g.ServeStdio(context.Background(), session.Owner{Principal: "local", Session: "s1"}, fromAgent, toAgent)
	}()
	lines := bufio.NewScanner(answers)
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"erase","arguments":{}}}`,
	} {
		if _, err := io.WriteString(agent, message+"\n"); err != nil || !lines.Scan() {
			fmt.Println("the gateway is gone", err)
			return
		}
		if !strings.Contains(message, "initialize") {
			fmt.Println(lines.Text())
		}
	}
	agent.Close()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"read","inputSchema":{"type":"object"}}]}}
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"done"}]}}
	// {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Unknown tool: erase"}}
}
