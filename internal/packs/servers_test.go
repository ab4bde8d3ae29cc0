package packs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
)

func TestForServer(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @playwright/mcp@latest --headless":              "mcp/playwright",
		"npx @playwright/mcp":                                   "mcp/playwright",
		"/usr/bin/npx --yes --quiet -- @playwright/mcp@^0.0.80": "mcp/playwright",
		`C:\nodejs\npx.cmd -y @playwright/mcp`:                  "mcp/playwright",
		"cmd /c npx -y @playwright/mcp":                         "mcp/playwright",
		"npm exec -y @playwright/mcp":                           "mcp/playwright",
		"pnpm dlx @playwright/mcp":                              "mcp/playwright",
		"bunx @playwright/mcp":                                  "mcp/playwright",
		"npx -p @playwright/mcp playwright-mcp":                 "mcp/playwright",
		"docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server": "mcp/github",
		"docker run -i --rm --env=A=b ghcr.io/github/github-mcp-server:v0.24.1 stdio":         "mcp/github",
		"podman run -i ghcr.io/github/github-mcp-server@sha256:0123":                          "mcp/github",
		"/opt/bin/github-mcp-server stdio":                                                    "mcp/github",
		"":                                                                                    "",
		"npx":                                                                                 "",
		"npx -y":                                                                              "",
		"npx -y @playwright/mcp-evil":                                                         "",
		"npx -y evil/@playwright/mcp":                                                         "",
		"npx -y @playwright/mcp@npm:evil@1":                                                   "",
		"npx -y @playwright/mcp@file:../evil":                                                 "",
		"npx -p evil @playwright/mcp":                                                         "",
		"npx -p @playwright/mcp -p evil x":                                                    "",
		"npx --registry=https://evil.example @playwright/mcp":                                 "",
		"npx -c evil @playwright/mcp":                                                         "",
		"docker run --entrypoint sh ghcr.io/github/github-mcp-server":                         "",
		"docker run -H tcp://evil ghcr.io/github/github-mcp-server":                           "",
		"docker run evil.example/ghcr.io/github/github-mcp-server":                            "",
		"docker run --privileged ghcr.io/github/github-mcp-server":                            "",
		"docker exec x ghcr.io/github/github-mcp-server":                                      "",
		"sh -c github-mcp-server":                                                             "",
		"uvx @playwright/mcp":                                                                 "",
		"uvx --from git+https://evil.example mcp-server-git":                                  "",
		"env A=b npx @playwright/mcp":                                                         "",
		"docker run -i --rm -e":                                                               "",
		"docker run -i --rm --volume /:/x ghcr.io/github/github-mcp-server:a/b@sha256:1 --rm ignore": "",
	} {
		got, ok := packs.ForServer(strings.Fields(command), "")
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	for address, want := range map[string]string{
		"https://api.githubcopilot.com/mcp/":             "mcp/github",
		"https://api.githubcopilot.com/mcp":              "mcp/github",
		"https://API.githubcopilot.com:443/mcp/readonly": "mcp/github",
		"https://api.githubcopilot.com/mcp/x/issues?a=b": "mcp/github",
		"http://api.githubcopilot.com/mcp/":              "",
		"https://api.githubcopilot.com/":                 "",
		"https://api.githubcopilot.com/mcpx":             "",
		"https://api.githubcopilot.com/mcp/../x":         "",
		"https://api.githubcopilot.com/mcp/%2e%2e/x":     "",
		"https://u@api.githubcopilot.com/mcp/":           "",
		"https://api.githubcopilot.com.evil.example/mcp": "",
		"https://api.githubcopilot.com:8443/mcp/":        "",
		"https:api.githubcopilot.com/mcp/":               "",
		"github-mcp-server":                              "",
		"npm:@playwright/mcp":                            "",
		"":                                               "",
	} {
		if got, ok := packs.ForServer(nil, address); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if got, ok := packs.ForServer([]string{"npx", "@playwright/mcp"}, "https://api.githubcopilot.com/mcp/"); ok {
		t.Errorf("a command and an address: %s", got)
	}
}

// serverCases are data/mcp-NAME.test.toml: calls by the server's own names of its tools.
type serverCases struct {
	Runs, Asks, Denied []struct {
		Tool string
		Args map[string]any
	}
}

// compiled returns a policy that uses packs.
func compiled(t *testing.T, names ...string) *policy.Program {
	t.Helper()
	return compiledWith(t, "", names...)
}

// compiledWith returns a policy that uses packs and has more text.
func compiledWith(t *testing.T, more string, names ...string) *policy.Program {
	t.Helper()
	text := "version = 1\nuse = [\"" + strings.Join(names, `", "`) + "\"]\n" + more
	p, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil {
		t.Fatal(found)
	}
	return p
}

// modes returns how a policy judges a call with some arguments.
func modes(t *testing.T, p *policy.Program, c stopgate.Call) func(map[string]any) stopgate.Mode {
	b := p.Bind(c)
	return func(args map[string]any) stopgate.Mode {
		t.Helper()
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		e := b.Evaluate()
		e.Feed(text)
		return e.Close(stopgate.Ended).Mode
	}
}

// mode returns how a policy judges a call.
func mode(t *testing.T, p *policy.Program, c stopgate.Call, args map[string]any) stopgate.Mode {
	t.Helper()
	return modes(t, p, c)(args)
}

// calls are the forms in which a call of a tool of the server of a pack reaches a gate, where the server has a name.
func calls(of, server, tool string, args map[string]any) []stopgate.Call {
	own := stopgate.ToolName(server + "__" + tool)
	members := slices.Collect(maps.Keys(args))
	if row := knowntools.ForServer(of, tool); row != nil {
		for _, p := range row.Parameters {
			members = append(members, p.Name)
		}
	}
	slices.Sort(members)
	members = slices.Compact(members)
	for i, k := range members {
		members[i] = fmt.Sprintf("%q:{}", k)
	}
	definition := &stopgate.ToolDefinition{Name: own, Schema: []byte(`{"type":"object","properties":{` + strings.Join(members, ",") + `}}`)}
	pinned := *definition
	pinned.Pinned = true
	request := *definition
	request.Name = "mcp__" + own
	return []stopgate.Call{
		{Tool: own, Server: stopgate.ServerID(server), Surface: stopgate.SurfaceMCP, Dialect: "mcp", Definition: definition},
		{Tool: own, Server: stopgate.ServerID(server), Surface: stopgate.SurfaceMCP, Dialect: "mcp", Definition: &pinned},
		{Tool: own, Server: stopgate.ServerID(server), Surface: stopgate.SurfaceHook, Dialect: "claude-code"},
		{Tool: own, Server: stopgate.ServerID(server), Surface: stopgate.SurfaceAgent, Definition: definition},
		{Tool: request.Name, Surface: stopgate.SurfaceGateway, Dialect: "anthropic", Definition: &request},
	}
}

// strangers are calls of other servers' tools, and of local ones, that look like those of a server.
func strangers(server, tool string) (list []stopgate.Call) {
	own := stopgate.ToolName(server + "__" + tool)
	for _, surface := range []stopgate.Surface{stopgate.SurfaceMCP} {
		for _, c := range []stopgate.Call{
			{Tool: stopgate.ToolName(tool)}, {Tool: own}, {Tool: "mcp__" + own}, {Tool: "evil__" + own, Server: "evil"}, {Tool: own, Server: "evil"},
			{Tool: stopgate.ToolName("evil__" + tool), Server: "evil"}, {Tool: "mcp__" + own, Server: "evil"}, {Tool: stopgate.ToolName(server + "_" + tool)},
		} {
			c.Surface, c.Definition = surface, &stopgate.ToolDefinition{Name: c.Tool, Schema: []byte(`{"type":"object","additionalProperties":true}`)}
			list = append(list, c)
		}
	}
	return append(list, stopgate.Call{Tool: own, Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{Name: own}},
		stopgate.Call{Tool: stopgate.ToolName(tool), Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{Name: stopgate.ToolName(tool)}})
}

// swapped are calls whose tool begins with one name of a server and that come from the other.
func swapped(server, another, tool string) (list []stopgate.Call) {
	for _, names := range [][2]string{{server, another}, {another, server}} {
		for _, surface := range []stopgate.Surface{stopgate.SurfaceMCP, stopgate.SurfaceHook, stopgate.SurfaceAgent, stopgate.SurfaceDecide} {
			list = append(list, stopgate.Call{Tool: stopgate.ToolName(names[0] + "__" + tool), Server: stopgate.ServerID(names[1]), Surface: surface})
		}
	}
	return list
}

// Every tool that the pack of a server names, and every one of the server that is known, has cases. What runs
// does so on each surface, only through the server, and only with the parameters that the pack declares;
// what asks does so whatever other packs are used. All of this holds for another name that the policy gives the
// server too, and strangers get nothing from either name.
func TestCasesOfServers(t *testing.T) {
	all, coding := compiled(t, packs.Names()...), compiled(t, "coding")
	for _, name := range packs.Names() {
		server, ok := strings.CutPrefix(name, "mcp/")
		if !ok {
			continue
		}
		p, _ := packs.Lookup(name)
		if len(p.Servers) == 0 || p.Server() != server {
			t.Errorf("%s has no servers: %q", name, p.Servers)
		}
		another := "my." + server + "-2"
		with := map[string]*policy.Program{server: compiled(t, "coding", name), another: compiledWith(t, fmt.Sprintf("[servers]\n%q = %q\n", another, name), name)}
		unnamed := compiled(t, name)
		text, err := packs.Cases(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var c serverCases
		if err := toml.Unmarshal(text, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tried := make(map[string]bool)
		named := func(tool string) (list []string) { // both names, the other one for the first case of each tool
			if list = append(list, server); !tried[tool] {
				list = append(list, another)
			}
			tried[tool] = true
			return list
		}
		for _, run := range c.Runs {
			names := named(run.Tool)
			more := maps.Clone(run.Args)
			more["unheard_of"] = "x"
			for _, called := range names {
				for _, call := range calls(server, called, run.Tool, more) {
					judged := modes(t, with[called], call)
					if m := judged(run.Args); m != stopgate.Unattended {
						t.Errorf("%s: %s on %s with %v: %v", name, call.Tool, call.Surface, run.Args, m)
					}
					if m := judged(more); m == stopgate.Unattended {
						t.Errorf("%s: %s on %s runs with a parameter that it does not declare", name, call.Tool, call.Surface)
					}
					if m := mode(t, unnamed, call, run.Args); called == another && m == stopgate.Unattended {
						t.Errorf("%s: %s on %s runs by a name that the policy does not give", name, call.Tool, call.Surface)
					}
				}
				for _, call := range strangers(called, run.Tool) {
					if m := mode(t, with[called], call, run.Args); m == stopgate.Unattended && mode(t, coding, call, run.Args) != m {
						t.Errorf("%s: %s of %q on %s runs, whose tool it is not", name, call.Tool, call.Server, call.Surface)
					}
				}
			}
			if len(names) == 1 {
				continue
			}
			for _, call := range swapped(server, another, run.Tool) {
				if m := mode(t, with[another], call, run.Args); m == stopgate.Unattended && mode(t, coding, call, run.Args) != m {
					t.Errorf("%s: %s of %q on %s runs, which is a tool of another name", name, call.Tool, call.Server, call.Surface)
				}
			}
		}
		for _, ask := range c.Asks {
			names := named(ask.Tool)
			for _, called := range names {
				for i, call := range calls(server, called, ask.Tool, ask.Args) {
					if m := mode(t, with[called], call, ask.Args); m == stopgate.Unattended {
						t.Errorf("%s: %s on %s with %v: %v", name, call.Tool, call.Surface, ask.Args, m)
					}
					if i == 0 && called == server && mode(t, all, call, ask.Args) == stopgate.Unattended {
						t.Errorf("%s: %s with %v runs with all packs", name, call.Tool, ask.Args)
					}
				}
			}
		}
		for _, denied := range c.Denied {
			names := named(denied.Tool)
			for _, called := range names {
				for _, call := range calls(server, called, denied.Tool, denied.Args) {
					if m := mode(t, with[called], call, denied.Args); m != stopgate.Deny {
						t.Errorf("%s: %s on %s with %v: %v", name, call.Tool, call.Surface, denied.Args, m)
					}
				}
			}
		}
		tools := namedTools(t, p)
		for _, tool := range tools {
			if own, ok := strings.CutPrefix(tool, server+"__"); !ok || !tried[own] {
				t.Errorf("%s: no case for %s", name, tool)
			}
		}
		for _, row := range knowntools.Load("mcp-" + server).Tools {
			for _, tool := range row.Names {
				if !slices.Contains(tools, server+"__"+tool) {
					t.Errorf("%s does not decide on %s", name, tool)
				}
			}
		}
		if !slices.Contains(knowntools.Load("mcp-"+server).Servers, server) {
			t.Errorf("the known tools of %s are not those of a server of this name", server)
		}
	}
}

// A file that is not trusted gives the server of a pack no name: calls by it run no sooner than without the file.
func TestNamesThatAreNotTrusted(t *testing.T) {
	own := policy.Source{Name: "own.toml", Trusted: true, Text: []byte("version = 1\nuse = [\"mcp/github\"]\n")}
	project := policy.Source{Name: "stopgate.toml", Text: []byte("version = 1\nuse = [\"mcp/github\"]\n[servers]\ngh = \"mcp/github\"\n")}
	mine := project
	mine.Trusted = true
	args := map[string]any{"owner": "o", "repo": "r"}
	for _, c := range []struct {
		name    string
		sources []policy.Source
		runs    bool
	}{
		{"own", []policy.Source{own}, false}, {"project", []policy.Source{project}, false}, {"both", []policy.Source{own, project}, false}, {"trusted", []policy.Source{mine}, true},
	} {
		p, found := policy.Compile(c.sources, policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
		if p == nil {
			t.Fatal(found)
		}
		for _, call := range calls("github", "gh", "list_branches", args) {
			if m := mode(t, p, call, args); (m == stopgate.Unattended) != c.runs {
				t.Errorf("%s: %s on %s: %v", c.name, call.Tool, call.Surface, m)
			}
		}
	}
}

// namedTools returns the tools that a pack itself names. Its permissions hold only for calls of its server,
// and its tables ask about parameters that they do not declare.
func namedTools(t *testing.T, p packs.Pack) (tools []string) {
	file, mistakes := parser.Parse(kinds.Table(), p.File(), p.Text)
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	for _, table := range file.Tools {
		if table.Run == nil || len(table.Run.Rules) == 0 || table.Run.Rules[0].Pack != "" {
			continue
		}
		tools = append(append(tools, table.Name), table.Also...)
		for _, r := range table.Run.Rules {
			if r.Mode.Permissive() && (r.When == nil || table.Uncovered == nil || table.Uncovered.String() != "ask") {
				t.Errorf("%s: a permission of %s is not only for calls of the server with declared parameters", p.Name, table.Name)
			}
		}
	}
	return tools
}
