package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// guardsOnly lets everything run that no guard sees.
const guardsOnly = `version = 1
[gate]
denial_limit = 0
[approvals]
unary_timeout = "10ms"
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
reason = "secrets stay out of reach"
[[guard]]
on = "command"
prefix = "rm "
mode = "deny"
reason = "secrets stay out of reach"
[[guard]]
on = "url"
host = "evil.example"
mode = "deny"
reason = "secrets stay out of reach"
`

// rowCall is a call with one parameter of a row: dangerous, or not.
type rowCall struct {
	tool, args string
	dangerous  bool
}

// rowCalls are two calls for every parameter of a row that means something, under each of its
// names; and how a server or a request would declare the tool.
func rowCalls(t *knowntools.Tool, adapter bool) (calls []rowCall) {
	patched := slices.ContainsFunc(t.Parameters, func(p knowntools.Parameter) bool { return p.Kind == knowntools.Patch })
	for _, name := range t.Names {
		for _, p := range t.Parameters {
			values := map[string][2]string{"path": {`"src/.env"`, `"src/a"`}, "command": {`"rm a"`, `"ls"`}, "argv": {`"rm a"`, `"ls"`}, "url": {`"https://evil.example/"`, `"https://go.dev/"`}}[p.Kind.Type()]
			if p.Kind == knowntools.Patch && adapter { // which lists the files of the patch
				values = [2]string{`"*** Begin Patch\n*** Delete File: .env\n*** End Patch"`, `"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"`}
			}
			if values[0] == "" || patched && p.Kind != knowntools.Patch {
				continue
			}
			for i, value := range values {
				if p.Members {
					value = "[" + value + "]"
				}
				if p.Member != "" {
					value = fmt.Sprintf("{%q:%s}", p.Member, value)
				}
				if p.List {
					value = "[" + value + "]"
				}
				args := fmt.Sprintf("{%q:%s}", p.Name, value)
				if p.Kind == knowntools.Directory && adapter { // where no command runs it means nothing
					args = fmt.Sprintf(`{%q:%s,"command":"ls"}`, p.Name, value)
				}
				calls = append(calls, rowCall{name, args, i == 0})
			}
		}
	}
	return calls
}

// declared is the schema with which somebody who knows nothing of paths would declare a row.
func declared(t *knowntools.Tool) string {
	var properties []string
	for _, p := range t.Parameters {
		schema := `{"type":"string"}`
		if p.Kind == knowntools.Value {
			schema = `{}`
		}
		if p.Members {
			schema = `{"type":"array","items":` + schema + `}`
		}
		if p.Member != "" {
			schema = fmt.Sprintf(`{"type":"object","properties":{%q:%s}}`, p.Member, schema)
		}
		if p.List {
			schema = `{"type":"array","items":` + schema + `}`
		}
		if name := fmt.Sprintf("%q:", p.Name); !slices.ContainsFunc(properties, func(s string) bool { return strings.HasPrefix(s, name) }) {
			properties = append(properties, name+schema)
		}
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`
}

// answered checks how a surface answered the call of a row.
func (c rowCall) answered(t *testing.T, where string, p surfaced) {
	t.Helper()
	stopped := p.Status == "denied" && p.Code == "rule_matched" && strings.Contains(p.said, "secrets stay out of reach")
	if c.dangerous && !stopped || !c.dangerous && p.Status != "allowed" && p.Code != "no_approver" && p.Code != "approval_pending" || !c.dangerous && stopped {
		t.Errorf("%s: %s %s: %+v", where, c.tool, c.args, p)
	}
}

// Every row of the table guards where its tool runs: the hook of its host, the MCP gateway
// before a server of its name, and a gateway whose request declares every parameter as text.
func TestKnownToolsOnSurfaces(t *testing.T) {
	dir := liveIn(t, guardsOnly)
	gateway := newLiveGateway(t, dir)
	for _, product := range knowntools.All() {
		adapted := len(product.Hosts) > 0 && slices.Contains(hook.Names(), product.Hosts[0])
		var servers []*liveMCP
		if len(product.Servers) > 0 {
			var list []string
			for _, tool := range product.Tools {
				for _, name := range tool.Names {
					list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, declared(tool)))
				}
			}
			servers = append(servers, newLiveMCP(t, dir, product.Servers[0], "["+strings.Join(list, ",")+"]"))
		}
		for _, tool := range product.Tools {
			if adapted {
				for _, c := range rowCalls(tool, true) {
					c.answered(t, product.Hosts[0], throughHook(t, dir, product.Hosts[0], c.tool, c.args))
				}
			}
			for _, c := range rowCalls(tool, false) {
				for _, s := range servers {
					c.answered(t, "MCP gateway before "+product.Name, s.calls(t, c.tool, c.args))
				}
				c.answered(t, "gateway for "+product.Name, gateway.calls(t, c.tool, c.args, declared(tool)))
			}
		}
		for _, s := range servers {
			s.end()
		}
	}
}

// What a row knows of a tool lets a permit hold only for the server of its name, with a pinned
// definition that has all of its parameters; by the tool's name alone nothing is permitted.
func TestKnownToolsPermitWhereTheyAreCertain(t *testing.T) {
	policy := `version = 1
[gate]
denial_limit = 0
`
	for tool, arg := range map[string]string{
		"filesystem__read_text_file": "path", "other__read_text_file": "path", "filesystem__move_file": "source", "read_text_file": "path",
	} {
		policy += fmt.Sprintf("[tools.%s.policy]\nrun = [ { arg = \"/%s\", glob = \"src/**\", mode = \"unattended\" }, { mode = \"deny\" } ]\n", tool, arg)
	}
	dir := liveIn(t, policy)
	whole := `{"name":"read_text_file","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"head":{"type":"number"},"tail":{"type":"number"}}}}`
	less := `{"name":"move_file","inputSchema":{"type":"object","properties":{"source":{"type":"string"}}}}`
	for _, server := range []string{"filesystem", "other"} {
		m := newLiveMCP(t, dir, server, "["+whole+","+less+"]")
		for i, c := range []struct {
			tool, args string
			runs       bool
		}{
			{"read_text_file", `{"path":"src/./a"}`, server == "filesystem"},
			{"read_text_file", `{"path":"src/../../a"}`, false},
			{"move_file", `{"source":"src/./a"}`, false},
		} {
			if server == "other" && c.tool == "move_file" {
				continue // no table
			}
			got := m.calls(t, c.tool, c.args)
			if (got.Status == "allowed") != c.runs {
				t.Errorf("%d: %s of %s %s: %+v", i, c.tool, server, c.args, got)
			}
			d := decideHere(t, "--as", "mcp", "--server", server, "--tools", server+".tools.json", "--tool", c.tool, "--args", c.args)
			if why := d.agrees(got); why != "" {
				t.Errorf("%d: %s of %s %s: %s", i, c.tool, server, c.args, why)
			}
		}
		m.end()
	}
	g := newLiveGateway(t, dir)
	if got := g.calls(t, "read_text_file", `{"path":"src/./a"}`, `{"type":"object","properties":{"path":{"type":"string"},"head":{},"tail":{}}}`); got.Status != "denied" {
		t.Errorf("gateway: %+v", got)
	}
}
