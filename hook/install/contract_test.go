package install_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/hook/install"
)

// Proves S47, S51: the file, the events, the matchers and the timeouts, in the unit of
// each host, that installing writes, and that the command answers before they end.
func TestContract(t *testing.T) {
	nested := func(timeout string, events ...string) string {
		var list []string
		for _, e := range events {
			name, matcher, ok := strings.Cut(e, " ")
			if ok {
				matcher = `"matcher":"` + matcher + `",`
			}
			list = append(list, `"`+name+`":[{`+matcher+`"hooks":[{"type":"command","command":"LINE","timeout":`+timeout+`}]}]`)
		}
		return `{"hooks":{` + strings.Join(list, ",") + `}}`
	}
	flat := func(version, more string, events ...string) string {
		var list []string
		for _, e := range events {
			list = append(list, `"`+e+`":[{"command":"LINE",`+more+`}]`)
		}
		return `{` + version + `"hooks":{` + strings.Join(list, ",") + `}}`
	}
	for _, c := range []struct{ host, user, project, text string }{
		{"claude-code", ".claude/settings.json", ".claude/settings.json",
			nested("600", "PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit")},
		{"codex", ".codex/hooks.json", ".codex/hooks.json", nested("600", "PreToolUse *", "PostToolUse *", "UserPromptSubmit")},
		{"gemini-cli", ".gemini/settings.json", ".gemini/settings.json", nested("600000", "BeforeTool .*", "AfterTool .*", "BeforeAgent")},
		{"qwen-code", ".qwen/settings.json", ".qwen/settings.json", nested("600000", "PreToolUse *", "PostToolUse *", "PostToolUseFailure *", "UserPromptSubmit")},
		{"cursor", ".cursor/hooks.json", ".cursor/hooks.json", flat(`"version":1,`, `"timeout":600,"failClosed":true`,
			"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "postToolUse", "beforeSubmitPrompt")},
		{"copilot-cli", ".copilot/hooks/stopgate.json", ".github/hooks/stopgate.json", flat(`"version":1,`, `"type":"command","timeoutSec":600`,
			"PreToolUse", "PostToolUse", "UserPromptSubmit")},
		{"crush", ".config/crush/crush.json", ".crush.json", flat("", `"timeout":600`, "PreToolUse")},
		{"cline", "Documents/Cline/Hooks/PreToolUse", ".clinerules/hooks/PreToolUse", ""},
		{"opencode", ".config/opencode/plugins/stopgate.js", ".opencode/plugins/stopgate.js", ""},
		{"pi", ".pi/agent/extensions/stopgate.js", ".pi/extensions/stopgate.js", ""},
	} {
		t.Run(c.host, func(t *testing.T) {
			for at, want := range map[install.Place]string{
				{Scope: install.User, Home: "/home/u"}:   "/home/u/" + c.user,
				{Scope: install.Project, Dir: "/srv/pr"}: "/srv/pr/" + c.project,
			} {
				p, err := install.Make(c.host, at, install.Command{Program: "/bin/stopgate"})
				if err != nil {
					t.Fatal(err)
				}
				if p.File != want {
					t.Errorf("%s settings in %s, want %s", at.Scope, p.File, want)
				}
				text, err := p.Install(nil)
				if err != nil {
					t.Fatal(err)
				}
				const line = "/bin/stopgate hook "
				var beside []string
				for _, q := range p.Also {
					beside = append(beside, q.File[strings.LastIndex(q.File, "/")+1:])
				}
				if got := strings.Join(beside, " "); c.host == "cline" && got != "PostToolUse UserPromptSubmit" || c.host != "cline" && got != "" {
					t.Errorf("files beside: %s", got)
				}
				if c.text == "" {
					continue // a script, all of which is stopgate's
				}
				if !strings.HasPrefix(p.Line, line+c.host+" --deadline 9m30s ||") {
					t.Errorf("line %s", p.Line)
				}
				squeezed := strings.NewReplacer("\n", "", "  ", "", `": `, `":`, `, "`, `,"`).Replace(strings.ReplaceAll(string(text), p.Line, "LINE"))
				if squeezed != c.text {
					t.Errorf("settings\n%s\nwant\n%s", squeezed, c.text)
				}
			}
		})
	}
}
