package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Proves H20: at a terminal init asks whether the file may loosen, a person's yes counts for
// the bytes that were written, and everything else is no.
func TestInitAsksForTrust(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs at terminals")
	}
	for answer, trusted := range map[string]bool{"\r": true, "y\r": true, "YES\r": true, "n\r": false, "what\r": false, "\x04": false} {
		dir, env := agentHome(t, map[string]string{"project/.keep": ""})
		s := sitDown(t, dir, env, func(cmd *exec.Cmd) { cmd.Args = []string{"stopgate", "init", "project"} })
		s.sees(`Trust them\? \[Y/n\]`)
		s.types(answer)
		s.sees(`stopgate install HOST`)
		s.ends(0)
		show := exec.Command("stopgate", "trust", "--list")
		show.Env = env
		list, err := show.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(list), "project/stopgate.toml"); got != trusted {
			t.Errorf("after %q: trusted %v, want %v: %s", answer, got, trusted, list)
		}
	}
}
