package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/record/jsonl"
)

// Proves S25, S61: log, verify, head, export and prune read and prune a file of
// records that is rotated, as the policy file says.
func TestRotatedRecords(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	path, file := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "stopgate.toml")
	text := fmt.Sprintf("version = 1\n[audit]\nfile = %q\nrows_days = 30\nrotate_days = 1\nrotate_bytes = 0\n", path)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Add(-50 * 24 * time.Hour)
	rec, err := jsonl.Open(path, jsonl.Options{RotateAge: 24 * time.Hour, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	mode := stopgate.Deny
	for i := range 50 {
		now = now.Add(25 * time.Hour)
		r := &stopgate.Record{Version: 1, Time: now, Kind: stopgate.RecordDecision, ID: stopgate.ProposalID(fmt.Sprint("P", i)), Tool: "t", Mode: &mode, Status: stopgate.StatusDenied}
		if err := rec.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	head := rec.Head()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	call := func(want int, args ...string) string {
		t.Helper()
		var out, talk strings.Builder
		if code := run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &talk}); code != want {
			t.Fatalf("%v: exit %d: %s%s", args, code, &out, &talk)
		}
		return out.String()
	}
	if got := call(cli.ExitOK, "log", "--policy", file, "--decisions"); strings.Count(got, "\n") != 50 {
		t.Errorf("%d rows: %s", strings.Count(got, "\n"), got)
	}
	if got := call(cli.ExitOK, "log", "verify", path); !strings.Contains(got, fmt.Sprintf("whole: %d rows", head.Seq)) {
		t.Error(got)
	}
	if got := call(cli.ExitOK, "log", "head", path); got != head.Hash+"\n" {
		t.Error(got)
	}
	if got := call(cli.ExitOK, "log", "show", "P3", "--audit", path); !strings.Contains(got, "P3") {
		t.Error(got)
	}
	if got := call(cli.ExitOK, "log", "prune", "--policy", file, "--audit", path); !strings.Contains(got, "full files with") || strings.Contains(got, " 0 full files") {
		t.Error(got)
	}
	if got := call(cli.ExitOK, "log", "verify", path, "--head", head.Hash); !strings.Contains(got, "rows before the first one are not here") {
		t.Error(got)
	}
	export := filepath.Join(dir, "export.jsonl")
	if err := os.WriteFile(export, []byte(call(cli.ExitOK, "log", "export", path)), 0o600); err != nil {
		t.Fatal(err)
	}
	call(cli.ExitOK, "log", "verify", export)
	if got := call(cli.ExitOK, "log", "prune", "--audit", path, "--rows-days", "1", "--format", "json"); !strings.Contains(got, `"file":{"files":`) {
		t.Error(got)
	}
	call(cli.ExitTrouble, "log", "prune", "--audit", filepath.Join(dir, "none"))

	// A process that writes there goes on as the policy says.
	s, err := inputs.StateOf(mustLoad(t, file), inputs.State{})
	if err != nil || s.RotateDays != 1 || s.RotateBytes != 0 {
		t.Fatalf("%+v %v", s, err)
	}
	rec, err = s.Lines(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(rec.Record(t.Context(), &stopgate.Record{Version: 1, Time: time.Now(), Kind: stopgate.RecordEvent, Event: stopgate.AuditReload}), rec.Close()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("version = 1\n[audit]\nrotate_bytes = -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inputs.StateOf(mustLoad(t, file), inputs.State{}); err == nil {
		t.Error("less than nothing")
	}
}

func mustLoad(t *testing.T, file string) inputs.Loaded {
	t.Helper()
	l, err := (&inputs.Policy{Files: []string{file}}).Load(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
