package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// Proves I25, S2, K24, K38: what changes beside the rules of a tool is shown or said: tools
// that one file does not know, settings, schemas, and rules that do not fit a tool.
func TestDiffOfSettings(t *testing.T) {
	defined := policy.Options{Definitions: []stopgate.ToolDefinition{
		{Name: "t", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)},
	}}
	const known = "[tools.t.parameters]\nn = { type = \"integer\", required = true }\n[tools.t.policy]\nrun = [ { arg = \"/n\", const = 1, mode = \"unattended\" }, { mode = \"ask\" } ]\n"
	const beside = "[tools.t.policy]\nrun = [ { arg = \"/n\", const = 1, mode = \"unattended\" }, { mode = \"ask\" } ]\n"
	for _, test := range []struct {
		name, old, new string
		options        policy.Options
		want           string
	}{
		{"a tool that is new", "", known, policy.Options{},
			"t run deny->unattended loosened: - -> 0 {\"n\":1} tool unknown before\nt run deny->ask loosened: - -> 1 {\"n\":0} tool unknown before\ncomplete: true\n"},
		{"a tool that is gone", known, "", policy.Options{},
			"t run unattended->deny tightened: 0 -> - {\"n\":1} tool unknown now\nt run ask->deny tightened: 1 -> - {\"n\":0} tool unknown now\ncomplete: true\n"},
		{"a new tool where unknown ones are asked about", "[gate]\nunknown_tool = \"ask\"\n", "[gate]\nunknown_tool = \"ask\"\n" + known, policy.Options{},
			"t run ask->unattended loosened: -1 -> 0 {\"n\":1} \nopen: `t`: the parameters are declared differently\ncomplete: false\n"},
		{"what becomes of unknown tools", "", "[gate]\nunknown_tool = \"ask\"\n", policy.Options{},
			"x run deny->ask loosened: - -> - {} unknown tool\ncomplete: true\n"},
		{"what becomes of structured output", "[tools.\"*\".policy]\nrun = \"ask\"\n", "[gate]\nstructured_output = \"unattended\"\n[tools.\"*\".policy]\nrun = \"ask\"\n", policy.Options{},
			"final_result run ask->unattended loosened: - -> - {} structured output\ncomplete: true\n"},
		{"a tool that a server defines", beside, "[tools.t.policy]\nrun = [ { arg = \"/n\", const = 2, mode = \"unattended\" }, { mode = \"ask\" } ]\n", defined,
			"t run unattended->ask tightened: 0 -> 1 {\"n\":1} \nt run ask->unattended loosened: 1 -> 0 {\"n\":2} \ncomplete: true\n"},
		{"rules that do not fit it", beside, "[tools.t.policy]\nrun = [ { arg = \"/m\", const = 2, mode = \"unattended\" }, { mode = \"ask\" } ]\n", defined, ""},
		{"other parameters", known, "[tools.t.parameters]\nn = { type = \"integer\" }\n[tools.t.policy]\nrun = [ { arg = \"/n\", const = 1, mode = \"unattended\" }, { mode = \"ask\" } ]\n", policy.Options{},
			"open: `t`: the edit of parameters.n changes what rules that look at it see\ncomplete: false\n"},
		{"unknown parameters", known, "[tools.t]\nunknown_params = \"deny\"\n" + known, policy.Options{},
			"open: `t`: `unknown_params`, `uncovered` or `on_schema_violation` changes, which no pair of rules shows\ncomplete: false\n"},
		{"enforcement and paths", "[paths]\nroot = \"/a\"\n" + known, "[gate]\nenforcement = \"observe\"\n" + known, policy.Options{},
			"open: `gate.enforcement` changes from enforce to observe, which no pair of rules shows\nopen: `paths.root` changes from /a to unknown, which no pair of rules shows\ncomplete: false\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				if d, _, mistakes := diff.Files(policy.Source{Name: "old", Text: []byte("version = 1\n" + test.old)}, policy.Source{Name: "new", Text: []byte("version = 1\n" + test.new)}, test.options, nil); d != nil || !mistakes.HasErrors() {
					t.Errorf("%+v, %v", d, mistakes)
				}
				return
			}
			if diff := cmp.Diff(test.want, changes(t, "version = 1\n"+test.old, "version = 1\n"+test.new, test.options)); diff != "" {
				t.Error(diff)
			}
		})
	}
	one, _, _ := diff.Files(policy.Source{Name: "a", Text: []byte("version = 1\n" + known)}, policy.Source{Name: "b", Text: []byte("version = 1 # again\n" + known)}, policy.Options{}, nil)
	if !one.Same || !one.Complete || len(one.Changes) > 0 {
		t.Errorf("a policy and itself: %+v", one)
	}
}
