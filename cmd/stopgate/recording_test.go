package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/testkit/recording"
)

// TestRecording runs the session of the first page of the documentation, and compares it with the
// SVG that the page and the README show. -update draws it anew.
func TestRecording(t *testing.T) {
	const image, page = "../../docs/assets/session.svg", "../../docs/README.md"
	dir := t.TempDir()
	policy := firstPolicy(t, page)
	if err := os.WriteFile(filepath.Join(dir, "stopgate.toml"), policy, 0o600); err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(atHome(filepath.Join(dir, "home")), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
	session := recording.Session{
		Dir: dir, Prompt: "$ ", Env: append(env, "TERM=xterm-256color"),
		Replace: map[*regexp.Regexp]string{regexp.MustCompile(`127\.0\.0\.1:\d+`): "127.0.0.1:8788"},
	}
	decide := "stopgate decide --policy stopgate.toml --tool fs_create_file --args "
	r, err := session.Record([]recording.Step{
		{Command: "cat stopgate.toml", Pace: 40 * time.Millisecond, Pause: 2 * time.Second},
		{Command: decide + `'{"path":"src/hello.go","content":"..."}'`, Pace: 150 * time.Millisecond, Pause: 2 * time.Second},
		{Command: decide + `'{"path":"src/../.env","content":"TOKEN=..."}'`, Pace: 150 * time.Millisecond, Pause: 4 * time.Second, Still: true},
		{Command: "# the same while a model writes, in a session of seven calls"},
		{Command: "stopgate demo", Pace: 300 * time.Millisecond, Pause: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := r.SVG("stopgate in a terminal", "A terminal session. It prints a policy of sixteen lines, decides a call that writes src/hello.go, which may run unattended, "+
		"and a call that writes src/../.env, which is denied at byte 21 of 44 of its arguments. Then stopgate demo plays seven calls through a running gateway: five are allowed and two refused.")
	if *update {
		if err := os.WriteFile(image, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date; run the test with -update. The session is now:\n%s", image, r)
	}
	if len(got) > 150_000 {
		t.Errorf("%s has %d bytes, more than 150 kB", image, len(got))
	}
	for _, shown := range []string{"unattended", "decided   at byte 21 of 44", "7 calls: 5 allowed, 2 refused"} {
		if !strings.Contains(r.String(), shown) {
			t.Errorf("the session does not show %q:\n%s", shown, r)
		}
	}
}

// firstPolicy is the first policy that a page shows as a file.
func firstPolicy(t *testing.T, page string) []byte {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[2] == "stopgate.toml" {
			return []byte(m[3])
		}
	}
	t.Fatalf("%s shows no stopgate.toml", page)
	return nil
}
