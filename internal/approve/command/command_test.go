package command_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/approve/command"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// Proves S47, H14: the command gets the question in escaped variables, and no argument of the call.
func TestNotify(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	e := approvals.Entry("a")
	e.Tool, e.Public = "$(touch x)\x1b[2J`id`", "look; first"
	c := command.Command{Line: `printf '%s|%s|%s' "$STOPGATE_ID" "$STOPGATE_TOOL" "$STOPGATE_REASON" >` + out}
	if err := c.Notify(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if want := "a|$(touch x)\\u{1b}[2J`id`|look; first"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if c.Name() == "" {
		t.Error("no name")
	}
}

// Proves H22: an operator is notified of a stopped session by the same command.
func TestAlert(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	c := command.Command{Line: `printf '%s|%s|%s|%s' "$STOPGATE_EVENT" "$STOPGATE_TOOL" "$STOPGATE_SESSION" "$STOPGATE_REASON" >` + out}
	r := stopgate.Record{Event: stopgate.AuditStopped, Tool: "rm\x1b[2J", Session: "s1", Count: 25, Cause: "rule_matched"}
	if err := c.Alert(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if want := "stopped|rm\\u{1b}[2J|s1|the session is stopped after 25 denials in a row, the last one by rule_matched"; err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// A command that fails or does not end only returns an error.
func TestErrors(t *testing.T) {
	if err := (&command.Command{Line: "exit 3"}).Notify(t.Context(), approvals.Entry("a")); err == nil {
		t.Error("a command that fails")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (&command.Command{Line: "exec sleep 60"}).Notify(ctx, approvals.Entry("a")); err == nil {
		t.Error("a command that hangs")
	}
}
