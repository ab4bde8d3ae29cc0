package protected_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Proves K2, S4.
func TestProtectedPaths(t *testing.T) {
	p := protected.New(project, "/srv/proj/rules/agent.toml", "local.toml")
	none, ask, deny := condition.Unprotected, condition.AskedTarget, condition.DeniedTarget
	for _, c := range []struct {
		value string
		want  condition.Protection
		entry string
	}{
		{"src/a", none, ""},
		{".git", none, ""},
		{".github/workflows/ci.yml", none, ""},
		{"docs/stopgate.md", none, ""},
		{"src/*.go", none, ""},
		{"**/*", none, ""},
		{"app/[id]/page.tsx", none, ""},
		{".git/hooks/pre-commit", ask, "**/.git/hooks/**"},
		{".git/hooks", ask, "**/.git/hooks/**"},
		{".git/config", ask, "**/.git/{config,config.worktree}"},
		{".GIT/Config", ask, "**/.git/{config,config.worktree}"},
		{"GIT~1/config", ask, "**/.git/{config,config.worktree}"},
		{".g\u200cit/config", ask, "**/.git/{config,config.worktree}"},
		{"src/../.git/hooks/x", ask, "**/.git/hooks/**"},
		{"sub/.git/hooks/x", ask, "**/.git/hooks/**"},
		{"/srv/proj/.git/config", ask, "**/.git/{config,config.worktree}"},
		{"/elsewhere/.git/config", ask, "**/.git/{config,config.worktree}"},
		{".git/{hooks,x}/y", ask, "**/.git/hooks/**"},
		{".git/ho*/y", ask, "**/.git/hooks/**"},
		{".*/x", condition.UnknownTarget, "a path of which it is not known what it names"},
		{"a\xff", condition.UnknownTarget, "a path of which it is not known what it names"},
		{"{.git,x}/*/..", none, ""},
		{".git/*", ask, "**/.git/hooks/**"},
		{".claude/settings.json", ask, "**/.claude/settings*.json"},
		{".claude/settings.local.json", ask, "**/.claude/settings*.json"},
		{"~/.claude/settings.json", ask, "**/.claude/settings*.json"},
		{".claude/hooks/x.sh", ask, "**/.claude/{hooks,agents,commands}/**"},
		{".claude/agents/free.md", ask, "**/.claude/{hooks,agents,commands}/**"},
		{"~/.claude/skills/x/SKILL.md", ask, "**/.claude/skills/**/SKILL.md"},
		{".claude/skills/x/scripts/y.py", none, ""},
		{"~/.claude/plugins/cache/x/1/hooks/hooks.json", ask, "**/.claude/plugins/**/hooks/**"},
		{"/home/u/.codex/config.toml", ask, "**/.codex/{*.toml,hooks.json}"},
		{".codex/hooks.json", ask, "**/.codex/{*.toml,hooks.json}"},
		{".gemini/settings.json", ask, "**/.gemini/{settings.json,trustedFolders.json,.env}"},
		{".cUrSoR/mcp.json", ask, "**/.cursor/*.json"},
		{".github/hooks/x.json", ask, "**/.github/{hooks,copilot,agents,prompts,plugin}/**"},
		{".vscode/settings.json", ask, "**/.vscode/{settings,mcp,tasks}.json"},
		{"opencode.json", ask, "**/opencode.{json,jsonc}"},
		{".opencode/plugin/x.ts", ask, "**/.opencode/**"},
		{".qwen/settings.json", ask, "**/.qwen/{settings.json,trustedFolders.json,.env}"},
		{".crush.json", ask, "**/{.crush,crush}.json"},
		{"stopgate.toml", ask, "**/stopgate.toml"},
		{"sub/stopgate.toml", ask, "**/stopgate.toml"},
		{`sub\stopgate.toml`, ask, "**/stopgate.toml"},
		{"rules/agent.toml", ask, "/srv/proj/rules/agent.toml"},
		{"local.toml", ask, "local.toml"},
		{"x/local.toml", none, ""},
		{"~/.local/state/stopgate/stopgate.db", deny, "**/.local/state/stopgate/**"},
		{"/run/user/1000/stopgate/api.sock", deny, "/run/user/*/stopgate/**"},
		{"x/stopgate.sock", deny, "**/stopgate.sock"},
		{"/home/u/.config/stopgate/token", deny, "**/.config/stopgate/{token,tokens,keys}*"},
		{"/home/u/.config/stopgate/stopgate.toml", ask, "**/stopgate.toml"},
	} {
		got, entry := p.Path([]byte(c.value))
		if got != c.want || entry != c.entry {
			t.Errorf("%q: %v %q, want %v %q", c.value, got, entry, c.want, c.entry)
		}
	}
}

