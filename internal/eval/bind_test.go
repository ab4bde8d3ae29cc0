package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves D25-01, D25-02, D25-04, D25-06, K0b, K15, S2, S39, G1, G2: which table decides about a
// tool, and that a tool without a table does not run.
func TestLookup(t *testing.T) {
	p := layers(t, condition.Env{}, `
[tools."*".policy]
run = "edit"
[tools."fs_*".policy]
run = "ask"
[tools."fs_read_*".policy]
run = "unattended"
[tools.fs_read_secret]
also = ["SecretReader"]
run = "skip"
[tools.fs_plain.parameters.x]
type = "string"
`)
	defined := &stopgate.ToolDefinition{Name: "other"}
	for _, c := range []struct {
		tool       string
		definition *stopgate.ToolDefinition
		want       string
	}{
		{"fs_read_secret", nil, "skip rule_skipped rule 0"},
		{"SecretReader", nil, "skip rule_skipped rule 0"},
		{"fs_read_file", nil, "unattended rule_matched rule 0"},
		{"fs_write", nil, "ask rule_matched rule 0"},
		{"fs_plain", nil, "ask rule_matched rule 0"}, // a table without rules uses those of the next one
		{"other", nil, "deny policy_not_configured"},
		{"other", defined, "edit rule_matched rule 0"},
		{"Fs_read_file", nil, "deny policy_not_configured"},
		{"re\u0430d", defined, "deny policy_not_configured"},
		{"fs_read_file ", defined, "deny policy_not_configured"},
		{"", defined, "deny policy_not_configured"},
	} {
		b := p.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool), Definition: c.definition})
		if v := b.Evaluate().Verdict(); brief(v) != c.want || v.DecidedAt != 0 {
			t.Errorf("%q: %s, want %s", c.tool, spell(v), c.want)
		}
	}
	e := p.Bind(stopgate.Call{Tool: "re\u0430d"}).Evaluate()
	if e.Cause() != "name" {
		t.Errorf("cause %q of a confusable name", e.Cause())
	}
	if v := e.Feed([]byte(`{garbage`)); brief(v) != "deny policy_not_configured" {
		t.Errorf("K15: %s", spell(v))
	}
}

// Proves K15: calls of an unknown tool are asked about only if every operator who set [gate]
// configures that; their arguments are evaluated all the same.
func TestUnknownToolAsk(t *testing.T) {
	const ask = "[gate]\nunknown_tool = \"ask\"\n"
	guard := "[[guard]]\non = \"string\"\npattern = \"AKIA\"\nmode = \"deny\"\n"
	for _, c := range []struct {
		name  string
		files []string
		args  string
		want  string
	}{
		{"one operator", []string{ask}, `{}`, "ask policy_not_configured"},
		{"broken text", []string{ask}, `{`, "deny truncated_arguments"},
		{"a guard objects", []string{ask + guard}, `{"x":["AKIA123"]}`, "deny rule_matched rule 0"},
		{"two operators disagree", []string{ask, "[gate]\nunknown_tool = \"deny\"\n"}, `{}`, "deny policy_not_configured"},
		{"the second has no table gate", []string{ask, guard}, `{}`, "ask policy_not_configured"},
		{"nobody wrote one", []string{guard}, `{}`, "deny policy_not_configured"},
		{"a project tightens", []string{ask, "project\n[gate]\nunknown_tool = \"deny\"\n"}, `{}`, "deny policy_not_configured"},
		{"a project says nothing of it", []string{ask, "project\n[gate]\nstrict = true\n"}, `{}`, "ask policy_not_configured"},
		{"a project loosens", []string{guard, "project\n[gate]\nunknown_tool = \"ask\"\n"}, `{}`, "deny policy_not_configured"},
		{"a project knows it", []string{ask, "project\n[tools.t.policy]\nrun = \"unattended\"\n"}, `{}`, "ask rule_matched rule 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := layers(t, condition.Env{}, c.files...).Bind(stopgate.Call{Tool: "t"})
			if v := final(t, b, c.args); brief(v) != c.want {
				t.Fatalf("%s, want %s", spell(v), c.want)
			}
		})
	}
}

