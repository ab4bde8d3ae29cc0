package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// At a terminal start asks: keys show the changes, leave parts out, and let commands run; only a yes writes, and stop
// asks before it takes the gate away.
func TestStartAsks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts programs at terminals")
	}
	files := map[string]string{"shop/go.mod": "module shop\n", "shop/.git/HEAD": "", "home/.claude/.keep": ""}
	for answer, written := range map[string]bool{"n\r": false, "\x04": false, "y\r": true} {
		dir, env := agentHome(t, files)
		shop := filepath.Join(dir, "shop")
		run := func(args ...string) func(cmd *exec.Cmd) {
			return func(cmd *exec.Cmd) { cmd.Args, cmd.Dir = append([]string{"stopgate"}, args...), shop }
		}
		s := sitDown(t, dir, env, run("start", "--without", "hooks"))
		s.sees(`c commands run without a question`)
		s.types("d\r")
		s.sees(`\+version = 1`)
		s.types("what\r")
		s.types("c\r")
		s.sees(`They run without a question`, `c commands ask`)
		if _, err := os.Stat(filepath.Join(shop, "stopgate.toml")); err == nil {
			t.Fatal("written before the answer")
		}
		s.types(answer)
		s.ends(0)
		if _, err := os.Stat(filepath.Join(shop, "stopgate.toml")); (err == nil) != written {
			t.Errorf("after %q: %v", answer, err)
		}
		if !written {
			continue
		}
		s = sitDown(t, dir, env, run("stop"))
		s.sees(`Take the gate away from`)
		s.types("\r")
		s.sees(`nothing was changed`)
		s.ends(1)
		s = sitDown(t, dir, env, run("stop"))
		s.sees(`Take the gate away from`)
		s.types("y\r")
		s.ends(0)
		if _, err := os.Stat(filepath.Join(shop, "stopgate.toml")); err == nil {
			t.Error("the policy is left")
		}
	}
}
