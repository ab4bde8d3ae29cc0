package mcpgate_test

import (
	"testing"

	"github.com/stopgate/stopgate/mcpgate"
)

// BenchmarkCall is one allowed call on standard input and output, there and back, with
// its record in memory and a server in this process.
func BenchmarkCall(b *testing.B) {
	f := newFake(echoTool)
	c := setup(b, free, mcpgate.Settings{}, map[string]*fake{"": f}).stdio()
	c.hello(`{}`)
	c.ask(call("1", "echo", `{"text":"warm"}`))
	b.ReportAllocs()
	for b.Loop() {
		c.ask(call("2", "echo", `{"text":"hello"}`))
	}
}