// Proves K35, S2, S3, D25-50, I15, M39: every file is evaluated separately, the strictest verdict
// wins, a file without a table abstains, and a project's file alone permits nothing.
func TestLayers(t *testing.T) {
	table := func(mode string) string { return "[tools.t.policy]\nrun = \"" + mode + "\"\n" }
	const star = "[tools.\"*\".policy]\nrun = \"unattended\"\n"
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"the stricter operator", []string{table("unattended"), table("ask")}, "ask rule_matched rule 0"},
		{"a project tightens", []string{table("unattended"), "project\n" + table("deny")}, "deny rule_matched rule 0"},
		{"a project does not loosen", []string{table("ask"), "project\n" + table("unattended")}, "ask rule_matched rule 0"},
		{"both permit", []string{table("unattended"), "project\n" + table("unattended")}, "unattended rule_matched rule 0"},
		{"a project that does not name the tool abstains", []string{table("unattended"), "project\n[tools.deploy.policy]\nrun = \"deny\"\n"}, "unattended rule_matched rule 0"},
		{"a file of guards abstains", []string{table("unattended"), "project\n[[guard]]\narg = \"/x\"\nconst = 1\nmode = \"deny\"\n"}, "unattended rule_matched rule 0"},
		{"a project alone", []string{"project\n" + table("unattended")}, "ask rule_matched rule 0"},
		{"a project alone for this tool", []string{"[tools.other.policy]\nrun = \"unattended\"\n", "project\n" + table("unattended")}, "ask rule_matched rule 0"},
		{"a project makes a tool known to a table of all", []string{star, "project\n" + table("unattended")}, "ask rule_matched rule 0"},
		{"a project names it and says nothing", []string{star, "project\n[tools.t]\nparameters.x = { type = \"path\" }\n"}, "ask no_rule_matched"},
		{"a table of all alone", []string{star}, "deny policy_not_configured"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := layers(t, condition.Env{}, c.files...).Bind(stopgate.Call{Tool: "t"})
			if v := final(t, b, `{}`); brief(v) != c.want {
				t.Fatalf("%s, want %s", spell(v), c.want)
			}
		})
	}
}

// Proves K0a, K57, S30: guards apply to every tool in addition to its own list, also those on a
// type, and are named before the rules.
func TestGuards(t *testing.T) {
	p := layers(t, condition.Env{Root: "/srv/proj"}, `
[tools.copy.parameters]
from = { type = "path" }
to = { type = "path" }
n = { type = "integer" }
note = { type = "string" }
many = { type = "array", items = { type = "object", properties = { at = { type = "path" } } } }
[tools.copy.policy]
run = "unattended"
[tools.asks.parameters]
from = { type = "path" }
[tools.asks.policy]
run = "ask"
[tools.free.policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
[[guard]]
on = "string"
pattern = "AKIA[0-9A-Z]{4}"
mode = "skip"
[[guard]]
arg = "/n"
minimum = 10
mode = "ask"
`)
	for _, c := range []struct{ tool, args, want, pointer string }{
		{"copy", `{"from":"a","to":"b","n":1}`, "unattended rule_matched rule 0", ""},
		{"copy", `{"from":"a","to":"x/.env.local"}`, "deny rule_matched rule 0", "/to"},
		{"copy", `{"many":[{"at":"a"},{"at":".env"}]}`, "deny rule_matched rule 0", "/many/1/at"},
		{"copy", `{"note":"key AKIAIOSF"}`, "skip rule_skipped rule 1", "/note"},
		{"copy", `{"from":"AKIAIOSF"}`, "unattended rule_matched rule 0", ""}, // a path is not a string
		{"copy", `{"n":10}`, "ask rule_matched rule 2", "/n"},
		{"asks", `{"from":".env"}`, "deny rule_matched rule 0", "/from"},
		{"asks", `{"from":"a"}`, "ask rule_matched rule 0", ""},
		{"free", `{"any":{"thing":["AKIAIOSF"]}}`, "skip rule_skipped rule 1", "/any/thing/0"},
		{"free", `{"path":".env"}`, "deny rule_matched rule 0", "/path"}, // it may be a path
	} {
		v := final(t, p.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool)}), c.args)
		if brief(v) != c.want || c.pointer != "" && v.Pointer != c.pointer {
			t.Errorf("%s %s: %s at %s, want %s at %s", c.tool, c.args, spell(v), v.Pointer, c.want, c.pointer)
		}
		if v.Mode == stopgate.Deny && v.Public != "secrets stay out of reach" {
			t.Errorf("%s %s says %q", c.tool, c.args, v.Public)
		}
	}
}

