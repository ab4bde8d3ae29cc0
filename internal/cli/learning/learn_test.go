package learning

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/dryrun"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/testkit/approved"
)

const rules = `version = 1

[tools.check.parameters]
package = { type = "string", required = true } # what to check

[tools.check.policy]
run = "ask" # for now

[tools.sh.parameters]
command = { type = "command", required = true }

[tools.sh.policy]
run = [
  # Everything is asked.
  { mode = "ask" },
]
`

// recorded makes a policy file and a store with approvals of three sessions, and returns both paths.
func recorded(t *testing.T) (file, store string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_STATE_HOME", "")
	file, store = filepath.Join(dir, "stopgate.toml"), filepath.Join(dir, "records.db")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	var calls []approved.Call
	for i, name := range []string{"core", "cli", "web"} {
		session := fmt.Sprint("s", i)
		calls = append(calls,
			approved.Call{Session: session, Tool: "check", Args: fmt.Appendf(nil, `{"package":%q}`, name)},
			approved.Call{Session: session, Tool: "sh", Args: []byte(`{"command":"make lint"}`)},
			approved.Call{Session: session, Tool: "sh", Args: []byte(`{"command":"make deploy"}`), No: true})
	}
	program, found := policy.Compile([]policy.Source{{Name: file, Text: []byte(rules), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(found)
	}
	db, err := database.Open(t.Context(), store, sqlite.Tables)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rec, err := sqlite.New(t.Context(), db, sqlite.Options{Arguments: audit.KeepFull})
	if err != nil {
		t.Fatal(err)
	}
	g, err := approved.New(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.To = rec
	if _, _, err := g.Decide(t.Context(), approved.Spread(calls)); err != nil {
		t.Fatal(err)
	}
	return file, store
}

func runLearn(t *testing.T, args ...string) (out, talk string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := NewLearn(cli.Streams{Out: &stdout, Err: &stderr})
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.ExecuteContext(context.Background())
	return stdout.String(), stderr.String(), err
}

// What was approved is proposed with its evidence, and written by its id: the old bytes stay, the file passes the
// tests that are written with it, and nothing is proposed any more.
func TestWritesByID(t *testing.T) {
	file, store := recorded(t)
	common := []string{"--policy", file, "--store", store, "--since", "2026-11-01"}
	out, talk, err := runLearn(t, append(common, "--format", "json")...)
	if err != nil {
		t.Fatal(err, talk)
	}
	out = strings.ReplaceAll(out, `": `, `":`)
	for _, want := range []string{`"approved":6`, `"refused":3`, `make lint`, `"how":"same tool"`, `"witness":"{`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
	if now, _ := os.ReadFile(file); string(now) != rules {
		t.Error("the file changed without a yes")
	}
	var ids []string
	for _, part := range strings.Split(out, `"id":`)[1:] {
		ids = append(ids, strings.Trim(strings.SplitN(part, ",", 2)[0], ` "`))
	}
	if _, talk, err = runLearn(t, append(common, "--write", strings.Join(ids, ","))...); err != nil {
		t.Fatal(err, talk)
	}
	now, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# what to check", "  # Everything is asked.\n  { mode = \"ask\" },", `const = "make lint"`, `pattern = `} {
		if !strings.Contains(string(now), want) {
			t.Errorf("%q is missing in\n%s", want, now)
		}
	}
	s, found, err := suite.Load(strings.TrimSuffix(file, ".toml")+suite.Suffix, suite.Options{Tools: inputs.ReadTools, Gate: func(p *policy.Program, a gate.Approver) (*gate.Gate, error) { return dryrun.GateFor(p, a) }})
	if err != nil || found.HasErrors() {
		t.Fatal(err, found)
	}
	report, err := s.Run(t.Context(), func(string) bool { return true })
	if err != nil || len(report.Cases) < 5 {
		t.Fatalf("%v, %d cases", err, len(report.Cases))
	}
	for i := range report.Cases {
		if !report.Cases[i].Passed() {
			t.Errorf("%s fails: %+v", report.Cases[i].Name, report.Cases[i])
		}
	}
	if out, _, err = runLearn(t, append(common, "--format", "json")...); err != nil || !strings.Contains(out, `"proposals":[]`) && !strings.Contains(out, `"proposals": []`) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err = runLearn(t, append(common, "--write", "0000")...); err == nil {
		t.Error("an unknown id was accepted")
	}
}

// Records that were changed teach nothing.
func TestBrokenChain(t *testing.T) {
	file, store := recorded(t)
	db, err := database.Open(t.Context(), store, sqlite.Tables)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Change(t.Context(), func(tx *database.Tx) error {
		_, err := tx.Exec("UPDATE audit_rows SET stored = unhex(replace(hex(stored), hex('anna'), hex('mary')))")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, _, err := runLearn(t, "--policy", file, "--store", store, "--since", "2026-11-01", "--format", "json"); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("%v", err)
	}
}

// script is a person who types lines.
type script struct {
	bytes.Buffer
	lines []string
}

func (s *script) Line() (string, error) {
	if len(s.lines) == 0 {
		return "", fmt.Errorf("no more lines")
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	fmt.Fprintln(s, line)
	return line, nil
}

func (s *script) Drain() {}

// At a terminal each rule is chosen or not, and nothing is written without yes.
func TestChoose(t *testing.T) {
	for _, test := range []struct {
		name    string
		lines   []string
		written bool
	}{
		{"nothing chosen", []string{"n", "n"}, false},
		{"one, and no", []string{"y", "q", "no"}, false},
		{"one, after details, and yes", []string{"d", "r", "y", "q", "yes"}, true},
		{"all", []string{"a", "yes"}, true},
		{"the person goes", []string{"y"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			file, store := recorded(t)
			var f inputs.Policy
			var records inputs.Records
			f.Files, records.Files, records.Store = []string{file}, []string{file}, store
			var talk bytes.Buffer
			cmd := NewLearn(cli.Streams{Out: &talk, Err: &talk})
			cmd.SetContext(t.Context())
			r, err := read(t.Context(), cli.Streams{Out: &talk, Err: &talk}, cmd, nil, &f, &records, learn.Options{}, "2026-11-01", "")
			if err != nil {
				t.Fatal(err)
			}
			person := &script{lines: test.lines}
			err = r.choose(person)
			now, _ := os.ReadFile(file)
			if written := string(now) != rules; written != test.written || written && err != nil {
				t.Errorf("written %v: %v\n%s", written, err, person)
			}
		})
	}
}
