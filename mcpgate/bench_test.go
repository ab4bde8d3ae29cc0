package mcpgate_test

import (
	"testing"

	"github.com/stopgate/stopgate/mcpgate"
)

// BenchmarkCall measures one allowed call and its response over standard input and output, with its
// record in memory and a server in this process.
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
