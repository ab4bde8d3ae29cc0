package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// Proves D26-09, B1, B2, B3, B4, B5, B6, B7, B8, B9, P4, P5, P8, K3, K5, K12, M04, M05, M06, M07,
// M10: arguments of another shape than the author of a rule expected.
func TestThreatsB(t *testing.T) {
	asks := func(list ...string) string {
		return "version = 1\n[tools.fs_modify_file]\non_schema_violation = \"ask\"\n" + rules(list...)[len("version = 1\n"):]
	}
	paths := `arg = "/patterns/paths", prefix = "src/", mode = "unattended"`
	aliased := `version = 1
[tools.fs_modify_file.parameters.path]
type = "path"
aliases = ["file_path", "filepath"]
[tools.fs_modify_file.policy]
run = [ { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "ask" } ]
`
	byDefault := func(list string) string {
		return `version = 1
[tools.fs_modify_file.parameters.path]
type = "path"
default = ".env"
[tools.fs_modify_file.parameters.force]
type = "boolean"
default = true
[tools.fs_modify_file.policy]
run = [ ` + list + " ]\n"
	}
	judge(t, []judgement{
		{name: "B1 array for a string", policy: srcOnly, args: `{"path":["src/a",".env"]}`, want: "deny schema_violation", pointer: "/path"},
		{name: "B1 array for a string, asked", policy: asks(`arg = "/path", prefix = "src/", mode = "unattended"`, `mode = "ask"`),
			args: `{"path":["src/a"]}`, want: "ask rule_matched rule 1", upto: `{"path":[`},
		{name: "B1 a restriction sees every leaf", policy: asks(`arg = "/path", const = ".env", mode = "deny"`, `mode = "unattended"`),
			args: `{"path":["src/a",".env"]}`, want: "deny rule_matched rule 0", upto: `{"path":["src/a",".env"`, pointer: "/path/1"},
		{name: "B1 asked above a catch-all", policy: asks(`mode = "unattended"`), args: `{"path":["src/a"]}`, want: "ask schema_violation", pointer: "/path"},
		{name: "B2 object for a string", policy: srcOnly, args: `{"path":{"toString":"src/a"}}`, want: "deny schema_violation"},
		{name: "B2 a restriction sees below an object", policy: asks(`arg = "/path", const = ".env", mode = "deny"`, `mode = "unattended"`),
			args: `{"path":{"x":[1,{"y":".env"}]}}`, want: "deny rule_matched rule 0", upto: `{"path":{"x":[1,{"y":".env"`, pointer: "/path/x/1/y"},
		{name: "B2 null for a string", policy: srcOnly, args: `{"path":null}`, want: "deny schema_violation"},
		{name: "B3 absent optional", policy: rules(`arg = "/path", prefix = ".env", mode = "ask"`, `mode = "unattended"`), args: `{}`, want: "unattended rule_matched rule 1"},
		{name: "B3 absent required", policy: `version = 1
[tools.fs_modify_file.parameters.path]
type = "path"
required = true
[tools.fs_modify_file.policy]
run = "unattended"
`, args: `{}`, want: "deny schema_violation"},
		{name: "B4 empty array", policy: rules(paths, `mode = "ask"`), args: `{"patterns":[]}`, want: "ask rule_matched rule 1", upto: `{"patterns":[]`},
		{name: "B4 empty array inside", policy: rules(paths, `mode = "ask"`), args: `{"patterns":[{"paths":["src/a"]},{"paths":[]}]}`, want: "ask rule_matched rule 1",
			upto: `{"patterns":[{"paths":["src/a"]},{"paths":[]`},
		{name: "B5 element lacks the field", policy: rules(paths, `mode = "ask"`), args: `{"patterns":[{"paths":["src/a"]},{"old":"x"}]}`, want: "ask rule_matched rule 1",
			upto: `{"patterns":[{"paths":["src/a"]},{"old":"x"}`},
		{name: "B6 undeclared name", policy: rules(`mode = "unattended"`), args: `{"file_path":".env"}`, want: "ask unknown_parameter", upto: `{"file_path"`, pointer: "/file_path"},
		{name: "B6 undeclared name, denied", policy: "version = 1\n[gate]\nunknown_params = \"deny\"\n" + rules(`mode = "unattended"`)[len("version = 1\n"):],
			args: `{"file_path":".env"}`, want: "deny unknown_parameter", upto: `{"file_path"`},
		{name: "B6 undeclared name, allowed", policy: "version = 1\n[tools.fs_modify_file]\nunknown_params = \"allow\"\n" + rules(`mode = "unattended"`)[len("version = 1\n"):],
			args: `{"file_path":".env"}`, want: "unattended rule_matched rule 0", upto: nothing},
		{name: "B6 alias is bound", policy: aliased, args: `{"file_path":".env"}`, want: "ask rule_matched rule 1", upto: `{"file_path":".env"`},
		{name: "B6 alias is released as it was written", policy: aliased, args: `{"file_path":"src/a"}`, want: "unattended rule_matched rule 0",
			upto: `{"file_path":"src/a"`, release: `{"file_path":"src/a"}`, pointer: "/file_path"},
		{name: "B6 two aliases", policy: aliased, args: `{"file_path":"src/a","filepath":".env"}`, want: "deny ambiguous_key", upto: `{"file_path":"src/a","filepath"`},
		{name: "B6 alias and name", policy: aliased, args: `{"path":"src/a","filepath":".env"}`, want: "deny ambiguous_key", upto: `{"path":"src/a","filepath"`},
		{name: "B7 undeclared root", policy: srcOnly, args: `{"path":"src/a","root":"/etc"}`, want: "ask unknown_parameter", upto: `{"path":"src/a","root"`},
		{name: "B7 declared: constrained together", policy: rules(
			`all = [{ arg = "/path", prefix = "src/" }, { arg = "/mode", const = "0644" }], mode = "unattended"`, `mode = "ask"`),
			args: `{"path":"src/a","mode":"0777"}`, want: "ask rule_matched rule 1", upto: `{"path":"src/a","mode":"07`},
		{name: "B8 JSON in a string is text", policy: rules(`arg = "/content", pattern = "\\.env", mode = "deny"`, `mode = "unattended"`),
			args: `{"content":"{\"path\":\".env\"}"}`, want: "deny rule_matched rule 0", upto: `{"content":"{\"path\":\".env`},
		{name: "B9 default restricts", policy: byDefault(`{ arg = "/path", const = ".env", mode = "deny" }, { mode = "unattended" }`),
			args: `{}`, want: "deny rule_matched rule 0"},
		{name: "B9 default does not permit", policy: byDefault(`{ arg = "/path", const = ".env", mode = "unattended" }, { mode = "ask" }`),
			args: `{}`, want: "ask rule_matched rule 1"},
		{name: "B9 default of a guard's type", policy: byDefault(`{ mode = "unattended" }`) + "[[guard]]\non = \"path\"\nglob = \"**/.env*\"\nmode = \"deny\"\n",
			args: `{}`, want: "deny rule_matched rule 0"},
		{name: "K5 a default is present where it restricts", policy: byDefault(`{ arg = "/force", present = true, mode = "deny" }, { mode = "unattended" }`),
			args: `{"path":"a"}`, want: "deny rule_matched rule 0"},
		{name: "K5 a default is absent where it restricts", policy: byDefault(`{ arg = "/force", present = false, mode = "deny" }, { mode = "unattended" }`),
			args: `{"path":"a"}`, want: "deny rule_matched rule 0"},
		{name: "K5 present", policy: rules(`arg = "/n", present = true, mode = "unattended"`, `mode = "ask"`), args: `{"n":1}`, want: "unattended rule_matched rule 0"},
		{name: "K5 absent", policy: rules(`arg = "/n", present = false, mode = "unattended"`, `mode = "ask"`), args: `{"path":"a"}`, want: "unattended rule_matched rule 0"},
		{name: "K5 an empty array is no grant", policy: rules(`arg = "/patterns/paths", present = false, mode = "unattended"`, `mode = "ask"`),
			args: `{"patterns":[{"paths":[]}]}`, want: "ask rule_matched rule 1", upto: `{"patterns":[{"paths":[]`},
	})
}

