package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	rows "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// Proves I25, TPS-08: a replay knows of results what the log knows: that one came, that
// it failed, that none came.
func TestReplayFeedsResults(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	file, path := filepath.Join(dir, "p.toml"), filepath.Join(dir, "s.db")
	const text = `
version = 1
[tools.test.policy]
run = "unattended"
[tools.deploy.policy]
run = "unattended"
[[session]]
type = "require"
before = "deploy"
requires = "test"
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program, mistakes := prove.Compile([]policy.Source{{Name: file, Text: []byte(text), Trusted: true}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{Records: rows.Options{Arguments: audit.KeepFull}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(program, gate.WithRecorder(s.Recorder()), gate.WithStore(s), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	for session, result := range map[string]*stopgate.Result{
		"well": {Observed: true}, "badly": {Observed: true, Failed: true}, "unknown": {}, "never": nil,
	} {
		call := stopgate.Call{Tool: "test", Args: []byte(`{}`), Session: stopgate.SessionID(session), Principal: "local", Surface: stopgate.SurfaceLibrary}
		out, err := g.Decide(t.Context(), call)
		if err != nil || !out.Allowed() {
			t.Fatal(out, err)
		}
		if result != nil {
			result.Proposal, result.Session, result.Principal, result.Tool = out.Proposal, call.Session, call.Principal, call.Tool
			if _, err := g.Observe(t.Context(), *result); err != nil {
				t.Fatal(err)
			}
		}
		call.Tool = "deploy"
		if out, err = g.Decide(t.Context(), call); err != nil || out.Allowed() != (session == "well") {
			t.Fatalf("%s: %+v %v", session, out, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var out, talk strings.Builder
	if code := run([]string{"replay", "--policy", file, path}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != cli.ExitOK ||
		!strings.Contains(out.String(), "8 of 8 calls judged again: 0 loosened, 0 tightened") {
		t.Errorf("exit %d: %s%s", code, &out, &talk)
	}
}
