package parser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
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

// A name that the policy gives the server of a pack has the pack's tables, for calls of that name.
func TestNamesOfServers(t *testing.T) {
	const text = `version = 1
use = ["coding", "mcp/github", "mcp/slack"]
[tools.gh__get_me]
policy.run = "deny"
[tools.mcp__gh__get_commit]
policy.run = "ask"
[servers]
gh = "mcp/github"
GitHub_Work = "mcp/github"
github = "mcp/github"
`
	f := parse(t, text)
	for tool, want := range map[string]string{
		"github__get_me": "pack:mcp/github unattended", "gh__get_me": "own deny", "gh__get_commit": "pack:mcp/github unattended",
		"mcp__gh__get_me": "pack:mcp/github unattended", "mcp__gh__get_commit": "own ask", "GitHub_Work__get_me": "pack:mcp/github unattended",
		"GitHub_Work__push_files": "pack:mcp/github ask", "github_work__get_me": "", "gh__slack_get_users": "",
	} {
		if got := strings.Join(rules(f, tool), ", "); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	for tool, want := range map[string]string{"gh__get_commit": "[gh]", "GitHub_Work__get_me": "[GitHub_Work]", "github__get_me": "[github]", "mcp__gh__get_teams": "[gateway]"} {
		if got := fmt.Sprint(*tableOf(f, tool).Run.Rules[0].When); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	for _, glob := range []string{"gh__*", "mcp__gh__*", "GitHub_Work__*"} {
		if table := tableOf(f, glob); table == nil || table.Schema == nil {
			t.Errorf("%s declares no parameters", glob)
		}
	}
	plain := parse(t, "version = 1\nuse = [\"mcp/github\"]\n[servers]\ngithub = \"mcp/github\"\n")
	if same := parse(t, "version = 1\nuse = [\"mcp/github\"]\n"); syntax.Hash(plain) != syntax.Hash(same) {
		t.Error("the name of the pack changes the policy")
	}
	if syntax.Hash(f) == syntax.Hash(parse(t, strings.Replace(text, "GitHub_Work", "GitHub-Work", 1))) {
		t.Error("another name is the same policy")
	}
}

// Whoever has the name of the server of one pack is not that of another, and a name has one form.
func TestNamesThatServersCannotHave(t *testing.T) {
	for entry, want := range map[string]string{
		`github = "mcp/slack"`:                   `SG0115 "github" is the name of the server of the pack "mcp/github"`,
		`GitHub = "mcp/slack"`:                   `SG0115 "GitHub" is the name of the server of the pack "mcp/github"`,
		`postgres = "mcp/slack"`:                 `SG0115 "postgres" is the name of the server of the pack "mcp/postgres"`,
		`Slack = "mcp/slack"`:                    "",
		`gh = "mcp/gitlab"`:                      `SG0106 there is no pack "mcp/gitlab" | did you mean ` + "`mcp/github`?",
		`gh = "coding"`:                          `SG0106 the pack "coding" is not that of an MCP server`,
		`gh = "mcp/postgres"`:                    `SG0106 the policy does not use the pack "mcp/postgres" | add "mcp/postgres" to ` + "`use`",
		`gh = "mcp/slack@1"`:                     `SG0106 a version of a pack is not written here`,
		`gh = ["mcp/slack"]`:                     "SG0104",
		`mcp = "mcp/slack"`:                      `SG0115 "mcp" cannot be the name of a server`,
		`"gh*" = "mcp/slack"`:                    `SG0115 "gh*" cannot be the name of a server`,
		`"g h" = "mcp/slack"`:                    `SG0115 "g h" cannot be the name of a server`,
		`"" = "mcp/slack"`:                       `SG0115 "" cannot be the name of a server`,
		`gh__x = "mcp/slack"`:                    `SG0115 "gh__x" cannot be the name of a server`,
		`gh_ = "mcp/slack"`:                      `SG0115 "gh_" cannot be the name of a server`,
		strings.Repeat("g", 65) + `="mcp/slack"`: `SG0115`,
		strings.Repeat("g", 64) + `="mcp/slack"`: "",
	} {
		_, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte("version = 1\nuse = [\"mcp/github\", \"mcp/slack\"]\n[servers]\n"+entry+"\n"))
		got := ""
		for _, d := range list {
			got += fmt.Sprintf("%s %s | %s\n", d.Code, d.Message, d.Hint)
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
	if _, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte("version = 1\n[servers]\ngh = \"mcp/slack\"\n")); !list.HasErrors() {
		t.Error("a policy without packs has a name for the server of one")
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
