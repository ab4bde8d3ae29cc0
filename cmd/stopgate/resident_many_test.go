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
// get alone, and each call has one row that counts. A second row is that of a resident that answered
// after the hook had stopped waiting for it: it is never weaker, and no row is written twice.
func TestResidentOfMany(t *testing.T) {
	n := 80
	if testing.Short() {
		n = 20
	}
	h := newHookHome(t, residentPolicy)
	h.serve()
	var all sync.WaitGroup
	wrong := make([]error, n)
	took := make([]time.Duration, n)
	for i := range n {
		all.Go(func() {
			began := time.Now()
			defer func() { took[i] = time.Since(began) }()
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
	const patience = 2 * time.Second // of a hook
	answered, left := h.counts()
	calls, late, ids := map[stopgate.CallID][]stopgate.Record{}, 0, map[stopgate.ProposalID]bool{}
	for _, r := range h.decisions() {
		if ids[r.ID] {
			t.Errorf("%s has two rows", r.ID)
		}
		ids[r.ID] = true
		calls[r.CallID] = append(calls[r.CallID], r)
	}
	for i := range n {
		want := []stopgate.RecordStatus{stopgate.StatusAllowed, stopgate.StatusDenied}[i%2]
		rows := calls[stopgate.CallID(fmt.Sprint("m", i))]
		counts := 0
		for _, r := range rows {
			if r.Status == want && r.Code != stopgate.CodePolicyTimeout {
				counts++
			} else if r.Status != stopgate.StatusDenied || r.Code != stopgate.CodePolicyTimeout {
				t.Errorf("call %d: a row with %s %s", i, r.Status, r.Code)
			}
		}
		if counts == 0 || len(rows) > 2 || len(rows) == 2 && took[i] < patience {
			t.Errorf("call %d took %s, and has %d rows, %d of which count", i, took[i], len(rows), counts)
		}
		late += len(rows) - 1
	}
	if len(calls) != n || answered == 0 || late > answered+left {
		t.Errorf("rows of %d calls, of %d, %d of them late; the resident answered %d and left %d", len(calls), n, late, answered, left)
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
