package gate_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves I15, S39: the file of an untrusted project, or of another one, satisfies no prerequisite
// of the operator: neither by a further name for a required tool, nor by its own reading of results.
func TestProjectsGiveNoFacts(t *testing.T) {
	operator := policy.Source{Name: "operator", Trusted: true, Text: []byte(`version = 1
[tools.test.policy]
run = "unattended"
[tools.noop.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "require"
before = "deploy"
requires = "test"
`)}
	alias := []byte("version = 1\n[tools.test]\nalso = [\"noop\"]\npolicy.run = \"unattended\"\n")
	success := []byte("version = 1\n[tools.test]\nsuccess = { pattern = \".\" }\npolicy.run = \"unattended\"\n")
	for name, c := range map[string]struct {
		project policy.Source
		tool    stopgate.ToolName
		data    string
		want    stopgate.Code
	}{
		"a further name":                       {policy.Source{Text: alias}, "noop", "done", stopgate.CodePrerequisiteMissing},
		"a further name, of another project":   {policy.Source{Text: alias, Trusted: true, Tightens: true, Root: "/other"}, "noop", "done", stopgate.CodePrerequisiteMissing},
		"a further name, of the operator":      {policy.Source{Text: alias, Trusted: true}, "noop", "done", stopgate.CodeRuleMatched},
		"a reading of results":                 {policy.Source{Text: success}, "test", "done", stopgate.CodePrerequisiteMissing},
		"a reading of results, the operator's": {policy.Source{Text: success, Trusted: true}, "test", "done", stopgate.CodeRuleMatched},
	} {
		c.project.Name = "project"
		program, mistakes := prove.Compile([]policy.Source{operator, c.project}, policy.Options{Root: "/here"})
		if mistakes.HasErrors() {
			t.Fatal(name, mistakes)
		}
		g, err := gate.New(program, gate.WithStore(mem.New()))
		if err != nil {
			t.Fatal(err)
		}
		out := decideIn(t, g, c.tool)
		if _, err := g.Observe(ctx, stopgate.Result{Proposal: out.Proposal, Session: "s", Tool: c.tool, Data: []byte(`"` + c.data + `"`), Observed: c.tool == "noop"}); err != nil {
			t.Fatal(name, err)
		}
		if out := decideIn(t, g, "deploy"); out.Verdict.Code != c.want {
			t.Errorf("%s: %s %s, want %s", name, out.Status, out.Verdict.Code, c.want)
		}
	}
}

func decideIn(t *testing.T, g *gate.Gate, tool stopgate.ToolName) stopgate.Outcome {
	t.Helper()
	out, err := g.Decide(ctx, stopgate.Call{Tool: tool, Session: "s", Args: []byte("{}")})
	var denied *gate.Denied
	if err != nil && !errors.As(err, &denied) {
		t.Fatal(err)
	}
	return out
}
