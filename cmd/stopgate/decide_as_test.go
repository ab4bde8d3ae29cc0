package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

// surfacePolicy looks at what surfaces know differently: paths, commands, tools by name.
const surfacePolicy = `version = 1
[gate]
denial_limit = 0
[approvals]
unary_timeout = "10ms"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
reason = "secrets stay out of reach"
[[guard]]
on = "command"
prefix = "rm "
mode = "deny"
reason = "nothing is removed"
[tools.Read.policy]
run = [ { arg = "/file_path", prefix = "src/", mode = "unattended" }, { mode = "ask", reason = "who reads that?" } ]
[tools.Read.parameters]
file_path = { type = "path" }
[tools.files__Read.policy]
run = [ { arg = "/file_path", prefix = "src/", mode = "unattended" }, { mode = "ask", reason = "who reads that?" } ]
[tools.files__Read.parameters]
file_path = { type = "path" }
[tools."*__write_file"]
uncovered = "allow"
[tools."*__write_file".policy]
run = [ { arg = "/path", prefix = "src/", mode = "unattended" }, { mode = "deny" } ]
[tools.hidden.policy]
run = "deny"
[tools.files__hidden.policy]
run = "deny"
[tools.files__misfit.policy]
run = [ { arg = "/none", prefix = "a", mode = "unattended" } ]
[tools.free.policy]
run = "unattended"
[tools.files__free.policy]
run = "unattended"
`

// surfaceCalls are calls that the surfaces answer, not all alike.
func surfaceCalls(dir string) []struct{ tool, args string } {
	return []struct{ tool, args string }{
		{"Read", `{"file_path":".env"}`},
		{"Read", `{"file_path":"src/a.go"}`},
		{"Read", `{"file_path":"src/./a.go"}`}, // another spelling runs
		{"Read", `{"file_path":"` + dir + `/src/a.go"}`},
		{"Read", `{"file_path":"doc/a"}`},
		{"Read", `{"file_path":7}`},
		{"free", `{"target_file":".env","command":"rm a","url":"https://go.dev"}`},
		{"free", `{"directory":"src","filename":".env"}`},
		{"free", `{"command":"cd src && rm a"}`},
		{"free", `{"x":1}`},
		{"free", `[1]`},
		{"hidden", `{}`},
		{"misfit", `{"path":"a"}`},
		{"TodoWrite", `{"todos":[]}`},
		{"nobody_knows", `{"path":"src/.env"}`},
		{"nobody_knows", `{"path":"src/a"}`},
		{"mcp__files__write_file", `{"path":"src/a.go"}`},
		{"mcp__files__write_file", `{"path":"doc/a.go"}`},
		{"apply_patch", `{"command":"*** Begin Patch\n*** Delete File: .env\n*** End Patch"}`},
		{"apply_patch", `{"input":"no patch"}`},
		{"Glob", `{"pattern":".env","path":"src"}`},
		{"shell", `{"command":["rm","a"]}`},
		{"Bash", `{"command":"rm a","cwd":"src"}`},
	}
}

// decide --as a host answers as the hook of that host does.
func TestDecideAsHook(t *testing.T) {
	dir := liveIn(t, surfacePolicy)
	modes := map[string]int{}
	for _, host := range hook.Names() {
		for _, c := range surfaceCalls(dir) {
			real := throughHook(t, dir, host, c.tool, c.args)
			d := decideHere(t, "--as", host, "--tool", c.tool, "--args", c.args)
			if d.As != host || len(d.MayDiffer) > 0 {
				t.Errorf("%s: %+v", host, d)
			}
			if why := d.agrees(real); why != "" {
				t.Errorf("%s: %s %s: %s", host, c.tool, c.args, why)
			}
			modes[d.Mode+" "+d.Code]++
		}
	}
	for _, want := range []string{
		"deny rule_matched", "unattended rule_matched", "ask rule_matched", "deny protocol_violation", "deny envelope_mismatch",
		"ask policy_not_configured", "unattended policy_not_configured",
	} {
		if modes[want] == 0 {
			t.Errorf("no call got %s: %v", want, modes)
		}
	}
}

// decide --as gateway answers as stopgate up does for a request that declares the tool.
func TestDecideAsGateway(t *testing.T) {
	dir := liveIn(t, surfacePolicy)
	g := newLiveGateway(t, dir)
	schema := `{"type":"object","properties":{"file_path":{"type":"string"},"path":{"type":"string"},"target_file":{"type":"string"},"command":{}}}`
	for _, c := range surfaceCalls(dir) {
		real := g.calls(t, c.tool, c.args, schema)
		writeIn(t, dir, "tools.json", fmt.Sprintf(`[{"name":%q,"parameters":%s}]`, c.tool, schema))
		d := decideHere(t, "--as", "gateway", "--tools", "tools.json", "--tool", c.tool, "--args", c.args)
		if len(d.MayDiffer) > 0 {
			t.Errorf("%+v", d)
		}
		if why := d.agrees(real); why != "" {
			t.Errorf("%s %s: %s", c.tool, c.args, why)
		}
	}
}

// decide --as mcp answers as stopgate mcp does before a server that has the tool.
func TestDecideAsMCP(t *testing.T) {
	dir := liveIn(t, surfacePolicy)
	tools := `[`
	var names []string
	for _, c := range surfaceCalls(dir) {
		if !slices.Contains(names, c.tool) {
			names = append(names, c.tool)
			tools += fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","properties":{"file_path":{"type":"string"},"path":{"type":"string"}}}},`, c.tool)
		}
	}
	tools = strings.TrimSuffix(tools, ",") + `]`
	m := newLiveMCP(t, dir, "files", tools)
	for _, c := range surfaceCalls(dir) {
		if c.args == `[1]` {
			continue // no client can send it
		}
		real := m.calls(t, c.tool, c.args)
		d := decideHere(t, "--as", "mcp", "--server", "files", "--tools", "files.tools.json", "--tool", c.tool, "--args", c.args)
		if len(d.MayDiffer) > 0 {
			t.Errorf("%+v", d)
		}
		if why := d.agrees(real); why != "" {
			t.Errorf("%s %s: %s", c.tool, c.args, why)
		}
	}
}
