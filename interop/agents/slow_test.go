package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// patience are the ways in which installed hooks say how long the host waits, and two
// seconds in each of them.
var patience = strings.NewReplacer(
	`"timeout": 600000`, `"timeout": 2000`, `"timeout": 600`, `"timeout": 2`, `"timeoutSec": 600`, `"timeoutSec": 2`,
	`timeout: 600000`, `timeout: 2000`,
)

// blockWhenSlow are the hosts that do not run a call whose hook is not done in time.
var blockWhenSlow = map[string]bool{"opencode": true, "kilo": true, "pi": true}

// What each agent does with a denial that comes after its patience is at an end: what
// the holes that doctor lists say about it is true. The hook that is installed waits for
// minutes and answers before them, so that only a hanging machine comes here.
func TestHookIsSlow(t *testing.T) {
	binary := gate.Build(t)
	slow := filepath.Join(t.TempDir(), "stopgate")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nsleep 5\nexec "+binary+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, a *agent) {
		if a == cline {
			t.Skip("its patience, two minutes, stands in no settings")
		}
		m := newModel(t, a, []string{"touch forbidden"})
		home, work := t.TempDir(), t.TempDir()
		a.settings(t, home, m.URL)
		a.install(t, binary, home, policy, "--program", slow)
		changed := false
		err := filepath.WalkDir(home, func(path string, at os.DirEntry, err error) error {
			if err != nil || at.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if after := patience.Replace(string(text)); err == nil && strings.Contains(after, slow) && after != string(text) {
				changed = true
				return os.WriteFile(path, []byte(after), 0o600)
			}
			return err
		})
		if err != nil || !changed {
			t.Fatalf("no settings have the hook: %v", err)
		}
		out := a.run(t, home, work, m.URL)
		if ran := exists(work, "forbidden"); ran == blockWhenSlow[a.host] {
			t.Errorf("the call ran: %v\n%s", ran, out)
		}
	})
}
