package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves S8, I2: a keyed objection is known at the byte that completes its key, in
// every chunking, also beside a rule that denies in the same chunk; what was read is
// not denied early.
func TestKeysWhileTheArgumentsArrive(t *testing.T) {
	const file = `version = 1
[gate]
deny_mode = "tool_result"
[tools.read.policy]
run = "unattended"
[tools.write.parameters.path]
type = "path"
[tools.write.parameters.content]
type = "string"
[tools.write.policy]
run = [ { arg = "/content", prefix = "rm", mode = "deny" }, { mode = "unattended" } ]
[[session]]
type = "read_before_write"
read_tools = "read"
write_tools = "write"
`
	for _, memory := range []bool{true, false} {
		g := fileGate(t, file, gate.WithStore(&ports.Store{Memory: memory}))
		call := func(tool stopgate.ToolName) *gate.Pending {
			p, err := g.Open(ctx, stopgate.Call{Tool: tool, Session: "s"})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		for args, want := range map[string]struct {
			code stopgate.Code
			at   int64
		}{
			`{"path":"a/b","content":"rm -rf"}`:      {stopgate.CodeReadRequired, 13},
			`{"content":"rm -rf","path":"a/b"}`:      {stopgate.CodeRuleMatched, 14},
			`{"content":"fine","path":"a\/b"}`:       {stopgate.CodeReadRequired, 31},
			`{"x":{"path":"k"},"content":"fine"}`:    {stopgate.CodeKeyUnavailable, 35},
			`{"path":"a/b" "content":"rm -rf"}`:      {stopgate.CodeReadRequired, 13},
			`{"path":["k"],"content":"fine"}`:        {stopgate.CodeSchemaViolation, 31},
			`{"path":"a%2fb","content":"something"}`: {stopgate.CodeKeyUnavailable, 15},
		} {
			for cut := 0; cut <= len(args); cut++ {
				p := call("write")
				p.Feed([]byte(args[:cut]))
				p.Feed([]byte(args[cut:]))
				v := p.Close(stopgate.Ended)
				if v.Code != want.code || v.DecidedAt != want.at {
					t.Errorf("%s cut at %d: %v, want %s at %d", args, cut, v, want.code, want.at)
					break
				}
				p.Cancel(ctx)
			}
		}
		read, _ := g.Decide(ctx, stopgate.Call{Tool: "read", Session: "s", Args: []byte(`{"path":"a/b"}`)})
		g.Observe(ctx, stopgate.Result{Proposal: read.Proposal, Session: "s", Tool: "read", Observed: true})
		p := call("write")
		if v := p.Feed([]byte(`{"path":"a/b","con`)); v.Terminal() {
			t.Errorf("denied early: %v", v)
		}
		p.Feed([]byte(`tent":"fine"}`))
		if v := p.Close(stopgate.Ended); v.Mode != stopgate.Unattended {
			t.Errorf("%v", v)
		}
		p.Cancel(ctx)
	}
}
