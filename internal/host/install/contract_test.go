package install_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/host/install"
)

// Proves S47, S51: installing writes the file, the events, the matchers and the timeouts in the
// unit of each host, and the command answers before they end.
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
		{"kilo", ".config/kilo/plugins/stopgate.js", ".kilo/plugins/stopgate.js", ""},
		{"pi", ".pi/agent/extensions/stopgate.js", ".pi/extensions/stopgate.js", ""},
	} {
		t.Run(c.host, func(t *testing.T) {
			for want, at := range map[string]install.Location{
				"/home/u/" + c.user:    {Scope: install.User, Home: "/home/u"},
				"/srv/pr/" + c.project: {Scope: install.Project, Dir: "/srv/pr"},
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
				var others []string
				for _, q := range p.Also {
					others = append(others, q.File[strings.LastIndex(q.File, "/")+1:])
				}
				if got := strings.Join(others, " "); c.host == "cline" && got != "PostToolUse UserPromptSubmit" || c.host != "cline" && got != "" {
					t.Errorf("files beside: %s", got)
				}
				if c.text == "" {
					continue // a script that belongs to stopgate
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

// The settings locations that environment variables select, by the documentation and behaviour of
// the hosts.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct{ host, variable, value, want string }{
		{"claude-code", "CLAUDE_CONFIG_DIR", "/x/claude", "/x/claude/settings.json"},
		{"codex", "CODEX_HOME", "/x/codex", "/x/codex/hooks.json"},
		{"codex", "CODEX_HOME", "~/codex", "/home/u/codex/hooks.json"},
		{"codex", "CODEX_HOME", "", "/home/u/.codex/hooks.json"},
		{"codex", "CODEX_HOME", "codex", ""},
		{"gemini-cli", "GEMINI_CLI_HOME", "/x", "/x/.gemini/settings.json"},
		{"qwen-code", "QWEN_HOME", "/x/qwen", "/x/qwen/settings.json"},
		{"copilot-cli", "COPILOT_HOME", "/x/copilot", "/x/copilot/hooks/stopgate.json"},
		{"crush", "XDG_CONFIG_HOME", "/x/c", "/x/c/crush/crush.json"},
		{"opencode", "XDG_CONFIG_HOME", "/x/c", "/x/c/opencode/plugins/stopgate.js"},
		{"kilo", "XDG_CONFIG_HOME", "/x/c", "/x/c/kilo/plugins/stopgate.js"},
		{"pi", "PI_CODING_AGENT_DIR", "/x/pi", "/x/pi/extensions/stopgate.js"},
		{"cline", "XDG_CONFIG_HOME", "/x/c", "/home/u/Documents/Cline/Hooks/PreToolUse"},
	} {
		at := install.Location{Scope: install.User, Home: "/home/u", Dir: "/srv/pr", Getenv: func(name string) string {
			if name == c.variable {
				return c.value
			}
			return ""
		}}
		p, err := install.Make(c.host, at, install.Command{Program: "/bin/stopgate"})
		if (err != nil) != (c.want == "") || err == nil && p.File != c.want {
			t.Errorf("%s with %s=%s: %v, %v", c.host, c.variable, c.value, p, err)
		}
		at.Scope = install.Project
		if p, err := install.Make(c.host, at, install.Command{Program: "/bin/stopgate"}); err != nil || !strings.HasPrefix(p.File, "/srv/pr/") {
			t.Errorf("%s in a project with %s=%s: %v, %v", c.host, c.variable, c.value, p, err)
		}
	}
}
