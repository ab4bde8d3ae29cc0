package gate_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves H12, TPS-18: a key that a table or the tool's own schema calls a path is compared
// as one, whoever of the tools it is declared for; `key_type = "value"` compares letters.
func TestH12KeysThatAreDeclaredPaths(t *testing.T) {
	const base = `version = 1
[tools.review.policy]
run = "unattended"
[tools.merge.policy]
run = "unattended"
[[session]]
type = "require"
before = "merge"
requires = "review"
key = "/file"
`
	const declared = "[tools.review.parameters.file]\ntype = \"path\"\n"
	path := &stopgate.ToolDefinition{Name: "t", Schema: []byte(`{"type":"object","properties":{"file":{"type":"string","format":"path"}}}`)}
	text := &stopgate.ToolDefinition{Name: "t", Schema: []byte(`{"type":"object","properties":{"file":{"type":"string"}}}`)}
	for _, c := range []struct {
		name       string
		file       string
		definition *stopgate.ToolDefinition
		merged     string
		allowed    bool
	}{
		{"declared for the prerequisite alone", base + declared, nil, "src//a.go", true},
		{"another file", base + declared, nil, "src/b.go", false},
		{"declared by the request", base, path, "src//a.go", true},
		{"declared a path nowhere", base, text, "src//a.go", false},
		{"the same letters", base, text, "src/./a.go", true},
		{"values are asked for", base + "key_type = \"value\"\n" + declared, nil, "src//a.go", false},
		{"values are asked for, with a declaration of the request", base + "key_type = \"value\"\n", path, "src//a.go", false},
		{"a path that can be read in two ways", base + declared, nil, `..\\a.go`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := fileGate(t, c.file, gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
			decide := func(tool stopgate.ToolName, file string, size int) stopgate.Outcome {
				args := `{"file":"` + file + `"}`
				p, err := g.Open(ctx, stopgate.Call{Tool: tool, Session: "s", Definition: c.definition})
				if err != nil {
					t.Fatal(err)
				}
				for at := 0; at < len(args); at += size {
					p.Feed([]byte(args[at:min(at+size, len(args))]))
				}
				p.Close(stopgate.Ended)
				out, err := p.Resolve(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			seen := decide("review", "src/./a.go", 100)
			if !seen.Allowed() {
				t.Fatal(seen.Verdict)
			}
			if _, err := g.Observe(ctx, stopgate.Result{Proposal: seen.Proposal, Session: "s", Tool: "review", Observed: true}); err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{1, 100} { // in pieces the key is asked about before the call is complete
				if out := decide("merge", c.merged, size); out.Allowed() != c.allowed {
					t.Errorf("in pieces of %d: %v, %s", size, out.Allowed(), strings.TrimSpace(out.Verdict.Public))
				}
			}
		})
	}
}
