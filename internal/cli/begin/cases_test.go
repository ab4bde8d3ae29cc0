package begin

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
)

// Test cases that were changed, or are there already, stay.
func TestCases(t *testing.T) {
	w := newWorld(t, shop)
	w.must(w.start(choice{}))
	text := w.read(casesName)
	for _, part := range []string{`expect = "unattended"`, `expect = "ask"`, `expect = "deny"`} {
		if strings.Count(text, part) != 1 {
			t.Errorf("not one case with %s:\n%s", part, text)
		}
	}
	w.write(casesName, text+"# mine\n")
	if list := w.must(w.start(choice{})); len(list) > 0 {
		t.Errorf("the second start: %v", list)
	}
	w.stop(false)
	if w.read(casesName) != text+"# mine\n" || exists(w.path("stopgate.toml")) {
		t.Error("changed cases do not stay, or the policy does")
	}
}

// A server that agents know by another name than its pack gets the pack by this name in the policy, where all
// servers of the name are the one of the pack and the name can be given to it. Others are not covered in hooks, and the screen shows it.
func TestOtherNames(t *testing.T) {
	const github = `{"command":"npx","args":["-y","@modelcontextprotocol/server-github"]}`
	settings := func(name, server string) string { return fmt.Sprintf(`{"mcpServers":{%q:%s}}`, name, server) }
	for _, c := range []struct {
		name, user, server, policy string
		want, uncovered            string
	}{
		{name: "gh", want: "gh is mcp/github"},
		{name: "gh", user: settings("gh", github), want: "gh is mcp/github"},
		{name: "github_work-2", want: "github_work-2 is mcp/github"},
		{name: "gh", user: settings("gh", `{"command":"other"}`), uncovered: "another server has this name in "},
		{name: "gh", user: settings("gh", `{"command":"npx","args":["@modelcontextprotocol/server-slack"]}`), uncovered: "another server has this name in "},
		{name: "github"},
		{name: "slack", uncovered: "name it so there"},
		{name: "my.gh", uncovered: "name it so there"},
		{name: "my gh", uncovered: "name it so there"},
		{name: "mcp", uncovered: "name it so there"},
		{name: "gh", policy: "version = 1\n", want: "gh is mcp/github", uncovered: `MCP server gh in hooks: they know it by this name; give it to the pack in stopgate.toml: [servers] gh = "mcp/github"`},
		{name: "gh", policy: "version = 1\nuse = \"mcp/github\"\n[servers]\ngh = \"mcp/github\"\n", want: "gh is mcp/github"},
	} {
		files := map[string]string{"go.mod": "module x\n", ".mcp.json": settings(c.name, github), "~/.claude.json": c.user, "stopgate.toml": c.policy}
		maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
		w := newWorld(t, files)
		out, err := w.planner("claude-code").plan(choice{})
		if err != nil {
			t.Fatal(err)
		}
		if got := serverNames(out.project.Names); got != c.want {
			t.Errorf("%+v: named %q", c, got)
		}
		if got := strings.Join(out.uncovered, "\n"); !strings.Contains(got, c.uncovered) || (got == "") != (c.uncovered == "") {
			t.Errorf("%+v: not covered: %s", c, got)
		}
		if c.policy != "" || c.want == "" {
			continue
		}
		program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: out.policy, Trusted: true}}, policy.Options{Root: w.root, Home: w.home})
		if program == nil {
			t.Fatal(found)
		}
		b := program.Bind(stopgate.Call{Tool: stopgate.ToolName(c.name + "__list_branches"), Server: stopgate.ServerID(c.name), Surface: stopgate.SurfaceHook, Dialect: "claude-code"})
		if _, unknown := b.Unknown(); unknown {
			t.Errorf("%+v: the policy does not know the tools:\n%s", c, out.policy)
		}
	}
}

// No example has a reason that only says that a rule decided.
func TestReasons(t *testing.T) {
	w := newWorld(t, shop)
	out, err := w.planner().plan(choice{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := out.judged(true, w.home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.Contains(e.Reason, "A rule of the policy") && e.Mode != "unattended" {
			t.Errorf("%s: %s", e.Text, e.Reason)
		}
	}
}
