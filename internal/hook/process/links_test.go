package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook/process"
)

// linked creates a file, or with a name that ends in / a directory, and a link to it.
func linked(t *testing.T, link, to string) {
	t.Helper()
	dir, file := filepath.Split(to)
	for _, d := range []string{dir, filepath.Dir(link)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if file != "" {
		if err := os.WriteFile(to, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Clean(to), link); err != nil {
		t.Fatal(err)
	}
}

// Proves K2, H20, S4: settings that are links, for example into a repository, are protected under
// the name of their target as well; files next to it are not.
func TestLinkedSettingsAreProtected(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, root, dots := filepath.Join(top, "home"), filepath.Join(top, "proj"), filepath.Join(top, "dots")
	at := func(names ...string) string { return filepath.Join(names...) }
	linked(t, at(home, ".claude"), at(dots, "cl")+"/")
	linked(t, at(home, ".codex/config.toml"), at(dots, "codex.settings"))
	linked(t, at(home, ".codex/skills"), at(dots, "sk")+"/")
	linked(t, at(home, ".codex/notes"), at(dots, "notes"))
	linked(t, at(home, ".config/stopgate"), at(dots, "gate")+"/")
	linked(t, at(home, ".config/opencode/opencode.json"), at(dots, "oc"))
	linked(t, at(home, ".local/state"), at(top, "state")+"/")
	linked(t, at(home, ".gitconfig"), at(dots, "git"))
	linked(t, at(root, ".mcp.json"), at(root, "shared/servers"))
	linked(t, at(root, "opencode.json"), at(root, "shared/oc"))
	linked(t, at(root, ".git/hooks"), at(root, "shared/githooks")+"/")
	linked(t, at(top, "moved/settings.json"), at(dots, "moved"))
	for _, large := range []bool{false, true} {
		for i := range 600 {
			if large {
				if err := os.WriteFile(at(home, "f"+string(rune('a'+i%26))+string(rune('a'+i/26))), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := process.Settings(config.Account{Getenv: func(name string) string {
			return map[string]string{"HOME": home, "CLAUDE_CONFIG_DIR": at(top, "moved")}[name]
		}}, root, "")
		list := protected.New(condition.Env{Root: root, Home: home, Settings: s})
		for path, want := range map[string]condition.Protection{
			at(dots, "cl/settings.json"): condition.AskedTarget, at(dots, "cl/hooks/x.sh"): condition.AskedTarget, at(dots, "cl/todo"): condition.Unprotected,
			at(dots, "codex.settings"): condition.AskedTarget, at(dots, "sk/a/SKILL.md"): condition.AskedTarget, at(dots, "sk/a/notes"): condition.Unprotected,
			at(dots, "notes"): condition.Unprotected, at(dots, "gate/trusted"): condition.AskedTarget, at(dots, "gate/tokens.toml"): condition.DeniedTarget,
			at(dots, "oc"): condition.AskedTarget, at(top, "state/stopgate/stopgate.db"): condition.DeniedTarget, at(top, "state/other"): condition.Unprotected,
			at(dots, "git"): condition.AskedTarget, "shared/servers": condition.AskedTarget, "shared/oc": condition.AskedTarget,
			"shared/githooks/pre-commit": condition.AskedTarget, "shared/other": condition.Unprotected, at(dots, "moved"): condition.AskedTarget,
			at(dots, "other"): condition.Unprotected,
		} {
			if got, _ := list.Path([]byte(path)); got != want {
				t.Errorf("large %v: %s: %v, want %v", large, path, got, want)
			}
		}
	}
}

// Proves K2: a call that writes to the target of linked settings is not permitted by a policy that
// permits everything.
func TestLinkedSettingsInAHook(t *testing.T) {
	w := newWorld(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	linked(t, filepath.Join(home, ".codex", "config.toml"), filepath.Join(w.nowhere, "dots", "codex"))
	for command, want := range map[string]int{
		"echo x > " + filepath.Join(w.nowhere, "dots", "codex"):  2,
		"echo x > " + filepath.Join(w.nowhere, "dots", "codex2"): 0,
	} {
		if code, output := w.hook(t, "codex", command, w.other, command); code != want {
			t.Errorf("%s: %d, not %d: %s", command, code, want, output)
		}
	}
}

// A directory that cannot be read completely is not taken for one without links.
func TestUnreadableDirectories(t *testing.T) {
	dir := t.TempDir()
	linked(t, filepath.Join(dir, "link"), filepath.Join(dir, "file"))
	if !process.Complete(dir) {
		t.Error("a directory is not known")
	}
	for _, name := range []string{"file", "none"} {
		if process.Complete(filepath.Join(dir, name)) {
			t.Errorf("%s is known to have no links", name)
		}
	}
}
