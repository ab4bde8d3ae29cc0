package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/schema"
)

// A known tool types parameters that no file declares: guards use the types by the tool's name
// alone, permits only if the tool's identity is certain.
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
		{false, `{"target":"src/../src/a"}`, stopgate.Deny}, // the glob has no path
		{true, `{"target":"a/.env"}`, stopgate.Deny},
		{true, `{"target":"src/../src/a"}`, stopgate.Unattended},
	} {
		p, list := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(`
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