// Proves K2, S4.
func TestProtectedCommands(t *testing.T) {
	none, ask, deny := condition.Unprotected, condition.AskedTarget, condition.DeniedTarget
	for _, env := range []condition.Env{project, nowhere} {
		p := protected.New(env)
		for _, c := range []struct {
			line  string
			want  condition.Protection
			entry string
		}{
			{"git status", none, ""},
			{"go test ./...", none, ""},
			{"ls *", none, ""},
			{"git config --get user.name", none, ""},
			{"git config list", none, ""},
			{"git config core.hooksPath /tmp/x", ask, "git config"},
			{"/usr/bin/git -C x config a b", ask, "git config"},
			{"cp x .git/hooks/pre-commit", ask, "**/.git/hooks/**"},
			{"echo x >.git/config", ask, "**/.git/{config,config.worktree}"},
			{"echo x > '.claude'/settings.json", ask, "**/.claude/settings*.json"},
			{"curl -o.git/config x", ask, "**/.git/{config,config.worktree}"},
			{"curl --output=.git/config x", ask, "**/.git/{config,config.worktree}"},
			{"dd of=.claude/settings.json", ask, "**/.claude/settings*.json"},
			{"cat <<E | tee stopgate.toml\nE", ask, "**/stopgate.toml"},
			{"stopgate approvals approve 1", deny, "stopgate approvals"},
			{"/usr/local/bin/stopgate grants list", deny, "stopgate grants"},
			{"true && sto''pgate uninstall claude", deny, "stopgate uninstall"},
			{"stopgate mcp pin x", deny, "stopgate pin"},
			{"stopgate check stopgate.toml", ask, "**/stopgate.toml"},
			{"stopgate version", none, ""},
			{"curl --unix-socket /run/stopgate/api.sock http://x/", deny, "/run/stopgate/**"},
			{"cat stopgate.toml; rm -rf ~/.local/state/stopgate", deny, "**/.local/state/stopgate/**"},
		} {
			got, entry := p.Command([]byte(c.line))
			if got != c.want || entry != c.entry {
				t.Errorf("%q: %v %q, want %v %q", c.line, got, entry, c.want, c.entry)
			}
		}
	}
}

// Proves K2, H20: every path that a line of the list matches has one of the line's names, by which
// it is looked up.
func TestProtectedNamesAreInEveryPath(t *testing.T) {
	for _, l := range protected.New(nowhere).Lines() {
		var named []*regular.Language
		for name := range strings.SplitSeq(l.Names, "|") {
			end := "(/|$)"
			if prefix, ok := strings.CutSuffix(name, "*"); ok {
				name, end = prefix, ""
			}
			if name != strings.ToLower(name) || name == "" {
				t.Errorf("%s: the name %q is not in lower case", l.Glob, name)
			}
			p, err := regular.Compile("(^|/)" + strings.ReplaceAll(name, ".", `\.`) + end)
			if err != nil {
				t.Fatal(err)
			}
			named = append(named, p.Language())
		}
		if answer, path := regular.Union(named...).Includes(l.Paths, regular.DefaultBudget); answer != regular.Yes {
			t.Errorf("%s: %q has none of the names %q (%v)", l.Glob, path, l.Names, answer)
		}
	}
}

