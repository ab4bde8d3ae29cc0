package process_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/prove"
)

// world is a machine with two repositories: one has a policy that denies a word.
type world struct{ repo, other, nowhere, store string }

func newWorld(t *testing.T) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{filepath.Join(root, "repo"), filepath.Join(root, "other"), filepath.Join(root, "nowhere"), filepath.Join(root, "state", "s.db")}
	for _, dir := range []string{filepath.Join(w.repo, ".git"), filepath.Join(w.repo, "sub"), filepath.Join(w.other, ".git"), w.nowhere, filepath.Join(root, "config", "stopgate")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, "config", "stopgate", "stopgate.toml"), "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n")
	write(filepath.Join(w.repo, "stopgate.toml"), "version = 1\n[[guard]]\non = \"path\"\nglob = \"conf/secret/**\"\nmode = \"deny\"\n")
	t.Setenv("HOME", root)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(root, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(root, "state"))
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", "QWEN_PROJECT_DIR", "STOPGATE_SESSION"} {
		t.Setenv(name, "")
	}
	return w
}

// hook sends an event with a command, or a user's prompt, and returns the exit status.
func (w world) hook(t *testing.T, host, session, dir, command string) (code int, output string) {
	t.Helper()
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"c"}`, session, dir, command)
	if command == "" {
		event = fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"cwd":%q,"prompt":"hi"}`, session, dir)
	}
	var out, err bytes.Buffer
	code, _ = process.Program{Compile: prove.Compile}.Main([]string{host, "--store", w.store}, process.Streams{In: strings.NewReader(event), Out: &out, Err: &err})
	return code, out.String() + err.String()
}

// Proves S22, H20: the policy of the project in which a session began applies to it in any
// directory, and to no other session.
func TestProjectOfTheSession(t *testing.T) {
	w := newWorld(t)
	secret := "cat " + w.repo + "/conf/secret/key"
	for i, c := range []struct {
		session, dir, command string
		want                  int
	}{
		{"moves", w.repo + "/sub", "", 0}, // the user's prompt comes first
		{"moves", w.repo, secret, 2},
		{"moves", w.other, secret, 2},
		{"moves", w.nowhere, secret, 2},
		{"moves", "/", secret, 2},
		{"moves", w.other, "ls src", 0},
		{"moves", w.other, "cat conf/secret/key", 2}, // also suspected relative to the root
		{"stays", w.other, secret, 0},
		{"stays", w.repo, secret, 2}, // its project is the other one, but this directory's policy tightens
		{"stays", w.repo + "/sub", "cat ../conf/secret/key", 2},
		{"stays", w.repo, "ls src", 0},
		{"late", w.nowhere, secret, 0},
		{"late", w.repo, secret, 2}, // its first project
		{"late", w.nowhere, secret, 2},
		{"", w.repo, secret, 2},
		{"", w.other, secret, 0},
	} {
		if code, output := w.hook(t, "codex", c.session, c.dir, c.command); code != c.want {
			t.Errorf("%d: %+v: exit %d: %s", i, c, code, output)
		}
	}
	if code, output := w.hook(t, "qwen-code", "moves", w.other, secret); code != 0 {
		t.Errorf("a session of another host: exit %d: %s", code, output)
	}
	// The project set by the host takes precedence.
	t.Setenv("QWEN_PROJECT_DIR", w.repo)
	if code, output := w.hook(t, "qwen-code", "moves", w.other, secret); code != 2 {
		t.Errorf("the host's own word: exit %d: %s", code, output)
	}
}

// Proves FM9: a remembered project that cannot be read denies.
func TestProjectThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	if code, output := w.hook(t, "codex", "s", w.repo, "ls src"); code != 0 {
		t.Fatalf("exit %d: %s", code, output)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(w.store), "hooks", "*.project"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, text := range []string{"", w.repo, "relative\n", "\x00\xff\n", strings.Repeat("x", 1<<17)} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, output := w.hook(t, "codex", "s", w.other, "ls src"); code != 2 || !strings.Contains(output, "where the session began") || !strings.Contains(output, "(store_unavailable)") {
			t.Errorf("%.20q: exit %d: %s", text, code, output)
		}
	}
	// A file that is not regular is rejected without reading it, also outside of projects.
	regular := filepath.Join(filepath.Dir(files[0]), "whole")
	if err := os.WriteFile(regular, []byte(w.other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func() error{
		"a directory":     func() error { return os.Mkdir(files[0], 0o700) },
		"a dangling link": func() error { return os.Symlink(files[0]+".gone", files[0]) },
		"a link":          func() error { return os.Symlink(regular, files[0]) },
		"a pipe":          func() error { return syscall.Mkfifo(files[0], 0o600) },
	} {
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		if err := make(); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{w.other, w.nowhere} {
			if code, output := w.hook(t, "codex", "s", dir, "ls src"); code != 2 || !strings.Contains(output, "is no regular file") {
				t.Errorf("%s, from %s: exit %d: %s", name, dir, code, output)
			}
		}
	}
}