// Proves K5: a permissive present = false on a parameter with a default can never hold, even if
// check did not reject it.
func TestK5DefaultIsNotAbsent(t *testing.T) {
	b := compile(t, "version = 1\n[tools.t.policy]\nrun = [ { arg = \"/force\", present = false, mode = \"unattended\" }, { mode = \"ask\" } ]\n").
		Bind(stopgate.Call{Tool: "t", Definition: &stopgate.ToolDefinition{
			Name: "t", Schema: []byte(`{"type":"object","properties":{"force":{"type":"boolean","default":true}}}`),
		}})
	if v := final(t, b, `{}`); brief(v) != "ask rule_matched rule 1" {
		t.Fatal(spell(v))
	}
}

// Proves B10, D25-42, D25-43, K32: result rules evaluate the arguments that ran, and without any
// the result is delivered.
func TestB10ResultRules(t *testing.T) {
	const text = `version = 1
[tools.t.parameters.path]
type = "path"
[tools.t.policy]
run = "unattended"
result = [ { arg = "/path", const = ".env", mode = "skip" }, { arg = "/path", prefix = "src/", mode = "unattended" } ]
[tools.other.policy]
run = "unattended"
`
	p := compile(t, text)
	for _, c := range []struct{ tool, args, want string }{
		{"t", `{"path":"src/a"}`, "unattended rule_matched rule 1"},
		{"t", `{"path":".env"}`, "skip rule_skipped rule 0"},
		{"t", `{"path":"lib/a"}`, "ask no_rule_matched"},
		{"other", `{"path":".env"}`, "unattended "},
		{"stranger", `{}`, "deny policy_not_configured"},
	} {
		b := p.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool)})
		e := b.Evaluate()
		e.Feed([]byte(c.args))
		e.Close(stopgate.Ended)
		if got := brief(b.ResultMode(e.Document())); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.args, got, c.want)
		}
	}
	b := p.Bind(stopgate.Call{Tool: "t"})
	if v := b.ResultMode(b.Evaluate().Document()); v.Mode != stopgate.Deny {
		t.Errorf("arguments that were not accepted: %s", spell(v))
	}
}