// Proves K2, H20: the list gives the same results as its lines as conditions of guards, also if the
// root itself has a name of the list.
func TestProtectedAgreesWithItsLines(t *testing.T) {
	names := []string{
		".git", "config", "hooks", "x", "src", "stopgate.toml", "STOPGATE.TOML", ".ﬁt", "etc", "gitconfig", "tmp", "stopgate-1", "stopgate", "lib", "var",
		".claude", "settings.json", "settings.local.json", ".GIT", "modules", ".vscode", "tasks.json", ".pi", "run", "user", "1000", "a.token", "stopgate2.token",
		"policy.toml", "crush.json", ".config", "git", "srv", "proj", "É",
	}
	for _, env := range []condition.Env{project, nowhere, {Root: "/etc"}, {Root: "/home/u/.git"}, {Root: "/tmp/stopgate-1"}} {
		list := protected.New(env, "/srv/proj/policy.toml")
		type line struct {
			protected.ProtectedLine
			*match.Matcher
		}
		var lines []line
		for _, l := range list.Lines() {
			lines = append(lines, line{l, compile(t, spec(condition.Glob, l.Glob), expands, restrictive, env)})
		}
		lines = append(lines, line{protected.ProtectedLine{Glob: "/srv/proj/policy.toml", Protection: condition.AskedTarget},
			compile(t, spec(condition.Const, "/srv/proj/policy.toml"), expands, restrictive, env)})
		r := rand.New(rand.NewPCG(4, 4))
		touched := 0
		for range 1500 {
			var parts []string
			for range 1 + r.IntN(4) {
				parts = append(parts, names[r.IntN(len(names))])
			}
			path := []string{"", "/", "/srv/proj/", "./"}[r.IntN(4)] + strings.Join(parts, "/")
			want, entry := condition.Unprotected, ""
			for _, l := range lines {
				if l.Match([]byte(path)) {
					want, entry = l.Protection, l.Glob
					break
				}
			}
			var v condition.Value
			v.Reset([]byte(path))
			got, found := list.Path([]byte(path))
			if second, same := list.PathOf(&v); got != want || second != want || found != entry || same != entry {
				t.Fatalf("env %v: %q is %v (%s), by the lines %v (%s)", env, path, got, found, want, entry)
			}
			if want != condition.Unprotected {
				touched++
			}
		}
		if touched < 40 {
			t.Errorf("env %v: only %d paths touch the list", env, touched)
		}
	}
}

// Proves S4: wildcards that match the gate's sockets and tokens outside of the project without
// naming them require an approval.
func TestProtectedByWildcards(t *testing.T) {
	p := protected.New(project)
	for line, want := range map[string]condition.Protection{
		"cat /run/user/*/*/*":                condition.AskedTarget,
		"cat /run/user/?000/*":               condition.AskedTarget,
		"head -1 ../*/*":                     condition.AskedTarget,
		"cat /run/user/1000/stopgate*.token": condition.DeniedTarget,
		"cat " + project.Root + "/src/*":     condition.Unprotected,
		"cat src/*":                          condition.Unprotected,
		"cat /usr/include/*.h":               condition.Unprotected,
		"ls /run/user/*/*":                   condition.Unprotected, // shows only names
	} {
		if got, entry := p.Command([]byte(line)); got != want {
			t.Errorf("%s: %v by %q, want %v", line, got, entry, want)
		}
	}
}

