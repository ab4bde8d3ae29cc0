package protected_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/protected"
)

// Proves K2, S4: files at locations set by the environment are protected as at their default
// locations, however their path is written; files next to them are not.
func TestProtectedElsewhere(t *testing.T) {
	env := condition.Env{Root: "/srv/proj", Home: "/home/u", Settings: &condition.Settings{
		Moved: []condition.Moved{
			{From: ".codex", To: "/srv/Codex [1]*/"}, {From: ".claude", To: "/srv/proj/conf/claude"}, {From: ".pi/agent", To: "/opt/pi"},
			{From: ".config", To: "/data/config"}, {From: ".local/state", To: "/data/state"}, {From: ".copilot", To: "/opt/cop/./x/.."},
			{From: ".gemini", To: "relative/.x"}, {From: ".gemini", To: "/"}, {From: ".gemini", To: ""}, {From: "", To: "/opt/none"},
			{From: ".qwen", To: "/home/u/.qwen"},
		},
		Asked:  []string{"/data/gitconfig", "not/absolute", "/data/Straße"},
		Denied: []string{"/data/gate/own.db", "/data/gate/hooks"},
	}}
	p := protected.New(env, "local.toml")
	none, ask, deny := condition.Unprotected, condition.AskedTarget, condition.DeniedTarget
	for _, c := range []struct {
		value string
		want  condition.Protection
		entry string
	}{
		{"/srv/Codex [1]*/config.toml", ask, "/srv/Codex [1]*/{*.toml,hooks.json}"},
		{"/srv/codex [1]*/hooks.JSON", ask, "/srv/Codex [1]*/{*.toml,hooks.json}"},
		{"../Codex [1]*/rules/x", ask, "/srv/Codex [1]*/{hooks,rules,agents,prompts,plugins}/**"},
		{"/srv/Codex [1]*/sessions/x.jsonl", none, ""},
		{"/srv/Codex 1x/config.toml", none, ""},
		{"conf/claude/settings.json", ask, "/srv/proj/conf/claude/settings*.json"},
		{"conf/./x/../claude/settings.local.json", ask, "/srv/proj/conf/claude/settings*.json"},
		{"/srv/proj/conf/claude/hooks/a.sh", ask, "/srv/proj/conf/claude/{hooks,agents,commands}/**"},
		{"conf/claude/todos/a.json", none, ""},
		{"conf/other/settings.json", none, ""},
		{"conf/claude/sett*.json", ask, "/srv/proj/conf/claude/settings*.json"},
		{"/opt/pi/extensions/x.js", ask, "/opt/pi/**"},
		{"/opt/cop/hooks/x.json", ask, "/opt/cop/**"},
		{"/data/config/stopgate/stopgate.toml", ask, "**/stopgate.toml"},
		{"/data/config/stopgate/trusted", ask, "/data/config/stopgate/**"},
		{"/data/config/stopgate/tokens.toml", deny, "/data/config/stopgate/{token,tokens,keys}*"},
		{"/data/config/crush/x", ask, "/data/config/crush/**"},
		{"/data/config/htop/htoprc", none, ""},
		{"/data/state/stopgate/stopgate.db", deny, "/data/state/stopgate/**"},
		{"/data/state/other/x.db", none, ""},
		{"/data/gitconfig", ask, "/data/gitconfig"},
		{"/data/stra\u00dfe/x", ask, "/data/Straße"},
		{"/data/STRASSE", ask, "/data/Straße"},
		{"/data/gitconfigs", none, ""},
		{"/data/gate/own.db", deny, "/data/gate/own.db"},
		{"/data/gate/hooks/x.project", deny, "/data/gate/hooks"},
		{"/data/gate/other.db", none, ""},
		{"/opt/none", none, ""},
		{"/settings.json", none, ""},
		{"relative/.x/settings.json", none, ""},
		{"not/absolute", none, ""},
		{"~/.qwen/settings.json", ask, "**/.qwen/{settings.json,trustedFolders.json,.env}"},
		{"local.toml", ask, "local.toml"},
	} {
		if got, entry := p.Path([]byte(c.value)); got != c.want || entry != c.entry {
			t.Errorf("%s: %v %q, want %v %q", c.value, got, entry, c.want, c.entry)
		}
	}
	for line, want := range map[string]condition.Protection{
		"echo '{}' > conf/claude/settings.json":               ask,
		"cp x.json conf/claude/settings.json":                 ask,
		"cd conf/claude && cat x > settings.json":             ask,
		"sed -i s/a/b/ '/srv/Codex [1]*/config.toml'":         ask,
		"sqlite3 /data/gate/own.db 'delete from grants'":      deny,
		"rm -r /data/state/stopgate":                          deny,
		"git commit -m x && cat conf/claude/todos/a.json":     none,
		"tee /opt/pi/extensions/x.js < y":                     ask,
		"python3 -c 'print(1)' --out=/data/gate/hooks/a.lock": deny,
	} {
		if got, entry := p.Command([]byte(line)); got != want {
			t.Errorf("%s: %v %q, want %v", line, got, entry, want)
		}
	}
}
