package traces_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// The generated policies, and the calls for each.
const (
	policies = 400
	calls    = 50
)

// Every generated call is decided as it was when the golden file was written: a policy
// decides fifty calls of ten sessions; there is nobody to ask, somebody who approves, or
// somebody who declines.
func TestGenerated(t *testing.T) {
	const golden = "testdata/generated.jsonl.gz"
	var out bytes.Buffer
	for i := range policies {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		c := gen.Draw(r)
		var sources []policy.Source
		for _, f := range c.Files {
			sources = append(sources, policy.Source{Name: f.Name, Text: []byte(f.Text), Trusted: f.Trusted})
		}
		// Generated rules may be dead, which is a mistake in a file of a person.
		o := policy.Options{Root: gen.Root, Home: gen.Home, Checked: func(policy.Source) bool { return true }}
		g := newTracer(t, sources, o, []ports.Approver{nil, ports.Yes, ports.No}[i%3])
		call := stopgate.Call{Tool: gen.Tool}
		if c.Defined {
			call.Definition = &stopgate.ToolDefinition{Name: gen.Tool, Schema: []byte(c.Definition)}
		}
		for n := range calls {
			call.Session = stopgate.SessionID(fmt.Sprint(n / 5))
			fmt.Fprintf(&out, "%d.%d %s\n", i, n, g.call(t, call, c.Document(r)))
		}
	}
	if *update {
		if err := os.WriteFile(golden, pack(t, out.Bytes()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	compare(t, out.String(), unpack(t, golden))
}
