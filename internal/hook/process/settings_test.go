package process_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves K2, S4: the locations of hosts' settings and of the gate's own state follow the
// environment and links.
func TestSettings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		url  string
		want *condition.Settings
	}{
		{"nothing is said", nil, "", nil},
		{"it is where it would be", map[string]string{"XDG_CONFIG_HOME": "/home/u/.config/", "CODEX_HOME": "~/.codex", "XDG_STATE_HOME": "/home/u/.local/state"}, "memory", nil},
		{"what is relative is nowhere", map[string]string{"CODEX_HOME": "codex"}, "sqlite:s.db", nil},
		{"it is elsewhere", map[string]string{"CODEX_HOME": "/srv/codex", "PI_CODING_AGENT_DIR": "~/pi", "OPENCODE_CONFIG": "/srv/oc.json"}, "", &condition.Settings{
			Moved: []condition.Moved{{From: ".codex", To: "/srv/codex"}, {From: ".pi/agent", To: "/home/u/pi"}},
			Asked: []string{"/srv/oc.json"},
		}},
		{"behind a link", map[string]string{"XDG_STATE_HOME": dir + "/link"}, "", &condition.Settings{
			Moved: []condition.Moved{{From: ".local/state", To: dir + "/link"}, {From: ".local/state", To: dir}},
		}},
		{"a store", nil, "sqlite:/srv/own.db", &condition.Settings{Denied: []string{"/srv/own.db", "/srv/own.db-wal", "/srv/own.db-shm", "/srv/own.db-head", "/srv/own.db-spool", "/srv/hooks"}}},
	} {
		got := process.Settings(config.Account{Getenv: func(name string) string {
			if name == "HOME" {
				return "/home/u"
			}
			return c.env[name]
		}}, "", c.url)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Proves K2, I13: every variable that moves the files written by `install` is known to the
// protected list, or keeps the path as in the list; and a resident receives all inputs of an
// answer.
func TestVariablesOfHosts(t *testing.T) {
	var read []string
	env := map[string]string{"HOME": "/home/u"}
	account := config.Account{Getenv: func(name string) string {
		read = append(read, name)
		return env[name]
	}}
	process.Settings(account, "", "")
	slices.Sort(read)
	for _, name := range slices.Compact(read) {
		if !slices.Contains(ask.Variables(), name) {
			t.Errorf("a resident does not hear of %s", name)
		}
	}
	for _, host := range hook.Names() {
		var asked []string
		at := install.Location{Scope: install.User, Home: "/home/u", Getenv: func(name string) string {
			asked = append(asked, name)
			return env[name]
		}}
		if _, err := install.Make(host, at, install.Command{Program: "/usr/bin/stopgate"}); err != nil {
			continue // nothing is installed for it
		}
		for _, name := range slices.Compact(asked) {
			env[name] = "/else/where"
			p, err := install.Make(host, at, install.Command{Program: "/usr/bin/stopgate"})
			if err != nil {
				t.Fatal(err)
			}
			list := protected.New(condition.Env{Root: "/srv/proj", Home: "/home/u", Settings: process.Settings(account, "", "")})
			if got, _ := list.Path([]byte(p.File)); got != condition.AskedTarget {
				t.Errorf("%s: with %s, %s is not protected", host, name, p.File)
			}
			delete(env, name)
		}
	}
}

// Proves K2, S4: a call that writes to settings moved by the environment, or to the gate's own
// store, is not permitted by a policy that permits everything.
func TestMovedSettingsAreProtected(t *testing.T) {
	w := newWorld(t)
	moved := filepath.Join(w.nowhere, "codex")
	t.Setenv("CODEX_HOME", moved)
	for command, want := range map[string]int{
		"ls " + moved:                                 0,
		"echo x > " + moved + "/notes":                0,
		"echo x > " + moved + "/config.toml":          2,
		"sqlite3 " + w.store + " 'select 1'":          2,
		"rm -r " + filepath.Dir(w.store) + "/hooks":   2,
		"ls " + filepath.Dir(w.store) + "/other/hook": 0,
	} {
		if code, output := w.hook(t, "codex", command, w.other, command); code != want {
			t.Errorf("%s: %d, not %d: %s", command, code, want, output)
		}
	}
}

// Proves S4: a store that only the policy sets is protected too.
func TestStoreOfThePolicyIsProtected(t *testing.T) {
	w := newWorld(t)
	root := filepath.Dir(w.repo)
	own := filepath.Join(root, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version = 1\n[store]\nurl = \"sqlite:" + own + "/gate.db\"\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n"
	if err := os.WriteFile(filepath.Join(root, "config", "stopgate", "stopgate.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]int{"cat " + own + "/gate.db": 2, "cp x " + own + "/hooks/": 2, "ls " + own + "/x": 0} {
		event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q}`, w.other, command, command)
		var out, stderr bytes.Buffer
		code, _ := process.Program{Compile: prove.Compile}.Main([]string{"codex"}, process.Streams{In: strings.NewReader(event), Out: &out, Err: &stderr})
		if code != want {
			t.Errorf("%s: %d, not %d: %s%s", command, code, want, out.String(), stderr.String())
		}
	}
	if _, err := os.Stat(own + "/gate.db"); err != nil {
		t.Error(err)
	}
}
