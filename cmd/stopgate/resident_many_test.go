package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
)

// Proves FM9: more hooks at once than a resident takes all get the answers that they would
// get alone, and each call has exactly one row, also where a hook stopped waiting for the resident.
func TestResidentOfMany(t *testing.T) {
	n := 80
	if testing.Short() {
		n = 20
	}
	h := newHookHome(t, residentPolicy)
	h.serve()
	var all sync.WaitGroup
	wrong := make([]error, n)
	for i := range n {
		all.Go(func() {
			command, want := "ls", 0
			if i%2 == 1 {
				command, want = "rm x", 2
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, h.program, "codex", "--policy", filepath.Join(h.dir, "policy.toml"), "--deadline", "1m")
			cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
			cmd.Stdin = strings.NewReader(shellEvent(fmt.Sprint(command, " ", i), fmt.Sprint("m", i)))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if got := cmd.ProcessState.ExitCode(); got != want || err != nil && !errors.As(err, &exit) {
				wrong[i] = fmt.Errorf("%s %d: exit %d, not %d: %w\n%s", command, i, got, want, err, out)
			}
		})
	}
	all.Wait()
	if err := errors.Join(wrong...); err != nil {
		t.Error(err)
	}
	answered, left := h.counts()
	calls := map[stopgate.CallID][]stopgate.Record{}
	for _, r := range h.decisions() {
		calls[r.CallID] = append(calls[r.CallID], r)
	}
	for i := range n {
		want := []stopgate.RecordStatus{stopgate.StatusAllowed, stopgate.StatusDenied}[i%2]
		rows := calls[stopgate.CallID(fmt.Sprint("m", i))]
		if len(rows) != 1 || rows[0].Status != want || rows[0].Code == stopgate.CodePolicyTimeout {
			t.Errorf("call %d: %d rows", i, len(rows))
			for _, r := range rows {
				t.Logf("%s %s %s", r.ID, r.Status, r.Code)
			}
		}
	}
	if len(calls) != n || answered == 0 {
		t.Errorf("rows of %d calls, of %d; the resident answered %d and left %d", len(calls), n, answered, left)
	}
}

// decisions returns the rows of decisions.
func (h *hookHome) decisions() (rows []stopgate.Record) {
	h.t.Helper()
	cmd := exec.Command("stopgate", "log", "--format", "json", "--decisions")
	cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
	out, err := cmd.Output()
	for line := range bytes.Lines(out) {
		var r stopgate.Record
		err = errors.Join(err, json.Unmarshal(line, &r))
		rows = append(rows, r)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return rows
}
