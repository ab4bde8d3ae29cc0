package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// twice calls one tool twice, with one path and two texts.
const twice = `model stopgate-test
turn
call fs_create_file
  path string a.txt
  replace json true
  content repeat 3 line %d
turn
call fs_create_file
  path string a.txt
  replace json true
  content repeat 4 line %d
turn
say Done.
`

// ownPolicy writes the policy file of the user of an environment.
func ownPolicy(t *testing.T, env []string, text string) (path string) {
	t.Helper()
	for _, e := range env {
		if home, ok := strings.CutPrefix(e, "HOME="); ok {
			path = filepath.Join(home, ".config", "stopgate", "stopgate.toml")
		}
	}
	if text != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

const commented = `version = 1
# Mine.
[tools.fs_create_file.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny" }, # never
  # The rest is asked.
  { mode = "ask" },
]
`

// Proves S52, K35: a rule is written into the person's own file after he has seen the
// change; it holds at once, stands before the rule that asked, and everything else is as
// it was; the old file is kept.
func TestAgentWritesARule(t *testing.T) {
	dir, env := agentHome(t, map[string]string{"script": twice})
	path := ownPolicy(t, env, commented)
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("y once")
	s.types("a")
	s.sees("f write the rule to your policy file")
	s.types("f")
	s.sees("for good: this change of", `\+  \{ arg = "/path", const = "a.txt", mode = "unattended" \},`, `   # The rest is asked`, "y write it, and run the call")
	s.types("\x1b")
	s.sees("Nothing was written, nothing was answered", "y grant it for this conversation")
	s.types("f")
	s.sees("y write it")
	s.types("y")
	s.sees("written; the previous version is kept as", "approved by", "(?s)approved by.*unattended", "Done.", "2 calls: 2 ran, 0 refused; 1 prompt")
	s.leaves()
	text, err := os.ReadFile(path)
	want := strings.Replace(commented, "  # The rest", "  { arg = \"/path\", const = \"a.txt\", mode = \"unattended\" },\n  # The rest", 1)
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
	kept, err := filepath.Glob(path + ".stopgate-*.bak")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != commented {
		t.Errorf("%v\n%s", err, text)
	}
}

// Proves S50, S52: who has no policy file gets the built-in one with the rule in it.
func TestAgentWritesTheFirstFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	dir, env := agentHome(t, map[string]string{"script": twice})
	path := ownPolicy(t, env, "")
	s := sitDown(t, dir, env, nil, "--script", "script", "--pace", "0")
	s.sees("(?m)^>$")
	s.types("write\r")
	s.sees("y once")
	s.types("a")
	s.sees("f write the rule")
	s.types("f")
	s.sees("note: the file is not there yet", "y write it")
	s.types("y")
	s.sees("written", "2 calls: 2 ran, 0 refused; 1 prompt")
	s.leaves()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `{ arg = "/path", const = "a.txt", mode = "unattended" },`) || !strings.Contains(string(text), "[[guard]]") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Proves K35: what would not do what the person wants is not written, and he is told
// why; the grant is there all the same.
func TestAgentWritesNoRule(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	for _, test := range []struct {
		name, own, project, want string
		args                     []string
		trust                    bool
	}{
		{"the project asks", "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n", "version = 1\n[tools.fs_create_file.policy]\nrun = \"ask\"\n", "what asks stands in", nil, false},
		{"both ask", "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n", "version = 1\n[tools.fs_create_file.policy]\nrun = \"ask\"\n", "asked about|what asks stands in", nil, false},
		{"a named policy", "", "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n", "--policy names the files of this run", []string{"--policy", "stopgate.toml"}, false},
		{"only the project has one", "", "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n", "what asks stands in", nil, false},
		{"only the project has one, and it is trusted", "", "version = 1\n[tools.\"*\".policy]\nrun = \"ask\"\n", "no policy file of your own", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, env := agentHome(t, map[string]string{"script": strings.ReplaceAll(twice, "repeat 4", "repeat 3"), "stopgate.toml": test.project})
			path := ownPolicy(t, env, test.own)
			if test.trust {
				trust := exec.Command("stopgate", "trust", dir)
				trust.Env = env
				if out, err := trust.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			s := sitDown(t, dir, env, nil, append([]string{"--script", "script", "--pace", "0"}, test.args...)...)
			s.sees("(?m)^>$")
			s.types("write\r")
			s.sees("y once")
			s.types("a")
			s.sees("f write the rule")
			s.types("f")
			s.sees("The rule is not written: ", test.want)
			s.types("y")
			s.sees("granted earlier", "2 calls: 2 ran, 0 refused")
			s.leaves()
			if text, _ := os.ReadFile(path); string(text) != test.own {
				t.Errorf("%s", text)
			}
		})
	}
}
