package gate_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// hung is a policy that never answers in time, and looks at its view for ever after.
type hung struct {
	free  chan struct{}
	cells chan [2]string // a cell before others changed it, and after
}

func (hung) Name() string            { return "hung" }
func (hung) Tools() session.Selector { return session.Select("slow") }
func (hung) Needs(session.Call) []session.Key {
	return []session.Key{session.ToolKey("slow"), session.ToolKey("fast")}
}

func (h hung) Check(v session.View, _ session.Call) session.Decision {
	h.look(v)
	return session.Allow()
}

func (h hung) look(v session.View) {
	cell := v.Cell(session.ToolKey("fast"))
	before := string(encoding.MarshalCell(*cell))
	<-h.free
	h.cells <- [2]string{before, string(encoding.MarshalCell(*v.Cell(session.ToolKey("fast"))))}
}

// Proves FM15, I13: a policy that hangs denies, and what it still looks at is its own:
// the store goes on.
func TestHungPolicyKeepsItsView(t *testing.T) {
	h := hung{make(chan struct{}), make(chan [2]string, 4)}
	g, err := gate.New(compile(t, `version = 1
[gate]
deny_mode = "tool_result"
[tools.slow.policy]
run = "unattended"
[tools.fast.policy]
run = "unattended"
`), gate.WithStore(mem.New()), gate.WithSessionPolicies(ports.Registry(h)), gate.WithLimits(gate.Limits{Policy: 20 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool stopgate.ToolName) stopgate.Outcome {
		out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Session: "s", Args: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for range 3 {
		call("fast")
	}
	want(t, call("slow"), stopgate.Denied, stopgate.CodePolicyTimeout)
	for range 20 {
		call("fast")
	}
	close(h.free)
	if cell := <-h.cells; cell[0] != cell[1] || cell[0] == "" {
		t.Errorf("its view changed: %q became %q", cell[0], cell[1])
	}
}
