package match_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/policy/match"
)

// Proves K2, S4.
func TestProtectedPaths(t *testing.T) {
	p := match.NewProtected(project, "/srv/proj/rules/agent.toml", "local.toml")
	none, ask, deny := match.Unprotected, match.ProtectedAsk, match.ProtectedDenied
	for _, c := range []struct {
		value string
		want  match.Protection
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
		{".*/x", ask, "a path with more readings than are listed"},
		{"a\xff", ask, "a path with more readings than are listed"},
		{"{.git,x}/*/..", none, ""},
		{".git/*", ask, "**/.git/hooks/**"},
		{".claude/settings.json", ask, "**/.claude/settings*.json"},
		{".claude/settings.local.json", ask, "**/.claude/settings*.json"},
		{"~/.claude/settings.json", ask, "**/.claude/settings*.json"},
		{"/home/u/.codex/config.toml", ask, "**/.codex/{config.toml,hooks.json}"},
		{".codex/hooks.json", ask, "**/.codex/{config.toml,hooks.json}"},
		{".gemini/settings.json", ask, "**/.gemini/{settings.json,.env}"},
		{".cUrSoR/mcp.json", ask, "**/.cursor/*.json"},
		{".github/hooks/x.json", ask, "**/.github/{hooks,copilot}/**"},
		{".vscode/settings.json", ask, "**/.vscode/{settings,mcp,tasks}.json"},
		{"opencode.json", ask, "**/opencode.{json,jsonc}"},
		{".opencode/plugin/x.ts", ask, "**/.opencode/**"},
		{".qwen/settings.json", ask, "**/.qwen/settings.json"},
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
	none, ask, deny := match.Unprotected, match.ProtectedAsk, match.ProtectedDenied
	for _, env := range []match.Env{project, nowhere} {
		p := match.NewProtected(env)
		for _, c := range []struct {
			line  string
			want  match.Protection
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

// Proves K2, H20: what is cleared by the names in a path touches nothing, and what has
// one of the names is judged by the whole list: both ways agree for every mixture of them.
func TestProtectedNamesAgreeWithTheList(t *testing.T) {
	names := []string{
		".git", "config", "hooks", "x", "src", "stopgate.toml", "STOPGATE.TOML", ".ﬁt", "etc", "gitconfig", "tmp", "stopgate-1", "stopgate", "lib", "var",
		".claude", "settings.json", "settings.local.json", ".GIT", "modules", ".vscode", "tasks.json", ".pi", "run", "user", "1000", "a.token", "stopgate2.token",
		"policy.toml", "crush.json", ".config", "git", "srv", "proj", "É",
	}
	for _, env := range []match.Env{project, nowhere, {Root: "/etc"}, {Root: "/home/u/.git"}, {Root: "/tmp/stopgate-1"}} {
		list := match.NewProtected(env, "/srv/proj/policy.toml")
		r := rand.New(rand.NewPCG(4, 4))
		touched := 0
		for range 5000 {
			var parts []string
			for range 1 + r.IntN(4) {
				parts = append(parts, names[r.IntN(len(names))])
			}
			path := []string{"", "/", "/srv/proj/", "./"}[r.IntN(4)] + strings.Join(parts, "/")
			quick, entry := list.Path([]byte(path))
			var v match.Value
			v.Reset([]byte(path))
			slow, line := list.Judge(&v)
			if again, _ := list.PathOf(&v); quick != slow || again != slow || entry != line {
				t.Fatalf("env %v: %q is %v (%s), by the whole list %v (%s)", env, path, quick, entry, slow, line)
			}
			if slow != match.Unprotected {
				touched++
			}
		}
		if touched < 100 {
			t.Errorf("env %v: only %d paths touch the list", env, touched)
		}
	}
}
