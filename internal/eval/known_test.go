package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/policy"
)

// A known tool types parameters that no file declares: guards see them by the tool's name
// alone, and permits use them only where the tool's identity is certain.
func TestKnownToolTypesParameters(t *testing.T) {
	row, err := schema.FromParameters([]schema.Parameter{{Name: "target", Type: []string{"path"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		certain bool
		args    string
		want    stopgate.Mode
	}{
		{false, `{"target":"a/.env"}`, stopgate.Deny},
		{false, `{"target":"src/../src/a"}`, stopgate.Deny}, // the glob has no path to look at,
		{true, `{"target":"a/.env"}`, stopgate.Deny},
		{true, `{"target":"src/../src/a"}`, stopgate.Unattended},
	} {
		p, list := policy.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(`
version = 1
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
[tools.read]
policy.run = [{ arg = "/target", glob = "src/**", mode = "unattended" }]
`)}}, policy.Options{Root: "/srv/app", Known: func(call stopgate.Call) (eval.KnownTool, bool) {
			return eval.KnownTool{Name: "read", Parameters: row, Certain: test.certain}, call.Tool == "read"
		}})
		if p == nil {
			t.Fatal(list)
		}
		e := p.Bind(stopgate.Call{Tool: "read", Definition: &stopgate.ToolDefinition{
			Name: "read", Schema: []byte(`{"type":"object","properties":{"target":{"type":"string"}}}`),
		}}).Evaluate()
		e.Feed([]byte(test.args))
		if v := e.Close(stopgate.Ended); v.Mode != test.want {
			t.Errorf("certain %t: %s: %v, want %v", test.certain, test.args, v.Mode, test.want)
		}
	}
}

// largeDefinition is a definition with a parameter target that is within the bounds of
// schemas, while anything laid over it is not.
func largeDefinition() []byte {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"target":{"type":"string"}},"anyOf":[{}` + strings.Repeat(",{}", 93) + `],"allOf":[`)
	for part := range 4 {
		fmt.Fprintf(&b, `%s{"properties":{"p%d":{}`, strings.Repeat(",", min(part, 1)), part)
		for i := range 2_473 {
			fmt.Fprintf(&b, `,"p%d_%d":{}`, part, i)
		}
		b.WriteString("}}")
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// Proves K25 at the bounds of schemas: a definition that the parameters of a known tool, or of
// a table for many tools, cannot be laid over because both together are too large is refused.
// The parameters were left out, and guards did not see the path.
func TestTypesThatDoNotFitAreRefused(t *testing.T) {
	row, err := schema.FromParameters([]schema.Parameter{{Name: "target", Type: []string{"path"}}})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := schema.ParseJSON(largeDefinition())
	if err != nil {
		t.Fatal(err)
	}
	fitting := schema.Fitting(base, row)
	if fitting == nil {
		t.Fatal("the parameter is left out")
	}
	if _, err := schema.Overlay(base, fitting); err == nil {
		t.Fatal("the definition is too small for this test")
	}
	const open = "version = 1\n[tools.read]\npolicy.run = \"unattended\"\n"
	for name, test := range map[string]struct {
		policy string
		known  bool
		want   stopgate.Code
	}{
		"neither":                {open, false, stopgate.CodeRuleMatched},
		"a known tool":           {open, true, stopgate.CodePolicyInvalidForSchema},
		"a table for many tools": {open + "[tools.\"*\".parameters]\ntarget = { type = \"path\" }\n", false, stopgate.CodePolicyInvalidForSchema},
	} {
		for _, certain := range []bool{false, true} {
			p, list := policy.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(test.policy)}}, policy.Options{
				Known: func(stopgate.Call) (eval.KnownTool, bool) {
					return eval.KnownTool{Name: "read", Parameters: row, Certain: certain}, test.known
				},
			})
			if p == nil {
				t.Fatal(list)
			}
			e := p.Bind(stopgate.Call{Tool: "read", Definition: &stopgate.ToolDefinition{Name: "read", Schema: largeDefinition()}}).Evaluate()
			e.Feed([]byte(`{"target":"a"}`))
			if v := e.Close(stopgate.Ended); v.Code != test.want || (v.Mode == stopgate.Unattended) != (test.want == stopgate.CodeRuleMatched) {
				t.Errorf("%s, certain %t: %v %s, want %s", name, certain, v.Mode, v.Code, test.want)
			}
		}
	}
}
