package imports_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/imports"
	"github.com/stopgate/stopgate/internal/host/imports/claude"
	"github.com/stopgate/stopgate/internal/host/imports/codex"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/host/imports/gemini"
	"github.com/stopgate/stopgate/internal/host/imports/opencode"
)

var translators = map[string]func([]draft.File, draft.Options) (*draft.Result, error){
	"settings.json": claude.Convert, "rules.toml": gemini.Convert, "default.rules": codex.Convert, "config.toml": codex.Convert, "opencode.json": opencode.Convert, "kilo.json": opencode.ConvertKilo,
}

// Proves K0j: the conversion of single rules of each host, call by call.
func TestRules(t *testing.T) {
	const allow, ask, deny = stopgate.Unattended, stopgate.Ask, stopgate.Deny
	for _, c := range []struct {
		name, file, text, tool, args string
		want                         stopgate.Mode
	}{
		{"server by name", "settings.json", `{"permissions":{"allow":["mcp__github"]}}`, "github__get", `{}`, allow},
		{"tools of a server", "settings.json", `{"permissions":{"allow":["mcp__github__get_*"]}}`, "github__get_x", `{}`, allow},
		{"other tools of it", "settings.json", `{"permissions":{"allow":["mcp__github__get_*"]}}`, "github__set_x", `{}`, ask},
		{"a broad denial", "settings.json", `{"permissions":{"allow":["mcp__github__get_x"],"deny":["mcp__github"]}}`, "github__get_x", `{}`, deny},
		{"a denial by glob", "settings.json", `{"permissions":{"allow":["mcp__github__get_x"],"deny":["mcp__*__get_*"]}}`, "github__get_x", `{}`, deny},
		{"every server", "settings.json", `{"permissions":{"deny":["mcp__*"]}}`, "jira__x", `{}`, deny},
		{"which is no tool that has a rule", "settings.json", `{"permissions":{"deny":["mcp__*"],"allow":["WebSearch"]}}`, "WebSearch", `{}`, allow},
		{"everything", "settings.json", `{"permissions":{"deny":["*"],"allow":["WebSearch"]}}`, "WebSearch", `{}`, deny},
		{"a glob that permits nothing", "settings.json", `{"permissions":{"allow":["Web*"]}}`, "WebSearch", `{}`, ask},
		{"domain", "settings.json", `{"permissions":{"allow":["WebFetch(domain:go.dev)"]}}`, "WebFetch", `{"url":"https://go.dev/x"}`, allow},
		{"not below it", "settings.json", `{"permissions":{"allow":["WebFetch(domain:go.dev)"]}}`, "WebFetch", `{"url":"https://x.go.dev/"}`, ask},
		{"denied below it", "settings.json", `{"permissions":{"deny":["WebFetch(domain:go.dev)"]}}`, "WebFetch", `{"url":"https://x.go.dev/"}`, deny},
		{"agent", "settings.json", `{"permissions":{"deny":["Task(Explore)"]}}`, "Agent", `{"subagent_type":"Explore"}`, deny},
		{"skill", "settings.json", `{"permissions":{"allow":["Skill(deploy *)"]}}`, "Skill", `{"skill":"deploy"}`, allow},
		{"a parameter that is not known", "settings.json", `{"permissions":{"deny":["Monitor(x:1)"]}}`, "Monitor", `{}`, deny},
		{"reading is free", "settings.json", `{"permissions":{}}`, "Grep", `{"pattern":"x"}`, allow},
		{"elsewhere it is not", "settings.json", `{}`, "Read", `{"file_path":"/etc/passwd"}`, ask},
		{"further directories", "settings.json", `{"permissions":{"additionalDirectories":["../other"]}}`, "Read", `{"file_path":"/srv/other/a"}`, allow},
		{"edits accepted", "settings.json", `{"permissions":{"defaultMode":"acceptEdits"}}`, "Edit", `{"file_path":"a.go"}`, allow},
		{"but for settings", "settings.json", `{"permissions":{"defaultMode":"acceptEdits"}}`, "Write", `{"file_path":".vscode/settings.json"}`, ask},
		{"an assignment for the wildcard", "settings.json", `{"permissions":{"deny":["Bash(* main)"]}}`, "Bash", `{"command":"FOO=1 main"}`, deny},
		{"an assignment by name", "settings.json", `{"permissions":{"deny":["Bash(FOO=1 rm *)"]}}`, "Bash", `{"command":"FOO=1 rm x"}`, deny},
		{"nothing asked", "settings.json", `{"permissions":{"defaultMode":"dontAsk","ask":["Bash(ls *)"]}}`, "Bash", `{"command":"ls"}`, deny},
		{"nor elsewhere", "settings.json", `{"permissions":{"defaultMode":"dontAsk"}}`, "WebSearch", `{}`, deny},
		{"planning", "settings.json", `{"permissions":{"defaultMode":"plan","allow":["Bash(ls *)"]}}`, "Bash", `{"command":"ls"}`, ask},
		{"a dead rule that denies", "settings.json", `{"permissions":{"deny":["Write(x)"]}}`, "Edit", `{"file_path":"x"}`, deny},
		{"edits and commands", "settings.json", `{"permissions":{"deny":["Edit(go.sum)"],"allow":["Bash"]}}`, "Bash", `{"command":"rm go.sum"}`, deny},
		{"reading and commands", "settings.json", `{"permissions":{"deny":["Read(.env)"],"allow":["Bash(cat *)"]}}`, "Bash", `{"command":"cat a/.env"}`, deny},

		{"a plain word in quotes", "settings.json", `{"permissions":{"allow":["Bash(ls *)"]}}`, "Bash", `{"command":"ls \"-l\" *.go && ls ~/x"}`, allow},
		{"an assignment that says little", "settings.json", `{"permissions":{"allow":["Bash(git *)"]}}`, "Bash", `{"command":"git log; GIT_PAGER=cat git log"}`, ask},
		{"but every command", "settings.json", `{"permissions":{"allow":["Bash(git *)","Bash"]}}`, "Bash", `{"command":"CI=1 git log"}`, allow},
		{"and what is denied", "settings.json", `{"permissions":{"allow":["Bash(git *)"],"deny":["Bash(git push *)"]}}`, "Bash", `{"command":"CI=1 git push x"}`, deny},
		{"a comment", "settings.json", `{"permissions":{"allow":["Bash(git *)"]}}`, "Bash", `{"command":"# look\ngit log"}`, ask},
		{"a text in the line", "settings.json", `{"permissions":{"allow":["Bash(cat *)"]}}`, "Bash", `{"command":"cat - <<'E'\nx\nE"}`, ask},
		{"what a command prints", "settings.json", `{"permissions":{"allow":["Bash(echo *)","Bash(git *)"]}}`, "Bash", `{"command":"echo \"$(git log)\""}`, ask},
		{"the message of a commit", "settings.json", `{"permissions":{"allow":["Bash(git *)"]}}`, "Bash", `{"command":"git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\""}`, allow},
		{"which others ask about", "opencode.json", `{"permission":{"bash":{"git *":"allow"}}}`, "bash", `{"command":"git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\""}`, ask},
		{"where nothing is asked", "settings.json", `{"permissions":{"defaultMode":"dontAsk","allow":["Bash(git *)"]}}`, "Bash", `{"command":"CI=1 git log"}`, deny},

		{"patches of the project", "config.toml", "sandbox_mode = 'workspace-write'", "apply_patch", `{"patch_paths":["src/a"]}`, allow},
		{"patches elsewhere", "config.toml", "sandbox_mode = 'workspace-write'", "apply_patch", `{"patch_paths":["../a"]}`, ask},
		{"no sandbox", "config.toml", "sandbox_mode = 'danger-full-access'", "apply_patch", `{"patch_paths":["src/a"]}`, ask},
		{"strictest counts", "default.rules", "prefix_rule(pattern=['git'])\nprefix_rule(pattern=['git','push'], decision='forbidden')", "Bash", `{"command":"git push"}`, deny},
		{"by its path", "default.rules", "prefix_rule(pattern=['git'], decision='forbidden')", "Bash", `{"command":"/usr/bin/git x"}`, deny},

		{"server", "rules.toml", "[[rule]]\nmcpName='jira'\ndecision='allow'\npriority=1", "jira__x", `{}`, allow},
		{"server and tool", "rules.toml", "[[rule]]\ntoolName='mcp_jira_x'\ndecision='deny'\npriority=1", "jira__x", `{}`, deny},
		{"tool of every server", "rules.toml", "[[rule]]\ntoolName='mcp_*_x'\ndecision='deny'\npriority=1", "jira__x", `{}`, deny},
		{"the higher priority", "rules.toml", "[[rule]]\ntoolName='replace'\ndecision='deny'\npriority=1\n[[rule]]\ntoolName='replace'\ndecision='allow'\npriority=2", "replace", `{"file_path":"a"}`, allow},
		{"another mode", "rules.toml", "[[rule]]\ntoolName='replace'\ndecision='allow'\npriority=1\nmodes=['yolo']", "replace", `{"file_path":"a"}`, ask},
		{"a command's pattern", "rules.toml", "[[rule]]\ntoolName='run_shell_command'\ncommandRegex='git (status|log)'\ndecision='allow'\npriority=1", "run_shell_command", `{"command":"git log"}`, allow},
		{"arguments as JSON", "rules.toml", "[[rule]]\ntoolName='run_shell_command'\nargsPattern='\"command\":\"(rm|dd) '\ndecision='deny'\npriority=1", "run_shell_command", `{"command":"rm x"}`, deny},
		{"arguments that cannot be said", "rules.toml", "[[rule]]\ntoolName='web_fetch'\nargsPattern='evil'\ndecision='deny'\npriority=1", "web_fetch", `{"prompt":"x"}`, deny},
		{"a question above a denial", "rules.toml", "[[rule]]\ntoolName='web_fetch'\nargsPattern='good'\ndecision='ask_user'\npriority=2\n[[rule]]\ntoolName='web_fetch'\ndecision='deny'\npriority=1", "web_fetch", `{"prompt":"x"}`, deny},
		{"reading", "rules.toml", "", "read_file", `{"file_path":"a"}`, allow},

		{"one for all", "opencode.json", `{"permission":"deny"}`, "anything", `{}`, deny},
		{"a tool of a server", "opencode.json", `{"permission":{"jira_*":"allow"}}`, "jira_x", `{}`, allow},
		{"secrets by itself", "opencode.json", `{}`, "read", `{"filePath":"a.env"}`, deny},
		{"unless a rule says otherwise", "opencode.json", `{"permission":{"read":"allow"}}`, "read", `{"filePath":"a.env"}`, allow},
		{"outside", "opencode.json", `{"permission":"allow"}`, "read", `{"filePath":"/etc/passwd"}`, ask},
		{"outside denied", "opencode.json", `{"permission":{"bash":"allow","external_directory":"deny"}}`, "bash", `{"command":"cat /etc/passwd"}`, deny},
		{"address", "opencode.json", `{"permission":{"webfetch":{"https://go.dev/*":"allow"}}}`, "webfetch", `{"url":"https://go.dev/x"}`, allow},
		{"patch", "opencode.json", `{"permission":{"edit":{"*":"allow","*.lock":"deny"}}}`, "apply_patch", `{"patchText":"*** Begin Patch\n*** Delete File: a.lock\n*** End Patch"}`, deny},
		{"an agent of another name", "opencode.json", `{"permission":{"bash":"allow"},"agent":{"plan":{"permission":{"bash":"deny"}}}}`, "bash", `{"command":"ls"}`, allow},
		{"a mode", "opencode.json", `{"permission":{"read":"allow"},"mode":{"main":{"permission":{"read":"deny"}}}}`, "read", `{"filePath":"a.go"}`, deny},
		{"secrets by a broad rule", "kilo.json", `{"permission":{"read":"allow"}}`, "read", `{"filePath":"a.env"}`, ask},
		{"secrets by the broadest", "kilo.json", `{"permission":"allow"}`, "read", `{"filePath":"conf/.env.local"}`, ask},
		{"their example", "kilo.json", `{"permission":{"read":"allow"}}`, "read", `{"filePath":"conf/.env.example"}`, allow},
		{"secrets by name", "kilo.json", `{"permission":{"read":{"*.env":"allow"}}}`, "read", `{"filePath":"a.env"}`, allow},
		{"other files", "kilo.json", `{"permission":{"read":"allow"}}`, "read", `{"filePath":"a.go"}`, allow},
		{"instructions", "kilo.json", `{"permission":{"edit":"allow"}}`, "write", `{"filePath":"AGENTS.md","content":""}`, ask},
		{"settings", "kilo.json", `{"permission":{"edit":"allow"}}`, "edit", `{"filePath":".kilo/kilo.json","oldString":"a","newString":"b"}`, ask},
		{"in a patch", "kilo.json", `{"permission":{"edit":"allow"}}`, "apply_patch", `{"patchText":"*** Begin Patch\n*** Delete File: AGENTS.md\n*** End Patch"}`, ask},
		{"other edits", "kilo.json", `{"permission":{"edit":"allow"}}`, "edit", `{"filePath":"a.go","oldString":"a","newString":"b"}`, allow},
		{"a process", "kilo.json", `{"permission":{"bash":{"*":"ask","git *":"allow","git push *":"deny"}}}`, "background_process", `{"action":"start","command":"git status"}`, allow},
		{"a denied process", "kilo.json", `{"permission":{"*":"allow","bash":{"npm publish *":"deny"}}}`, "background_process", `{"action":"start","command":"npm publish x"}`, deny},
		{"other sessions", "kilo.json", `{"permission":"allow"}`, "agent_manager", `{"action":"stop"}`, ask},
		{"a file that is sent", "kilo.json", `{"permission":{"*":"allow","read":{"secret/*":"deny"}}}`, "send_file", `{"path":"secret/x"}`, deny},
		{"a tool switched off", "opencode.json", `{"tools":{"bash":false}}`, "bash", `{"command":"ls"}`, deny},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := translators[c.file]([]draft.File{{Name: c.file, Text: []byte(c.text)}}, draft.Options{Root: root})
			if err != nil || r.Remarks != "" {
				t.Fatalf("%v %+v", err, r)
			}
			j := judgeOf(t, r)
			if v := j.judge(c.tool, []byte(c.args)); v.Mode != c.want {
				t.Errorf("%v (%s), want %v\n%s", v.Mode, v.Code, c.want, j.text)
			}
		})
	}
}

