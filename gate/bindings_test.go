package gate_test

import (
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
)

// Proves I13: gates that share bindings decide as gates that share nothing, each by its own
// program, at once too.
func TestSharedBindings(t *testing.T) {
	program := func(mode string) *policy.Program {
		p, list := policy.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte("version = 1\n[tools.t]\npolicy.run = \"" + mode + "\"\n")}}, policy.Options{})
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
