package mcpgate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
)

// notes is an MCP server with two tools, over streamable HTTP.
func notes(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{"content":[{"type":"text","text":"done"}]}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"erase","inputSchema":{"type":"object"}}]}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// pins accepts every definition of a tool. A program that keeps them refuses those that changed.
type pins struct{}

func (pins) Check(string, stopgate.ToolName, string, []byte) (bool, error) { return true, nil }

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
	server := httptest.NewServer(http.HandlerFunc(notes))
	defer server.Close()
	g, err := mcpgate.New(mcpgate.Options{
		Gate: decides, Program: func() mcpgate.Policy { return program }, Pins: pins{},
		Servers: []mcpgate.Server{{Identity: "notes", Transport: mcpgate.Remote(server.URL, "")}},
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
