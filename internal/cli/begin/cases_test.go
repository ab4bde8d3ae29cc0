package begin

import (
	"strings"
	"testing"
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

// A server that agents know by another name than its pack is not covered in hooks, and the screen says so.
func TestOtherName(t *testing.T) {
	w := newWorld(t, map[string]string{"go.mod": "module x\n", ".mcp.json": `{"mcpServers":{"gh":{"command":"npx","args":["-y","@modelcontextprotocol/server-github"]}}}`})
	out, err := w.planner("claude-code").plan(choice{})
	if err != nil || len(out.uncovered) != 1 || !strings.Contains(out.uncovered[0], "MCP server gh of") || !strings.Contains(out.uncovered[0], "mcp/github") {
		t.Fatalf("%v, %v", out.uncovered, err)
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
