package parser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
)

// tableOf returns the table that names a tool.
func tableOf(f *syntax.File, tool string) *syntax.ToolTable {
	for _, t := range f.Tools {
		if t.Named(tool) {
			return t
		}
	}
	return nil
}

// A table of the file for one of several tools that share a table of a pack is about this tool alone: the
// others keep the rules of the pack, and the tool has those of both.
func TestOwnTableForOneToolOfAPack(t *testing.T) {
	f := parse(t, `version = 1
use = ["coding", "mcp/github"]
[tools.Edit.policy]
run = [{ arg = "/file_path", glob = "a/**", mode = "deny" }]
[tools.Glob]
policy.run = "ask"
[tools.github__get_me]
policy.run = "deny"
[tools.github__list_issues.policy]
run = [{ arg = "/owner", const = "x", mode = "deny" }]
[tools.mcp__github__get_commit]
policy.run = "ask"
`)
	for tool, want := range map[string]string{
		"Edit": "own deny, pack:coding skip, pack:coding ask, pack:coding unattended, pack:coding ask", "Write": "pack:coding skip, pack:coding ask, pack:coding unattended, pack:coding ask",
		"MultiEdit": "pack:coding skip, pack:coding ask, pack:coding unattended, pack:coding ask", "Glob": "own ask", "Grep": "pack:coding unattended",
		"github__get_me": "own deny", "github__get_teams": "pack:mcp/github unattended", "github__list_issues": "own deny, pack:mcp/github unattended",
		"mcp__github__get_me": "pack:mcp/github unattended", "mcp__github__get_commit": "own ask", "github__get_commit": "pack:mcp/github unattended",
	} {
		if got := strings.Join(rules(f, tool), ", "); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	if e, w := tableOf(f, "Edit"), tableOf(f, "Write"); e.Schema == nil || w.Schema == nil || fmt.Sprint(w.Also) != "[MultiEdit]" {
		t.Errorf("Edit %+v, Write %+v", e, w)
	}
	if at := tableOf(f, "github__get_teams"); slices.Contains(at.Also, "github__get_me") || slices.Contains(at.Also, "mcp__github__get_teams") || at.Uncovered == nil {
		t.Errorf("%+v", at)
	}
}

// What the agents' names permit holds at the gateway only.
func TestNamesThatAgentsGive(t *testing.T) {
	f := parse(t, "version = 1\nuse = [\"mcp/github\"]\n")
	for tool, want := range map[string]string{"github__get_me": "github", "mcp__github__get_me": "gateway"} {
		r := tableOf(f, tool).Run.Rules[0]
		if got := fmt.Sprint(*r.When); !strings.Contains(got, want) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	if tableOf(f, "mcp__github__*") == nil || tableOf(f, "github__*") == nil {
		t.Error("the parameters are not declared for both names")
	}
}

// A rule of a pack is skipped for a version of the tool that lacks its parameter; one of the file is not, nor
// one with a parameter of another type.
func TestRulesOfPacksAndVersionsOfTools(t *testing.T) {
	for own, want := range map[string][3]stopgate.Mode{
		"": {stopgate.Unattended, stopgate.Unattended, stopgate.Ask},
		"[tools.playwright__browser_snapshot.policy]\nrun = [{ arg = \"/filenam\", const = \"x\", mode = \"ask\" }]\n": {stopgate.Deny, stopgate.Deny, stopgate.Deny},
	} {
		p, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte("version = 1\nuse = [\"mcp/playwright\"]\n" + own), Trusted: true}}, policy.Options{})
		if p == nil {
			t.Fatal(found)
		}
		for i, c := range []struct{ schema, args string }{
			{`{"type":"object","properties":{}}`, `{}`},
			{`{"type":"object","properties":{"filename":{"type":"string"}}}`, `{}`},
			{`{"type":"object","properties":{}}`, `{"filename":"x"}`},
		} {
			call := stopgate.Call{Tool: "playwright__browser_snapshot", Server: "playwright", Surface: stopgate.SurfaceMCP}
			call.Definition = &stopgate.ToolDefinition{Name: call.Tool, Schema: []byte(c.schema)}
			e := p.Bind(call).Evaluate()
			e.Feed([]byte(c.args))
			if v := e.Close(stopgate.Ended); v.Mode != want[i] {
				t.Errorf("%q with %s: %v, want %v", c.args, c.schema, v, want[i])
			}
		}
	}
}
