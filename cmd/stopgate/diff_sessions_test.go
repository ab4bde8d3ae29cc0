package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/cli"
)

// A session policy that lets more run fails --fail-on loosened and is shown with both values;
// what is not known of a change fails it too.
func TestDiffShowsSessionPolicies(t *testing.T) {
	dir := t.TempDir()
	write := func(name, fields string) string {
		path := filepath.Join(dir, name)
		text := "version = 1\n[tools.t.policy]\nrun = \"ask\"\n[[session]]\nname = \"few\"\ntype = \"limit\"\ntools = [\"t\"]\n" + fields
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old := write("old.toml", "max_calls = 3\n")
	for _, test := range []struct {
		fields, want string
		code         int
	}{
		{"max_calls = 4\n", "session policy limit few: max_calls 3 -> 4: loosened", cli.ExitMistakes},
		{"max_calls = 2\n", "session policy limit few: max_calls 3 -> 2: tightened", 0},
		{"max_calls = 3\nwithin = \"1m\"\n", "session policy limit few: within none -> 1m0s: loosened", cli.ExitMistakes},
		{"max_calls = 3\nkey = [\"/path\"]\n", "whether that is stricter or looser is not decided", cli.ExitMistakes},
	} {
		code, out, stderr := runCommand("diff", "--fail-on", "loosened", old, write("new.toml", test.fields))
		if code != test.code || !strings.Contains(out, test.want) {
			t.Errorf("%s: exit %d: %s%s", test.fields, code, out, stderr)
		}
	}
}