// Proves K0j: a source that cannot be parsed completely is an error with its position, and never a
// policy.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"settings.json", `{"permissions":{"deny":["Bash(rm *)"]`, "settings.json: "},
		{"settings.json", "{\n\"permissions\":{\"deny\":[1]}}", "settings.json:2: a rule is no string"},
		{"settings.json", `{"permissions":{"deny":"Bash"}}`, "deny is no list"},
		{"settings.json", `{"permissions":{"deny":["a"],"deny":[]}}`, "settings.json: "},
		{"settings.json", `{"permissions":[]}`, "permissions is no object"},
		{"default.rules", "for x in y:\n  f()", "only calls"},
		{"default.rules", "\nprefix_rule(pattern = X)", "default.rules:2: unsupported value: only strings and lists"},
		{"default.rules", "prefix_rule(['a'])", "need their names"},
		{"default.rules", "prefix_rule(pattern=['a'] + ['b'])", "only strings and lists"},
		{"default.rules", "prefix_rule(pattern=['a'], pattern=['b'])", "given twice"},
		{"default.rules", "prefix_rule(pattern=[], decision='forbidden')", "pattern is no list of words"},
		{"default.rules", "prefix_rule(pattern=['a'], decision='maybe')", "it can be allow, prompt or forbidden"},
		{"default.rules", "prefix_rule(pattern=['a'], effect='x')", "effect is not known"},
		{"default.rules", "prefix_rule(pattern=['a\\q'])", "escape"},
		{"default.rules", "prefix_rule(pattern=['a", "no end"},
		{"default.rules", "prefix_rule(pattern=['a']) if x else None", "only calls"},
		{"default.rules", "other_rule(pattern=['a'])", "no such rule is known"},
		{"config.toml", "x = ", "config.toml"},
		{"rules.toml", "[[rule]]\ndecision='allow'", "priority is no number"},
		{"rules.toml", "[[rule]]\ndecision='ask'\npriority=1", "allow, deny or ask_user"},
		{"rules.toml", "[[rule]]\ndecision='allow'\npriority=1000", "from 0 to 999"},
		{"rules.toml", "[[rule]]\ndecision='deny'\npriority=1\nonly='x'", "only is not known"},
		{"rules.toml", "[[rule]]\ndecision='deny'\npriority=1\ntoolName='x'\ncommandPrefix='y'", "run_shell_command"},
		{"rules.toml", "rules = 1", "only [[rule]]"},
		{"opencode.json", `{"permission":{"bash":true}}`, "allow, ask or deny"},
		{"opencode.json", `{"permission":{"bash":{"*":"maybe"}}}`, "allow, ask or deny"},
		{"opencode.json", `{"permission":[]}`, "allow, ask or deny"},
		{"opencode.json", `{"permission":{/* `, "opencode.json"},
	} {
		r, err := translators[c.file]([]draft.File{{Name: c.file, Text: []byte(c.text)}}, draft.Options{Root: root})
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
		var position *draft.Error
		if errors.As(err, &position) && position.File != c.file {
			t.Errorf("%q: the place is %+v", c.text, position)
		}
	}
}

