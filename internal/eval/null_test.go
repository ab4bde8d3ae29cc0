package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

// nullable is a definition with optional parameters as pydantic and FastMCP describe them.
const nullable = `{"type":"object","properties":{"query":{"type":"string"},
	"limit":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},
	"path":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},
	"tags":{"type":"array","items":{"type":["string","null"]}},
	"force":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":true}},"required":["query"]}`

// Rules that name null match null and a null default; for all others null is no value.
func TestNull(t *testing.T) {
	named := `version = 1
gate.uncovered = "allow"
[tools.fs_modify_file.policy]
run = [
  { arg = "/limit", const = { null = true }, mode = "unattended" },
  { arg = "/limit", enum = [5, { null = true }], mode = "unattended" },
  { mode = "ask" },
]
`
	one := func(rule string) string {
		return "version = 1\ngate.uncovered = \"allow\"\n[tools.fs_modify_file.policy]\nrun = [\n  { " + rule + " },\n  { mode = \"ask\" },\n]\n"
	}
	judge(t, []judgement{
		{name: "null", policy: named, definition: nullable, args: `{"query":"a","limit":null}`, want: "unattended rule_matched rule 0", upto: `{"query":"a","limit":null}`, pointer: "/limit"},
		{name: "null by default", policy: named, definition: nullable, args: `{"query":"a"}`, want: "unattended rule_matched rule 0"},
		{name: "a value beside null", policy: named, definition: nullable, args: `{"query":"a","limit":5}`, want: "unattended rule_matched rule 1"},
		{name: "another value", policy: named, definition: nullable, args: `{"query":"a","limit":6}`, want: "ask rule_matched rule 2"},
		{name: "another default", policy: one(`arg = "/force", const = { null = true }, mode = "unattended"`), definition: nullable, args: `{"query":"a"}`, want: "ask rule_matched rule 1"},
		{name: "no default", policy: one(`arg = "/query", const = { null = true }, mode = "unattended"`), args: `{}`, want: "ask rule_matched rule 1"},
		{name: "no rule names it", policy: one(`arg = "/limit", maximum = 10, mode = "unattended"`), definition: nullable, args: `{"query":"a","limit":null}`, want: "ask rule_matched rule 1"},
		{name: "elements", policy: one(`arg = "/tags", enum = ["a", { null = true }], mode = "unattended"`), definition: nullable, args: `{"query":"a","tags":["a",null]}`, want: "unattended rule_matched rule 0", upto: `{"query":"a","tags":["a",null]`},
		{name: "an empty array is no null", policy: one(`arg = "/tags", enum = ["a", { null = true }], mode = "unattended"`), definition: nullable, args: `{"query":"a","tags":[]}`, want: "ask rule_matched rule 1", upto: `{"query":"a","tags":[]`},
		{name: "a restriction", policy: one(`arg = "/path", const = { null = true }, mode = "deny"`), definition: nullable, args: `{"query":"a","path":null}`, want: "deny rule_matched rule 0"},
		{name: "a restriction on a default", policy: one(`arg = "/path", const = { null = true }, mode = "deny"`), definition: nullable, args: `{"query":"a"}`, want: "deny rule_matched rule 0"},
		{name: "null where the schema has none", policy: one(`arg = "/query", const = { null = true }, mode = "unattended"`), definition: nullable, args: `{"query":null}`, want: "deny schema_violation"},
	})
}

// present = "value" holds for a value that is present and not null, in permissive and restrictive
// rules: null, an absent parameter and a null default are no value. Another default is one for a
// restrictive rule (K5), and so is an empty array.
func TestPresentValue(t *testing.T) {
	rule := func(pointer, mode string) string {
		return "version = 1\ngate.uncovered = \"allow\"\n[tools.fs_modify_file.policy]\nrun = [\n  { arg = \"" + pointer + "\", present = \"value\", mode = \"" + mode + "\" },\n  { mode = \"ask\" },\n]\n"
	}
	permit := func(pointer string) string { return rule(pointer, "unattended") }
	restrict := func(pointer string) string { return rule(pointer, "deny") }
	const yes, no, never = "unattended rule_matched rule 0", "ask rule_matched rule 1", "deny rule_matched rule 0"
	judge(t, []judgement{
		{name: "permits a value", policy: permit("/limit"), definition: nullable, args: `{"query":"a","limit":5}`, want: yes, upto: `{"query":"a","limit":5}`},
		{name: "permits no null", policy: permit("/limit"), definition: nullable, args: `{"query":"a","limit":null}`, want: no},
		{name: "permits no default", policy: permit("/force"), definition: nullable, args: `{"query":"a"}`, want: no},
		{name: "restricts a value", policy: restrict("/path"), definition: nullable, args: `{"query":"a","path":"b"}`, want: never, upto: `{"query":"a","path":"`},
		{name: "restricts no null", policy: restrict("/path"), definition: nullable, args: `{"query":"a","path":null}`, want: no},
		{name: "restricts no default of null", policy: restrict("/path"), definition: nullable, args: `{"query":"a"}`, want: no},
		{name: "restricts another default", policy: restrict("/force"), definition: nullable, args: `{"query":"a"}`, want: never},
		{name: "restricts what is written over a default", policy: restrict("/force"), definition: nullable, args: `{"query":"a","force":null}`, want: no},
		{name: "restricts one element", policy: restrict("/tags"), definition: nullable, args: `{"query":"a","tags":[null,"b"]}`, want: never, upto: `{"query":"a","tags":[null,"`},
		{name: "restricts no element that is null", policy: restrict("/tags"), definition: nullable, args: `{"query":"a","tags":[null]}`, want: no, upto: `{"query":"a","tags":[null]`},
		{name: "restricts an empty array", policy: restrict("/tags"), definition: nullable, args: `{"query":"a","tags":[]}`, want: never, upto: `{"query":"a","tags":[]`},
		{name: "restricts nothing absent", policy: restrict("/tags"), definition: nullable, args: `{"query":"a"}`, want: no},
	})
}

// on_schema_violation of one file applies although another file does not set it, the strictest of
// several wins, and an untrusted project file loosens nothing.
func TestOnSchemaViolationInLayers(t *testing.T) {
	const gate = "[gate]\non_schema_violation = \"ask\"\n"
	tool := func(setting string) string {
		return "[tools.t]\n" + setting + "[tools.t.policy]\nrun = \"unattended\"\n"
	}
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"nobody says", []string{tool("")}, "deny schema_violation"},
		{"[gate]", []string{gate + tool("")}, "ask schema_violation"},
		{"the tool", []string{tool("on_schema_violation = \"ask\"\n")}, "ask schema_violation"},
		{"a table for all tools", []string{"[tools.\"*\"]\non_schema_violation = \"ask\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n"}, "ask schema_violation"},
		{"[gate] above a silent file", []string{gate, tool("")}, "ask schema_violation"},
		{"above a silent project", []string{gate + tool(""), "project\n" + tool("")}, "ask schema_violation"},
		{"two files", []string{gate, tool("on_schema_violation = \"deny\"\n")}, "deny schema_violation"},
		{"an untrusted project", []string{tool(""), "project\n" + gate + tool("")}, "deny schema_violation"},
	} {
		call := stopgate.Call{Tool: "t", Definition: &stopgate.ToolDefinition{Name: "t", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}}
		if got := brief(final(t, layers(t, project, c.files...).Bind(call), `{"n":null}`)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
