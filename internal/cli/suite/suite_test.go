package suite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli/suite"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session/policies"
)

// write creates files in a directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options(more ...gate.Option) suite.Options {
	return suite.Options{
		Tools: func(path string) ([]stopgate.ToolDefinition, error) {
			return []stopgate.ToolDefinition{{Name: "read", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}}, nil
		},
		Gate: func(p *policy.Program, a gate.Approver) (*gate.Gate, error) {
			return gate.New(p, append(more, gate.WithDenyMode(gate.DenyToolResult), gate.WithApprover(a))...)
		},
	}
}

// run loads and runs one file and returns the failed cases with their differences.
func run(t *testing.T, path string, o suite.Options) (*suite.Report, []string) {
	t.Helper()
	s, mistakes, err := suite.Load(path, o)
	if err != nil || mistakes.HasErrors() {
		t.Fatal(err, mistakes)
	}
	report, err := s.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, c := range report.Cases {
		for _, call := range c.Calls {
			for _, m := range call.Mismatches {
				failed = append(failed, c.Name+": "+m.Field+" "+m.Got)
			}
		}
	}
	return report, failed
}

// The policy above the file and the definitions next to it are found; their schema decides.
func TestFolder(t *testing.T) {
	dir := write(t, map[string]string{
		"stopgate.toml":     "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n",
		"a/b/tools.json":    "read by the test's own reader",
		"a/b/x.test.toml":   "[[case]]\nname = \"typed\"\ntool = \"read\"\nargs = { n = \"x\" }\nexpect = \"deny\"\ncode = \"schema_violation\"\n",
		"a/.c/y.test.toml":  "not read",
		"a/b/z.toml":        "not read",
		"a/b/one.test.toml": "[[case]]\nname = \"unknown\"\ntool = \"write\"\nexpect = \"deny\"\n",
	})
	files, err := suite.Find([]string{dir})
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if _, failed := run(t, f, options()); failed != nil {
			t.Error(f, failed)
		}
	}
}

// Calls of a case are one session: a session policy sees calls that ran, and not those that were
// only proposed. Cases do not affect each other.
func TestSessions(t *testing.T) {
	dir := write(t, map[string]string{
		"stopgate.toml": "version = 1\n[tools.build.policy]\nrun = \"ask\"\n[tools.deploy.policy]\nrun = \"unattended\"\n",
		"x.test.toml": `[[case]]
name = "built"
[[case.call]]
tool = "build"
result = "ok"
[[case.call]]
tool = "deploy"
expect = "unattended"
[[case]]
name = "asked"
[[case.call]]
tool = "build"
expect = "ask"
[[case.call]]
tool = "deploy"
expect = "deny"
layer = "session"
code = "prerequisite_missing"
[[case]]
name = "failed"
[[case.call]]
tool = "build"
failed = true
[[case.call]]
tool = "deploy"
expect = "deny"
`,
	})
	o := options()
	o.Gate = func(p *policy.Program, a gate.Approver) (*gate.Gate, error) {
		return gate.New(p, gate.WithDenyMode(gate.DenyToolResult), gate.WithApprover(a),
			gate.WithStore(&ports.Store{Memory: true}),
			gate.WithSessionPolicies(ports.Registry(policies.Require("deploy").After("build").AcceptUnknown())))
	}
	if _, failed := run(t, filepath.Join(dir, "x.test.toml"), o); failed != nil {
		t.Error(failed)
	}
}

// A rule is reached when it matched, in any suite: run, result and guard rules alike.
func TestCoverage(t *testing.T) {
	dir := write(t, map[string]string{
		"stopgate.toml": `version = 1
[tools.t.policy]
run = [
  { arg = "/a", const = 1, mode = "unattended" },
  { arg = "/a", const = 2, mode = "ask" },
  { mode = "deny" },
]
result = [{ arg = "/b", present = true, mode = "skip" }, { mode = "unattended" }]
[[guard]]
arg = "/c"
const = true
mode = "deny"
`,
		"1.test.toml": "[[case]]\nname = \"1\"\ntool = \"t\"\nargs = { a = 1 }\nresult = 1\n",
		"2.test.toml": "[[case]]\nname = \"2\"\ntool = \"t\"\nargs = { a = 2, c = true }\nexpect = \"deny\"\n",
	})
	one, _ := run(t, filepath.Join(dir, "1.test.toml"), options())
	two, _ := run(t, filepath.Join(dir, "2.test.toml"), options())
	for _, c := range []struct {
		reports []*suite.Report
		want    string
	}{
		{[]*suite.Report{one}, "2 of 6: run 2, run 3, result 1, guard 1"},
		{[]*suite.Report{one, two}, "4 of 6: run 3, result 1"},
		{nil, "0 of 0: "},
	} {
		cover := suite.Cover(c.reports...)
		var rest []string
		for _, r := range cover.Unreached {
			rest = append(rest, r.List+" "+string(rune('1'+r.Ref.Index)))
		}
		got := string(rune('0'+cover.Reached)) + " of " + string(rune('0'+cover.Rules)) + ": " + strings.Join(rest, ", ")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