// Proves K0c, K60: conditions on the call itself are resolved before its arguments arrive.
func TestWhen(t *testing.T) {
	p := layers(t, condition.Env{}, `
[tools.t.policy]
run = [
  { when = { agent = "triage" }, mode = "deny" },
  { when = { surface = ["mcp", "hook"], server = "git*" }, mode = "skip" },
  { mode = "unattended" },
]
[[guard]]
when = { principal = "guest-*" }
mode = "ask"
`)
	for _, c := range []struct {
		call stopgate.Call
		want string
	}{
		{stopgate.Call{}, "unattended rule_matched rule 2"},
		{stopgate.Call{Agent: "triage"}, "deny rule_matched rule 0"},
		{stopgate.Call{Surface: stopgate.SurfaceMCP, Server: "github"}, "skip rule_skipped rule 1"},
		{stopgate.Call{Surface: stopgate.SurfaceMCP, Server: "files"}, "unattended rule_matched rule 2"},
		{stopgate.Call{Principal: "guest-7"}, "ask rule_matched rule 0"},
	} {
		c.call.Tool = "t"
		if v := final(t, p.Bind(c.call), `{}`); brief(v) != c.want {
			t.Errorf("%+v: %s, want %s", c.call, spell(v), c.want)
		}
	}
}

// Proves K0c: no glob of a permissive rule matches a fact that the call lacks, and every glob for any
// text does so in a restrictive one.
func TestWhenOfAbsentFacts(t *testing.T) {
	for _, fact := range []string{"agent", "surface", "server", "principal"} {
		for _, c := range []struct {
			globs, mode string
			with, sole  bool // whether the rule holds with the fact and without it
		}{
			{`"*"`, "unattended", true, false},
			{`["mcp", "*"]`, "unattended", true, false},
			{`"{,h*}"`, "unattended", true, false},
			{`"h*"`, "unattended", true, false},
			{`"*"`, "deny", true, true},
			{`"*"`, "skip", true, true},
			{`"h*"`, "deny", true, false},
			{`"?*"`, "deny", true, false},
		} {
			p := layers(t, condition.Env{}, "[tools.t.policy]\nrun = [ { when = { "+fact+" = "+c.globs+" }, mode = \""+c.mode+"\" }, { mode = \"ask\" } ]\n")
			holds := func(call stopgate.Call) bool {
				call.Tool = "t"
				return final(t, p.Bind(call), `{}`).Mode != stopgate.Ask
			}
			if with, sole := holds(stopgate.Call{Agent: "hook", Surface: "hook", Server: "hook", Principal: "hook"}), holds(stopgate.Call{}); with != c.with || sole != c.sole {
				t.Errorf("%s = %s, %s: holds %v with it, %v without", fact, c.globs, c.mode, with, sole)
			}
		}
	}
}

// Proves D25-47, Q5, Q16, K25, D25-44: rules and a schema that comes with the call. A tool's own
// rule that does not fit it denies the tool; a rule for many tools is skipped for a tool that lacks
// its parameter.
func TestSchemaArrives(t *testing.T) {
	const star = "[tools.\"*\".policy]\nrun = [ { arg = \"/path\", const = \".env\", mode = \"deny\" }, { mode = \"unattended\" } ]\n"
	const own = "[tools.t.policy]\nrun = [ { arg = \"/path\", const = \".env\", mode = \"deny\" }, { mode = \"unattended\" } ]\n"
	const typed = "[tools.t.parameters.path]\ntype = \"path\"\n" + own
	object := func(properties string) string { return `{"type":"object","properties":{` + properties + `}}` }
	for _, c := range []struct{ name, file, schema, args, want string }{
		{"own rule fits", own, object(`"path":{"type":"string"}`), `{"path":".env"}`, "deny rule_matched rule 0"},
		{"own rule lacks its parameter", own, object(`"file":{"type":"string"}`), `{"file":"a"}`, "deny policy_invalid_for_schema"},
		{"own rule meets another type", own, object(`"path":{"type":"integer"}`), `{"path":1}`, "deny policy_invalid_for_schema"},
		{"no schema: the rule stays", own, ``, `{"path":".env"}`, "deny rule_matched rule 0"},
		{"rule of * lacks its parameter", star, object(`"file":{"type":"string"}`), `{"file":".env"}`, "ask parameter_not_covered"},
		{"rule of * fits", star, object(`"path":{"type":"string"}`), `{"path":".env"}`, "deny rule_matched rule 0"},
		{"the file makes it a path", typed, object(`"path":{"type":"string"}`), `{"path":"src/../.env"}`, "deny rule_matched rule 0"},
		{"the file contradicts", typed, object(`"path":{"type":"integer"}`), `{"path":1}`, "deny policy_invalid_for_schema"},
		{"the file adds a parameter", typed, object(`"file":{"type":"string"}`), `{"file":"a"}`, "deny policy_invalid_for_schema"},
		{"the schema is no schema", own, `{"type":`, `{}`, "deny policy_invalid_for_schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := layers(t, condition.Env{}, c.file).Bind(stopgate.Call{
				Tool: "t", Definition: &stopgate.ToolDefinition{Name: "t", Schema: []byte(c.schema)},
			})
			if v := final(t, b, c.args); brief(v) != c.want {
				t.Fatalf("%s, want %s", spell(v), c.want)
			}
			if (b.Definition() != "") != (c.schema != "" && c.schema != `{"type":`) {
				t.Errorf("hash of the definition: %q", b.Definition())
			}
		})
	}
}