// Proves K2, H20: on every host an agent cannot change its own hooks, permissions, extensions,
// subagents, commands or MCP servers without an approval; its other files are not protected.
func TestProtectedHosts(t *testing.T) {
	p := protected.New(project)
	for host, paths := range map[string]struct{ asked, free []string }{
		"codex": {
			[]string{
				"~/.codex/config.toml", "~/.codex/deep.config.toml", ".codex/config.toml", "~/.codex/hooks.json", ".codex/hooks/x.sh", "~/.codex/rules/default.rules",
				".codex/agents/free.toml", "~/.codex/prompts/go.md", "~/.codex/plugins/cache/x/hooks.json", ".codex/skills/x/SKILL.md", "/etc/codex/managed_config.toml",
				".agents/skills/x/SKILL.md", ".agents/plugins/marketplace.json",
			},
			[]string{"~/.codex/sessions/a.jsonl", ".codex/notes.md", ".agents/skills/x/scripts/y.py", "AGENTS.md"},
		},
		"gemini-cli": {
			[]string{
				"~/.gemini/settings.json", "~/.gemini/trustedFolders.json", ".gemini/.env", ".gemini/policies/a.toml", ".gemini/extensions/x/gemini-extension.json",
				".gemini/agents/x.md", "~/.gemini/commands/x.toml", ".gemini/hooks/x.sh", ".gemini/skills/x/SKILL.md", "/etc/gemini-cli/settings.json",
			},
			[]string{"~/.gemini/tmp/x/logs.json", "GEMINI.md"},
		},
		"cursor": {
			[]string{
				".cursor/hooks.json", "~/.cursor/mcp.json", "~/.cursor/cli-config.json", ".cursor/cli.json", ".cursor/permissions.json", ".cursor/sandbox.json", ".cursor/hooks/x.sh",
				".cursor/agents/x.md", ".cursor/commands/x.md", ".cursor/skills/x/SKILL.md", "~/.cursor/extensions/a/package.json", "~/.cursor/plugins/x/plugin.json",
				"~/.config/cursor/cli-config.json", "/etc/cursor/hooks.json",
			},
			[]string{".cursor/rules/style.mdc", ".cursor/plans/a.md"},
		},
		"copilot-cli": {
			[]string{
				".github/hooks/x.json", ".github/agents/x.agent.md", "~/.github/agents/x.md", ".github/prompts/x.prompt.md", ".github/skills/x/SKILL.md", ".github/mcp.json",
				".github/plugin/plugin.json", "~/.copilot/mcp-config.json", "~/.copilot/config.json", "~/.copilot/hooks/x.json", "~/.config/.copilot/config.json",
				".vscode/mcp.json", ".mcp.json", "/etc/github-copilot/policy.d/x.json",
			},
			[]string{".github/workflows/ci.yml", ".github/copilot-instructions.md"},
		},
		"qwen-code": {
			[]string{
				".qwen/settings.json", "~/.qwen/trustedFolders.json", ".qwen/.env", ".qwen/hooks/x.sh", ".qwen/extensions/x/qwen-extension.json", ".qwen/agents/x.md",
				".qwen/commands/x.md", ".qwen/skills/x/SKILL.md", "/etc/qwen-code/settings.json",
			},
			[]string{".qwen/todos/a.json", "QWEN.md"},
		},
		"crush": {
			[]string{
				"crush.json", ".crush.json", ".crushrc", "crushrc", "~/.config/crush/crushrc", "~/.config/crush/crush.json", "~/.local/share/crush/crush.json",
				".crush/commands/x.md", ".crush/skills/x/SKILL.md", "~/.config/agents/skills/x/SKILL.md",
			},
			[]string{".crush/logs/crush.log", "src/crush.go"},
		},
		"opencode": {
			[]string{
				"opencode.json", "opencode.jsonc", ".opencode/plugins/x.ts", ".opencode/agents/x.md", ".opencode/commands/x.md", "~/.config/opencode/opencode.json",
				"/etc/opencode/opencode.json",
			},
			[]string{"~/.local/share/opencode/log/x.log"},
		},
		"cline": {
			[]string{
				".clinerules/hooks/PreToolUse", ".clinerules/workflows/x.md", ".clinerules/skills/x/SKILL.md", "~/Documents/Cline/Hooks/PreToolUse", "~/Documents/Cline/Plugins/x.js",
				"~/.cline/hooks/PreToolUse", ".cline/hooks/PreToolUse", "~/.cline/plugins/x.js", "~/.cline/agents/x.md", "~/.cline/data/settings/cline_mcp_settings.json",
				"~/.cline/data/settings/global-settings.json", "~/.cline/skills/x/SKILL.md", "~/.cline/cron/x.md",
				"~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
			},
			[]string{".clinerules/style.md", "~/.cline/data/sessions/x.json"},
		},
		"pi": {
			[]string{".pi/extensions/x.ts", "~/.pi/agent/settings.json", "~/.pi/agent/skills/x/SKILL.md", ".pi/prompts/x.md"},
			[]string{"src/pi/x.ts"},
		},
	} {
		for _, path := range paths.asked {
			if got, _ := p.Path([]byte(path)); got != condition.AskedTarget {
				t.Errorf("%s: %s: %v", host, path, got)
			}
			if got, _ := p.Command([]byte("tee " + path)); got != condition.AskedTarget {
				t.Errorf("%s: tee %s: %v", host, path, got)
			}
		}
		for _, path := range paths.free {
			if got, entry := p.Path([]byte(path)); got != condition.Unprotected {
				t.Errorf("%s: %s is %v by %s", host, path, got, entry)
			}
		}
	}
}
