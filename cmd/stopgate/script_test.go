package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
)

var update = flag.Bool("update", false, "rewrite golden outputs of scripts and documentation")

// TestMain makes the command itself available to scripts, to tests that start
// processes, and to the transcripts in the documentation.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"stopgate": main, "stopgate-hook": smallMain, "fake-mcp-server": fakeMCPServer, "qwen": fakeAgent, "codex": fakeCodex})
}

// smallMain is what cmd/stopgate-hook does.
func smallMain() {
	os.Exit(process.Small(os.Args[1:], ask.Resident(os.Args[1:]), process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// Proves K30, K35, S50, H14, H20, FM10.
func TestScripts(t *testing.T) {
	p := scripts()
	p.Dir = filepath.Join("testdata", "script")
	testscript.Run(t, p)
}

// Proves FM9: the small program answers hooks as the full one does, and leaves to it what
// it cannot do.
func TestScriptsOfSmallProgram(t *testing.T) {
	full, err := exec.LookPath("stopgate")
	if err != nil {
		t.Fatal(err)
	}
	// stopgate hook is the small program, everything else the full one.
	dir := t.TempDir()
	text := "#!/bin/sh\n[ \"$1\" = hook ] || exec '" + full + "' \"$@\"\nshift\nexec '" + filepath.Join(filepath.Dir(full), process.SmallName) + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "stopgate"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	p := scripts()
	p.Files = []string{filepath.Join("testdata", "script", "hook.txtar"), filepath.Join("testdata", "script", "hooktexts.txtar"), filepath.Join("testdata", "small.txtar")}
	home := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("PATH", dir+string(filepath.ListSeparator)+env.Getenv("PATH"))
		env.Setenv("SMALL", filepath.Join(filepath.Dir(full), process.SmallName))
		env.Setenv("FULL", full)
		return home(env)
	}
	testscript.Run(t, p)
}

func scripts() testscript.Params {
	return testscript.Params{
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", "")
			env.Setenv("XDG_STATE_HOME", "")
			env.Setenv("XDG_RUNTIME_DIR", "")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"json":  wellFormed,
			"seed":  seed,
			"apart": apart,
			"idof":  idOf,
		},
	}
}

// exits runs a command and compares its exit code: exits 2 stopgate decide ...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// wellFormed checks that every line of the latest standard output is JSON, and how
// many there are: json 3
func wellFormed(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	for i, line := range lines {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("line %d is not JSON: %q", i+1, line)
		}
	}
	if len(args) == 1 && strconv.Itoa(len(lines)) != args[0] {
		ts.Fatalf("%d lines, want %s", len(lines), args[0])
	}
}
