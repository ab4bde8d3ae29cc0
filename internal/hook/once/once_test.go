package once_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/once"
)

var claude = once.Call{Principal: "local", Tool: "Bash", Hash: [32]byte{1}, Host: "claude-code", Session: "s", ID: "t1"}

func as(host, id string) once.Call {
	c := claude
	c.Host, c.ID = host, id
	return c
}

func enter(t *testing.T, d *once.Registry, c once.Call) (*once.Lease, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	turn, result, err := d.Enter(ctx, c)
	return turn, string(result), err
}

// Proves S49: the second hook gets the first one's answer, and a repeated call does not.
func TestSecondGetsTheAnswer(t *testing.T) {
	d := once.At(t.TempDir()+"/new", "p")
	turn, _, err := enter(t, d, claude)
	if err != nil || turn == nil {
		t.Fatal(turn, err)
	}
	if err := turn.Settle([]byte(`{"action":"ask"}`)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		call  once.Call
		given bool
	}{
		{"another host, with an id of its own", as("cursor", "u9"), true},
		{"that host again: the call is made again", as("cursor", "u10"), false},
	} {
		turn, answer, err := enter(t, d, c.call)
		if err != nil || (turn == nil) != c.given || c.given && answer != `{"action":"ask"}` {
			t.Errorf("%s: %v %q %v", c.name, turn, answer, err)
		}
		if c.given != d.Gave(c.call) {
			t.Errorf("%s: given %v", c.name, !c.given)
		}
		if turn != nil {
			turn.Leave()
		}
	}
}

// Proves S49: hooks of one host have the same call only if its id is the same.
func TestOneHost(t *testing.T) {
	for _, c := range []struct {
		name  string
		call  once.Call
		given bool
	}{
		{"the same id", claude, true},
		{"another id", as("claude-code", "t2"), false},
		{"no id", as("claude-code", ""), false},
	} {
		d := once.At(t.TempDir(), "p")
		turn, _, err := enter(t, d, claude)
		if err != nil {
			t.Fatal(err)
		}
		turn.Settle([]byte(`{}`))
		second, _, err := enter(t, d, c.call)
		if err != nil || (second == nil) != c.given {
			t.Errorf("%s: %v %v", c.name, second, err)
		}
	}
	elsewhere := claude
	elsewhere.Session = "another"
	d := once.At(t.TempDir(), "p")
	turn, _, err := enter(t, d, claude)
	if err != nil {
		t.Fatal(err)
	}
	turn.Settle([]byte(`{}`))
	if second, answer, err := enter(t, d, elsewhere); err != nil || second == nil {
		t.Errorf("the same id in another session: %v %q %v", second, answer, err)
	}
	other := claude
	other.Hash[0] = 9
	d = once.At(t.TempDir(), "p")
	turn, _, _ = enter(t, d, claude)
	defer turn.Leave()
	if second, _, err := enter(t, d, other); err != nil || second == nil {
		t.Errorf("other arguments: %v %v", second, err)
	}
	if second, _, err := enter(t, d, as("claude-code", "t2")); err != nil || second == nil {
		t.Errorf("the same arguments beside a call that is being decided: %v %v", second, err)
	}
}

// Proves S49, FM9: a process that waits for an answer that does not come gets an error, at once if
// the first one left, and in time if it hangs.
func TestNoAnswer(t *testing.T) {
	d := once.At(t.TempDir(), "p")
	turn, _, err := enter(t, d, claude)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if turn, answer, err := d.Enter(short, as("cursor", "")); turn != nil || answer != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it hangs: %v %q %v", turn, answer, err)
	}
	turn.Leave()
	if turn, answer, err := enter(t, d, as("cursor", "")); turn != nil || answer != "" || !errors.Is(err, once.ErrUnanswered) {
		t.Errorf("it left: %v %q %v", turn, answer, err)
	}
}

// Proves S49, FM9: with many processes at once each call is decided once, whatever happens to the
// processes.
func TestProcesses(t *testing.T) {
	if env := os.Getenv("STOPGATE_TEST_ONCE"); env != "" {
		child(env)
	}
	dir := t.TempDir()
	for round := range 20 {
		var workers sync.WaitGroup
		var decided, given, failed atomic.Int32
		for n := range 6 {
			workers.Go(func() {
				host := fmt.Sprintf("host%d", n)
				cmd := exec.Command(os.Args[0], "-test.run", "^TestProcesses$")
				how := "settle"
				if round%4 == 3 {
					how = "die"
				}
				cmd.Env = append(os.Environ(), "STOPGATE_TEST_ONCE="+strings.Join([]string{dir, host, fmt.Sprint(round), how}, "\n"))
				out, _ := cmd.Output()
				s := bufio.NewScanner(strings.NewReader(string(out)))
				for s.Scan() {
					switch s.Text() {
					case "decided":
						decided.Add(1)
					case `{"round":` + fmt.Sprint(round) + `}`:
						given.Add(1)
					case "failed":
						failed.Add(1)
					}
				}
			})
		}
		workers.Wait()
		// Processes may come one after the other, but within the window.
		if d, g, f := decided.Load(), given.Load(), failed.Load(); round%4 == 3 && (d != 1 || f != 5) || round%4 != 3 && (d != 1 || g != 5) {
			t.Errorf("round %d: %d decided, %d were given the answer, %d failed", round, d, g, f)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) > 16*(1+6) {
		t.Errorf("%d files are left", len(left))
	}
}

// child is one hook, controlled by the environment.
func child(env string) {
	words := strings.Split(env, "\n")
	var hash [32]byte
	copy(hash[:], words[2])
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	turn, result, err := once.At(words[0], "p").Enter(ctx, once.Call{Principal: "local", Tool: "Bash", Hash: hash, Host: words[1], ID: words[1]})
	switch {
	case err != nil:
		fmt.Println("failed")
	case turn == nil:
		fmt.Println(string(result))
	case words[3] == "die":
		fmt.Println("decided")
		os.Exit(3)
	default:
		fmt.Println("decided")
		if err := turn.Settle([]byte(`{"round":` + words[2] + `}`)); err != nil {
			fmt.Println(err)
		}
	}
	os.Exit(0)
}

// Proves S49, C14: a reused file gives no answer away more often than a new one, if its old content
// was longer or shorter.
func TestReusedFile(t *testing.T) {
	for _, answers := range [][2]string{
		{`{"action":"ask"}`, `{"action":"ask"}`},
		{`{"action":"ask","reason":"` + strings.Repeat("long ", 40) + `"}`, `{}`},
		{`{}`, `{"action":"ask","reason":"` + strings.Repeat("long ", 40) + `"}`},
	} {
		d := once.At(t.TempDir(), "p")
		for n, answer := range answers {
			turn, _, err := enter(t, d, as("claude-code", fmt.Sprint("t", n)))
			if err != nil || turn == nil {
				t.Fatal(turn, err)
			}
			if err := turn.Settle([]byte(answer)); err != nil {
				t.Fatal(err)
			}
			if turn, result, err := enter(t, d, as("cursor", fmt.Sprint("u", n))); err != nil || turn != nil || result != answer {
				t.Errorf("call %d: %v %q %v", n, turn, result, err)
			}
			if n == 0 {
				continue
			}
			second, result, err := enter(t, d, as("cursor", "again"))
			if err != nil || second == nil {
				t.Errorf("a call that is made again is given the answer %s of the one before, %v", result, err)
				continue
			}
			second.Leave()
		}
	}
}