// Proves K22, K23, Q1: pointers cross arrays with or without "*", follow the value if no schema is
// known, and reach every branch of an alternative.
func TestPointers(t *testing.T) {
	for _, c := range []struct{ name, arg, schema, args, want string }{
		{"implicit array", "/a/b", `{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}}}`, `{"a":[{"b":"x"}]}`, "/a/0/b"},
		{"explicit array", "/a/*/b", `{"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}}}`, `{"a":[{},{"b":"x"}]}`, "/a/1/b"},
		{"unknown: by key", "/a/b", ``, `{"a":{"b":"x"}}`, "/a/b"},
		{"unknown: arrays flattened", "/a/b", ``, `{"a":[[{"b":["x"]}]]}`, "/a/0/0/b/0"},
		{"unknown: * over arrays only", "/a/*/b", ``, `{"a":{"y":{"b":"x"}}}`, ""},
		{"unknown: * over an array", "/a/*/b", ``, `{"a":[{"b":"x"}]}`, "/a/0/b"},
		{"a key called *", "/a/*", `{"properties":{"a":{"type":"object","properties":{"*":{"type":"string"}}}}}`, `{"a":{"*":"x"}}`, "/a/*"},
		{"either", "/a", `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`, `{"a":["y","x"]}`, "/a/1"},
		{"reference", "/a/a/a/b", `{"$defs":{"n":{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"type":"string"}}}},"properties":{"a":{"$ref":"#/$defs/n"}}}`,
			`{"a":{"a":{"a":{"b":"x"}}}}`, "/a/a/a/b"},
		{"escaped tokens", "/a~1b/c~0d", ``, `{"a/b":{"c~d":"x"}}`, "/a~1b/c~0d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := layers(t, condition.Env{}, "[tools.t.policy]\nrun = [ { arg = \""+c.arg+"\", const = \"x\", mode = \"deny\" }, { mode = \"ask\" } ]\n")
			call := stopgate.Call{Tool: "t"}
			if c.schema != "" {
				call.Definition = &stopgate.ToolDefinition{Schema: []byte(c.schema)}
			}
			v := final(t, p.Bind(call), c.args)
			if (c.want != "") != (v.Mode == stopgate.Deny) || v.Pointer != c.want {
				t.Fatalf("%s at %q, want %q", spell(v), v.Pointer, c.want)
			}
		})
	}
}

// Proves H12: which pointers are paths in the schema of a call, for the keys of session policies.
func TestBindingIsPath(t *testing.T) {
	p := layers(t, condition.Env{}, `
[tools.edit.parameters.file]
type = "path"
[tools.edit.parameters.all]
type = "array"
items = { type = "path" }
[tools.edit.parameters.text]
type = "string"
[tools.edit.policy]
run = "ask"
`)
	for _, tool := range []stopgate.ToolName{"edit", "unknown"} {
		b := p.Bind(stopgate.Call{Tool: tool})
		for range 2 { // uncached, and cached
			for pointer, want := range map[string]bool{"/file": true, "/all": true, "/all/*": true, "/text": false, "/none": false} {
				at, err := jsonstream.ParsePointer(pointer)
				if err != nil {
					t.Fatal(err)
				}
				if got := b.IsPath(at); got != (want && tool == "edit") {
					t.Errorf("%s of %s: %v", pointer, tool, got)
				}
			}
		}
	}
}

