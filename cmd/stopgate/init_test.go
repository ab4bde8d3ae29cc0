package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/parser"
)

// runCommand runs the command inside this process.
func runCommand(args ...string) (code int, out, talk string) {
	var stdout, stderr strings.Builder
	code = run(args, cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// Every starter policy passes its own cases, all of which reach all rules, has no
// warnings and no notes, and is in canonical layout; so is the one that is built in.
func TestStarters(t *testing.T) {
	if len(config.Kinds()) == 0 {
		t.Fatal("no starters")
	}
	for _, kind := range config.Kinds() {
		dir := t.TempDir()
		for _, args := range [][]string{
			{"init", "--for", kind, dir},
			{"check", "--strict", filepath.Join(dir, "stopgate.toml")},
			{"check", "--strict", "--tools", filepath.Join(dir, "stopgate.tools.json"), filepath.Join(dir, "stopgate.toml")},
			{"test", "--min-coverage", "100", dir},
			{"fmt", "--check", filepath.Join(dir, "stopgate.toml"), filepath.Join(dir, "stopgate.test.toml")},
		} {
			code, out, talk := runCommand(args...)
			if code != cli.ExitOK {
				t.Errorf("%s: stopgate %v exits with %d\n%s%s", kind, args, code, out, talk)
			}
			if args[0] == "check" && !strings.Contains(out+talk, "0 warnings, 0 notes") {
				t.Errorf("%s: stopgate %v:\n%s%s", kind, args, out, talk)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "stopgate.toml"))
		if err != nil {
			t.Fatal(err)
		}
		p, found := parser.Parse(kinds.Table(), "stopgate.toml", text)
		if !p.Gate.Strict || len(p.Guards) == 0 || len(found) > 0 {
			t.Errorf("%s: strict %t, %d guards, %v", kind, p.Gate.Strict, len(p.Guards), found)
		}
	}
	built := filepath.Join(t.TempDir(), "stopgate.toml")
	if err := os.WriteFile(built, config.Starter(), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := runCommand("fmt", "--diff", built); code != cli.ExitOK {
		t.Errorf("the built-in policy is not formatted:\n%s", out)
	}
}
