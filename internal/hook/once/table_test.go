//go:build unix

package once

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// clocked returns a registry with a fake clock.
func clocked(t *testing.T) (d *Registry, pass func(time.Duration)) {
	t.Helper()
	d = At(t.TempDir(), "rules")
	now := time.Now()
	d.now = func() time.Time { return now }
	return d, func(by time.Duration) { now = now.Add(by) }
}

// call returns the call with a number, of a host.
func call(n int, host string) Call {
	return Call{Principal: "local", Tool: "Bash", Hash: [32]byte{byte(n), byte(n >> 8)}, Host: host, Session: "s", ID: fmt.Sprint(host, n)}
}

// decide takes the lease of a call, which no other process has.
func decide(t *testing.T, d *Registry, c Call) *Lease {
	t.Helper()
	turn, result, err := d.Enter(t.Context(), c)
	if err != nil || turn == nil || turn.table == nil {
		t.Fatalf("%s: %+v %s %v", c.ID, turn, result, err)
	}
	return turn
}

// files returns the names of a registry's files, and their contents.
func files(t *testing.T, d *Registry) (names []string, text string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(d.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	return names, text
}

// Proves S49: more concurrent calls than tables are kept apart, in whatever order they end.
func TestManyAtOnce(t *testing.T) {
	d, pass := clocked(t)
	const many = 200
	turns := make([]*Lease, many)
	for n := range turns {
		turns[n] = decide(t, d, call(n, "claude-code"))
	}
	pass(time.Hour) // an approval was requested
	for n := many - 1; n >= 0; n-- {
		if n%3 == 0 {
			turns[n].Leave()
		} else if err := turns[n].Settle(fmt.Appendf(nil, `{"n":%d}`, n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range turns {
		turn, answer, err := d.Enter(t.Context(), call(n, "cursor"))
		switch {
		case n%3 == 0: // an hour ago, as far as is known
			if err != nil || turn == nil {
				t.Errorf("%d was left: %s %v", n, answer, err)
			}
			turn.Leave()
		case err != nil || turn != nil || string(answer) != fmt.Sprintf(`{"n":%d}`, n):
			t.Errorf("%d: %+v %s %v", n, turn, answer, err)
		}
	}
}

// Proves S49, FM9: a process that waits for a long decision gets its answer, or the error if there
// is none, also among claims that have ended.
func TestOneThatTakesLong(t *testing.T) {
	d, pass := clocked(t)
	long, lost := decide(t, d, call(1, "claude-code")), decide(t, d, call(2, "claude-code"))
	pass(time.Minute)
	for n := range 300 { // calls come and go in every table
		if err := decide(t, d, call(1000+n, "claude-code")).Settle([]byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	gets := func(n int, want string, wrong error) {
		t.Helper()
		turn, answer, err := d.Enter(t.Context(), call(n, "cursor"))
		if turn != nil || string(answer) != want || !errors.Is(err, wrong) {
			t.Errorf("%d: %+v %s %v", n, turn, answer, err)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if turn, answer, err := d.Enter(short, call(1, "cursor")); turn != nil || answer != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody has answered: %+v %s %v", turn, answer, err)
	}
	if err := long.Settle([]byte(`{"long":1}`)); err != nil {
		t.Fatal(err)
	}
	gets(1, `{"long":1}`, nil)
	pass(-time.Minute + Window/2) // the lost one began a moment ago
	lost.Leave()
	gets(2, "", ErrUnanswered)
}

// Proves S49: a long answer, and one with line breaks, is returned unchanged, and nothing of it
// remains after newer calls; the number of files does not grow.
func TestNothingStays(t *testing.T) {
	d, pass := clocked(t)
	answers := []string{`{"input":"` + strings.Repeat("secret ", 100_000) + `"}`, "{\n \"input\": \"secret\"\n}"}
	for n, answer := range answers {
		if err := decide(t, d, call(n, "claude-code")).Settle([]byte(answer)); err != nil {
			t.Fatal(err)
		}
		turn, got, err := d.Enter(t.Context(), call(n, "cursor"))
		if err != nil || turn != nil || string(got) != strings.ReplaceAll(answer, "\n", " ") {
			t.Errorf("%d: %+v %d bytes %v", n, turn, len(got), err)
		}
	}
	pass(2 * markerLifetime)
	for n := range 300 {
		if err := decide(t, d, call(100+n, "claude-code")).Settle([]byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		pass(Window)
	}
	d.sweep()
	names, text := files(t, d)
	if strings.Contains(text, "secret") || len(text) > 2*tables*usual {
		t.Errorf("%d bytes are left, of an answer: %t", len(text), strings.Contains(text, "secret"))
	}
	if len(names) > 2*tables+len(answers) {
		t.Errorf("%d files: %q", len(names), names)
	}
}

// Proves S49: a table that is torn anywhere keeps the lines before that, and stays usable.
func TestTornTable(t *testing.T) {
	d, _ := clocked(t)
	c := call(1, "claude-code")
	if err := decide(t, d, c).Settle([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(d.dir, "*.calls"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	complete, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	other := c
	other.Host = "cursor"
	for n := range complete {
		for _, text := range []string{string(complete[:n]), string(complete[:n]) + "\x00" + string(complete[n+1:])} {
			if err := os.WriteFile(names[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			turn, answer, err := d.Enter(t.Context(), other)
			if turn != nil {
				err = errors.Join(err, turn.Settle([]byte(`{"n":2}`)))
			}
			if err != nil && !errors.Is(err, ErrUnanswered) || turn == nil && err == nil && string(answer) != `{"n":1}` {
				t.Fatalf("%q: %+v %s %v", text, turn, answer, err)
			}
		}
	}
}

// Proves S49: hooks of one host that begin at the same time have one call by its id, even if the
// same arguments were proposed before under another id.
func TestSameArgumentsBefore(t *testing.T) {
	for round := range 50 {
		d, _ := clocked(t)
		before := call(1, "claude-code")
		if err := decide(t, d, before).Settle([]byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		now := before
		now.ID = "again"
		var turns, given atomic.Int32
		var hooks sync.WaitGroup
		for range 3 {
			hooks.Go(func() {
				turn, answer, err := d.Enter(t.Context(), now)
				switch {
				case err != nil:
					t.Error(err)
				case turn == nil && string(answer) == `{"n":1}`:
					given.Add(1)
				case turn != nil:
					turns.Add(1)
					if err := turn.Settle([]byte(`{"n":1}`)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		hooks.Wait()
		if turns.Load() != 1 || given.Load() != 2 {
			t.Fatalf("round %d: %d decided, %d were given the answer", round, turns.Load(), given.Load())
		}
	}
}

// Proves S49: concurrent calls with the same arguments have an answer each, for their own second
// hook and for one of another host.
func TestSameArgumentsAtOnce(t *testing.T) {
	d, _ := clocked(t)
	as := func(host, id string) Call {
		c := call(1, host)
		c.ID = id
		return c
	}
	first, second := decide(t, d, as("claude-code", "a")), decide(t, d, as("claude-code", "b"))
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if turn, answer, err := d.Enter(short, as("claude-code", "b")); turn != nil || answer != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second is being decided: %+v %s %v", turn, answer, err)
	}
	for turn, answer := range map[*Lease]string{first: `{"n":1}`, second: `{"n":2}`} {
		if err := turn.Settle([]byte(answer)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ host, id, want string }{
		{"claude-code", "a", `{"n":1}`}, {"claude-code", "b", `{"n":2}`}, {"cursor", "x", `{"n":2}`}, {"cursor", "y", `{"n":1}`}, {"claude-code", "a", `{"n":1}`},
	} {
		turn, answer, err := d.Enter(t.Context(), as(c.host, c.id))
		if turn != nil || string(answer) != c.want || err != nil {
			t.Errorf("%s %s: %+v %s %v", c.host, c.id, turn, answer, err)
		}
	}
	decide(t, d, as("cursor", "z")).Leave()
}