// Proves K24, K35: if two files treat an undeclared parameter differently the stricter setting
// applies, in any order of the files.
func TestUnknownParametersOfTwoFiles(t *testing.T) {
	tool := func(unknown string) string {
		return "[gate]\nunknown_params = \"" + unknown + "\"\n[tools.t]\nparameters.a = { type = \"string\" }\npolicy.run = \"unattended\"\n"
	}
	for _, c := range []struct{ first, second, want string }{
		{"ask", "deny", "deny unknown_parameter"}, {"deny", "ask", "deny unknown_parameter"},
		{"ask", "ask", "ask unknown_parameter"}, {"allow", "ask", "ask unknown_parameter"}, {"allow", "deny", "deny unknown_parameter"},
	} {
		e := layers(t, condition.Env{}, tool(c.first), tool(c.second)).Bind(stopgate.Call{Tool: "t"}).Evaluate()
		e.Feed([]byte(`{"a":"x","b":1}`))
		if v := e.Close(stopgate.Ended); brief(v) != c.want {
			t.Errorf("%s, then %s: %s, want %s", c.first, c.second, brief(v), c.want)
		}
	}
}

// A restrictive rule for many tools applies to a parameter that the tool does not have, if
// unknown_params allows a call to have it.
func TestRulesSeeUndeclaredParameters(t *testing.T) {
	policy := func(params, guard string) string {
		return `version = 1
[[guard]]
` + guard + `
[tools.move]
unknown_params = "` + params + `"
[tools.move.parameters]
from = { type = "path" }
[tools.move.policy]
run = "unattended"
[tools."save*"]
unknown_params = "` + params + `"
[tools."save*".parameters]
from = { type = "path" }
[tools."save*".policy]
run = [{ arg = "/to/name", prefix = "secret", mode = "deny" }, { arg = "/from", prefix = "src", mode = "unattended" }]
`
	}
	const deny = `arg = "/to"
glob = "**/.env"
mode = "deny"
reason = "not there"`
	for _, c := range []struct{ policy, tool, args, want string }{
		{policy("allow", deny), "move", `{"from":"a","to":"b/.env"}`, "deny rule_matched rule 0"},
		{policy("allow", deny), "move", `{"from":"a","to":["b","b/.env"]}`, "deny rule_matched rule 0"},
		{policy("allow", deny), "move", `{"from":"a","to":"b/c"}`, "unattended rule_matched rule 0"},
		{policy("allow", deny), "move", `{"from":"a"}`, "unattended rule_matched rule 0"},
		{policy("ask", deny), "move", `{"from":"a","to":"b/.env"}`, "ask unknown_parameter"},
		{policy("deny", deny), "move", `{"from":"a","to":"b/.env"}`, "deny unknown_parameter"},
		{policy("allow", "arg = \"/to\"\npresent = true\nmode = \"deny\""), "move", `{"from":"a","to":null}`, "deny rule_matched rule 0"},
		{policy("allow", "arg = \"/to\"\npresent = true\nmode = \"deny\""), "move", `{"from":"a"}`, "unattended rule_matched rule 0"},
		{policy("allow", "arg = \"/to\"\npresent = false\nmode = \"deny\""), "move", `{"from":"a"}`, "unattended rule_matched rule 0"},
		{policy("allow", deny), "save_all", `{"from":"src/a","to":{"name":"secrets"}}`, "deny rule_matched rule 0"},
		{policy("allow", deny), "save_all", `{"from":"src/a","to":{"name":"x"}}`, "unattended rule_matched rule 1"},
	} {
		e := compile(t, c.policy).Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool)}).Evaluate()
		e.Feed([]byte(c.args))
		if got := brief(e.Close(stopgate.Ended)); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, got, c.want)
		}
	}
}

// A file that was built without a table of conditions denies every call, whatever its rules and those
// of the other files permit.
func TestFileWithoutConditions(t *testing.T) {
	of := func(conditions *condition.Table) *eval.Layer {
		return &eval.Layer{Trusted: true, File: &syntax.File{
			Name: "built", Conditions: conditions,
			Tools: []*syntax.ToolTable{{Name: "t", Run: &syntax.RuleList{Rules: []*syntax.Rule{{Mode: stopgate.Unattended}}}}},
		}}
	}
	for name, layers := range map[string][]*eval.Layer{
		"the only file":   {of(nil)},
		"the first file":  {of(nil), of(kinds.Table())},
		"the second file": {of(kinds.Table()), of(nil)},
	} {
		e := eval.New(layers, stopgate.Ask).Bind(stopgate.Call{Tool: "t"}).Evaluate()
		e.Feed([]byte(`{}`))
		if v := e.Close(stopgate.Ended); v.Mode != stopgate.Deny || v.Code != stopgate.CodePolicyError {
			t.Errorf("%s: got %v %v", name, v.Mode, v.Code)
		}
	}
}
