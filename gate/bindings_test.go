package gate_test

import (
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/schema"
)

// Proves I13: gates that share bindings decide as gates that share nothing, each by its own
// program, at once too.
func TestSharedBindings(t *testing.T) {
	program := func(mode string) *policy.Program {
		p, list := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte("version = 1\n[tools.t]\npolicy.run = \"" + mode + "\"\n")}}, policy.Options{})
		if list.HasErrors() {
			t.Fatal(list)
		}
		return p
	}
	free, none := program("unattended"), program("deny")
	var shared gate.Bindings
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			p, want := free, true
			if i%3 == 2 {
				p, want = none, false
			}
			g, err := gate.New(p, gate.WithBindings(&shared))
			if err != nil {
				t.Error(err)
				return
			}
			for _, tool := range []stopgate.ToolName{"t", "other"} {
				out, _ := g.Decide(t.Context(), stopgate.Call{Tool: tool, Args: []byte(`{}`)})
				if out.Allowed() != (want && tool == "t") {
					t.Errorf("%s under %d: %v", tool, i, out.Verdict)
				}
			}
		})
	}
	group.Wait()
}

// Calls of which only one has a pinned definition share no binding, in either order.
func TestPinnedDefinitionsHaveTheirOwnBinding(t *testing.T) {
	row, err := schema.FromParameters([]schema.Parameter{{Name: "to", Type: []string{"path"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, list := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte(`version = 1
[tools.read]
policy.run = [{ arg = "/to", glob = "src/**", mode = "unattended" }, { mode = "deny" }]
`)}}, policy.Options{Root: "/srv", Known: func(call stopgate.Call) (eval.KnownTool, bool) {
		return eval.KnownTool{Name: "read", Parameters: row, Certain: call.Definition.Pinned}, true
	}})
	if list.HasErrors() {
		t.Fatal(list)
	}
	g, err := gate.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, pinned := range []bool{true, false, true} {
		out, _ := g.Decide(t.Context(), stopgate.Call{Tool: "read", Args: []byte(`{"to":"/srv/src/a"}`), Definition: &stopgate.ToolDefinition{
			Name: "read", Schema: []byte(`{"type":"object","properties":{"to":{"type":"string"}}}`), Pinned: pinned,
		}})
		if out.Allowed() != pinned {
			t.Errorf("pinned %t: %v", pinned, out.Verdict)
		}
	}
}
