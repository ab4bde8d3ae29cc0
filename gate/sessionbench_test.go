package gate_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
	"github.com/stopgate/stopgate/session"
)

const benchSessionFile = `version = 1
[gate]
deny_mode = "tool_result"
[tools.fs_write.parameters.path]
type = "path"
[tools.fs_write.parameters.content]
type = "string"
[tools.fs_write.policy]
run = [ { arg = "/path", glob = "**/.env*", mode = "deny" }, { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "ask" } ]
[tools.fs_read.policy]
run = "unattended"
[[session]]
type = "read_before_write"
read_tools = "fs_read"
write_tools = "fs_write"
[[session]]
type = "require"
before = "fs_write"
requires = "fs_read"
within = "1h"
[[session]]
type = "limit"
tools = "fs_*"
max_calls = 1000000000
within = "1h"
`

// benchSession decides writes of a file that was read, in a session of n facts.
func benchSession(b *testing.B, n int) {
	g := fileGate(b, benchSessionFile, gate.WithStore(mem.New()))
	o := session.Owner{Principal: "p", Session: "s"}
	for i := range n / 2 {
		path := "src/other.go"
		if i == n/2-1 {
			path = "src/agent/loop.go"
		}
		fact(b, g, o, "fs_read", fmt.Sprintf(`{"path":%q}`, path))
	}
	fact(b, g, o, "fs_read", `{"path":"src/agent/loop.go"}`)
	call := stopgate.Call{Tool: "fs_write", ID: "call_1", Session: "s", Principal: "p", Args: benchArgs}
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu.Time()
	defer func() { cpu.Report(b, start) }()
	for b.Loop() {
		out, err := g.Decide(ctx, call)
		if err != nil || !out.Allowed() {
			b.Fatal(out, err)
		}
	}
}

func fact(b *testing.B, g *gate.Gate, o session.Owner, tool stopgate.ToolName, args string) {
	out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Session: o.Session, Principal: o.Principal, Args: []byte(args)})
	if err != nil || !out.Allowed() {
		b.Fatal(out, err)
	}
	if _, err := g.Observe(context.Background(), stopgate.Result{Proposal: out.Proposal, Session: o.Session, Principal: o.Principal, Tool: tool, Observed: true}); err != nil {
		b.Fatal(err)
	}
}

// A decision under three session policies with the store in memory: 5 us at most. It
// is a whole Decide: id, parsing, rules and schema, both hashes, the policies' check, the
// facts and cells of the release. There is no recorder, and no result ever comes, so
// that calls in flight fill their lists.
func BenchmarkDecideSession(b *testing.B) { benchSession(b, 2) }

// The same in a session of 100,000 facts: at most twice the time.
func BenchmarkDecideSession100K(b *testing.B) { benchSession(b, 100_000) }
