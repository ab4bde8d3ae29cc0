package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// apart is seed with minutes between the calls: apart STORE POLICY CALLS
func apart(ts *testscript.TestScript, _ bool, args []string) {
	calls := ts.ReadFile(args[2])
	ts.Check(seedStoreAt(ts.MkAbs(args[0]), "", args[1], ts.ReadFile(args[1]), calls, minutes()))
}

// minutes is a clock that moves a minute each time that it is read.
func minutes() func() time.Time {
	at := time.Now().Add(-time.Hour)
	return func() time.Time {
		at = at.Add(time.Minute)
		return at
	}
}

const (
	learnedFrom = `version = 1

[tools.check.parameters]
package = { type = "string", required = true } # the package

[tools.check.policy]
run = "ask"
`
	learnedCalls = `s1 check {"package":"core"}
s2 check {"package":"cli"}
s3 check {"package":"web"}
s3 check {"package":"no"}
`
)

// A person at a terminal sees the proposal, its details and the change, and only yes writes it.
func TestLearnAtTerminal(t *testing.T) {
	dir := t.TempDir()
	file, store := filepath.Join(dir, "stopgate.toml"), filepath.Join(dir, "records.db")
	if err := os.WriteFile(file, []byte(learnedFrom), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := strings.ReplaceAll(learnedCalls, `"no"`, `"no way/../x"`)
	if err := seedStoreAt(store, "", file, learnedFrom, calls, minutes()); err != nil {
		t.Fatal(err)
	}
	s := &server{cmd: &exec.Cmd{Dir: dir, Env: append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=", "TERM=xterm")}}
	for _, answer := range []string{"no", "yes"} {
		x := atTerminal(t, s, "learn", "--policy", file, "--store", store)
		x.sees(`3 approved by people, 1 refused`)
		x.sees(`y yes  n no  d details`)
		x.sees(`[0-9a-f]{8}: `)
		x.presses("d", `would have let pass:`)
		x.sees(`newly permits, for example: check`)
		x.sees(`[0-9a-f]{8}: `)
		x.presses("y", `pattern = `)
		x.sees(`Type yes: `)
		x.presses(answer, map[string]string{"no": `nothing was written`, "yes": `stopgate test runs the cases`}[answer])
		_ = x.cmd.Wait()
		now, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if written := string(now) != learnedFrom; written != (answer == "yes") {
			t.Errorf("after %q: written %t\n%s", answer, written, now)
		}
	}
}