// Proves K0j: rules files may use every Starlark syntax for strings and lists.
func TestStarlark(t *testing.T) {
	text := "# mine\nprefix_rule(\n  pattern = [\"gh\", ['pr', r'''list''', \"\\x76iew\",],], # words\n  decision = \"allow\",\n  match = [\"gh pr list x\", ['gh', 'pr', 'view']], justification = None,\n) ; prefix_rule(pattern=[\"\"\"rm\"\"\"],decision='forbidden',justification='use \\'trash\\'')\n"
	r, err := codex.Convert([]draft.File{{Name: "default.rules", Text: []byte(text)}}, draft.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`["gh pr", "gh list", "gh view"]`, `match = ["gh pr list x", "gh pr view"]`, `reason = "use 'trash'"`} {
		if !strings.Contains(string(r.Policy), want) {
			t.Errorf("no %s in\n%s", want, r.Policy)
		}
	}
	if len(r.Rules) != 2 || r.Rules[0].Line != 2 || r.Rules[1].Line != 6 {
		t.Errorf("%+v", r.Rules)
	}
}

// Every source of rules that a host names has a conversion.
func TestEverySourceHasAConversion(t *testing.T) {
	for _, h := range hook.All() {
		if h.Rules.Source == "" {
			continue
		}
		if _, err := imports.Read(h.Rules.Source, nil, draft.Options{Root: root}); err != nil {
			t.Errorf("%s: %v", h.Name, err)
		}
	}
}
