//go:build unix

package once

import (
	"context"
	"testing"
	"time"
)

// Proves FM13: an answer is as old as the clock says in either direction. One that was
// given before the clock was put back is not for a call that comes now.
func TestFM13ClockPutBack(t *testing.T) {
	now := time.Now()
	desk := At(t.TempDir(), "rules")
	desk.now = func() time.Time { return now }
	call := Call{Principal: "local", Tool: "Bash", Host: "claude-code", Session: "s", ID: "1"}
	turn, _, err := desk.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	if err := turn.Settle([]byte(`{"action":"allow"}`)); err != nil {
		t.Fatal(err)
	}
	call.Host = "cursor"
	now = now.Add(-time.Hour)
	turn, said, err := desk.Enter(context.Background(), call)
	if err != nil || turn == nil {
		t.Fatalf("an hour before it was given, the answer is taken: %s, %v", said, err)
	}
	turn.Leave()
}
