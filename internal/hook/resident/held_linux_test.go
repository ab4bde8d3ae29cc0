package resident_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook/ask"
)

// Proves FM9: requests that wait for approvals, and idle connections, do not delay other requests,
// however many there are.
func TestHeldRequestsDoNotBlock(t *testing.T) {
	if _, err := os.Stat("/proc/self/ns/mnt"); err != nil {
		t.Skip("this system shows nothing of processes")
	}
	h := newHome(t)
	policy := filepath.Join(h.dir, "policy.toml")
	if err := os.WriteFile(policy, []byte(`version = 1
[tools.Bash]
parameters.command = { type = "command" }
policy.run = [ { arg = "/command", prefix = "ls", mode = "unattended" }, { mode = "ask" } ]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := place.Settings{Store: filepath.Join(h.dir, ".local", "state", "stopgate", "stopgate.db")}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Attend(t.Context(), time.Now().Add(approve.MaxAttendance)); err != nil {
		t.Fatal(err)
	}
	h.serve(t)

	// More than are decided concurrently.
	const many = 70
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("unix", h.socket())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	put := func(command, id string) (r ask.Reply) {
		t.Helper()
		q := ask.Request{
			Nonce: "n", Args: []string{"codex", "--policy", policy, "--deadline", "5m"}, Dir: h.project, Env: []string{"HOME=" + h.dir},
			Event: fmt.Appendf(nil, `{"session_id":"s","turn_id":"t","cwd":%q,"hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":%q}`, h.project, command, id),
		}
		c := dial()
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(q.Append(nil)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 64<<10)
		for n := 0; ; {
			m, err := c.Read(text[n:])
			if err != nil {
				t.Fatalf("%s: nobody answers: %v", command, err)
			}
			n += m
			if _, cut, err := r.Parse(text[:n], q.Nonce); err != nil {
				t.Fatal(err)
			} else if !cut {
				return r
			}
		}
	}
	end := time.Now().Add(time.Minute)
	for held, n := 0, 0; held < many; n++ {
		switch r := put(fmt.Sprint("make ", n), fmt.Sprint("held", n)); {
		case r.Kind == ask.Held:
			held++
		case r.Kind != ask.Answered || r.Exit == 0 || time.Now().After(end): // an overloaded machine denies some
			t.Fatalf("question %d: %+v", n, r)
		}
	}
	for range many {
		dial()
	}
	if r := put("ls", "free"); r.Kind != ask.Answered || r.Exit != 0 {
		t.Errorf("behind %d others: %+v: %s", many, r, r.Err)
	}
	waiting, err := store.Entries(t.Context(), approve.Filter{State: approve.Waiting})
	if err != nil || len(waiting) < many {
		t.Errorf("%d questions wait, %v", len(waiting), err)
	}
}
