//go:build unix

package once

import (
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// alike returns a call of a host with the same arguments as all others here.
func alike(host, id string) Call {
	c := call(1, host)
	c.ID = id
	return c
}

// enters expects an answer for a call, or the lease if want is "".
func enters(t *testing.T, d *Registry, c Call, want string) {
	t.Helper()
	turn, result, err := d.Enter(t.Context(), c)
	if (turn != nil) != (want == "") || string(result) != want || err != nil {
		t.Errorf("%s %s: %+v %q %v", c.Host, c.ID, turn, result, err)
	}
	if turn != nil {
		turn.Leave()
	}
}

// Proves S49: the answer about a call is kept for its second hook even if another call with the
// same arguments was proposed meanwhile: it is not decided, and counted, again.
func TestSameArgumentsMeanwhile(t *testing.T) {
	d, _ := clocked(t)
	if err := decide(t, d, alike("claude-code", "a")).Settle([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	second := decide(t, d, alike("claude-code", "b"))
	enters(t, d, alike("claude-code", "a"), `{"n":1}`)
	if err := second.Settle([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	enters(t, d, alike("claude-code", "a"), `{"n":1}`)
	enters(t, d, alike("claude-code", "b"), `{"n":2}`)
}

// waiting starts to wait for the decision about a call, and returns once that is visible.
func waiting(t *testing.T, d *Registry, c Call) (answer <-chan string) {
	t.Helper()
	seen := make(chan struct{})
	c.Waits = func() { close(seen) }
	done := make(chan string, 1)
	go func() {
		turn, result, err := d.Enter(t.Context(), c)
		if turn != nil {
			turn.Leave()
			done <- "the turn"
			return
		}
		done <- fmt.Sprintf("%s %v", result, err)
	}()
	<-seen
	return done
}

// Proves S49, FM9: a process that waited for an answer that is no longer known decides nothing.
func TestWaitedForLostAnswer(t *testing.T) {
	d, _ := clocked(t)
	c := alike("claude-code", "a")
	turn := decide(t, d, c)
	defer turn.Leave()
	answer := waiting(t, d, c)
	table, err := d.open(t.Context(), c.key(d.under))
	if err != nil {
		t.Fatal(err)
	}
	table.claims = nil
	if err := errors.Join(table.write(), table.close()); err != nil {
		t.Fatal(err)
	}
	if got, want := <-answer, fmt.Sprintf(" %v", ErrUnanswered); got != want {
		t.Errorf("it has %q, not %q", got, want)
	}
}

// Proves S49: a process that waited long gets the answer about its call, and not the older one
// about another call with the same arguments.
func TestWaitedAmongOthers(t *testing.T) {
	d, pass := clocked(t)
	long := decide(t, d, alike("claude-code", "a"))
	short := decide(t, d, alike("claude-code", "b"))
	if err := short.Settle([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	pass(Window)
	answer := waiting(t, d, alike("cursor", "x"))
	if err := long.Settle([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := <-answer, `{"n":1} <nil>`; got != want {
		t.Errorf("it has %q, not %q", got, want)
	}
}

// Proves S49: an answer is returned without limits on its content: it is not decided again.
func TestAnswersWithoutLimits(t *testing.T) {
	deep := strings.Repeat(`{"input":`, 200) + "1" + strings.Repeat("}", 200)
	for _, answer := range []string{deep, `{"` + strings.Repeat("k", 5000) + `":[` + strings.Repeat("0,", 1<<18) + `0]}`} {
		d, _ := clocked(t)
		if err := decide(t, d, alike("claude-code", "a")).Settle([]byte(answer)); err != nil {
			t.Fatal(err)
		}
		enters(t, d, alike("cursor", "x"), answer)
	}
}

// Proves S49, FM9: if a table cannot grow, no answer is stored and no call claimed, and its content
// is not lost: nothing is decided a second time.
func TestTableCannotGrow(t *testing.T) {
	d, _ := clocked(t)
	first, second := decide(t, d, alike("claude-code", "a")), decide(t, d, alike("claude-code", "b"))
	defer second.Leave()
	info, err := first.table.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	full := before
	full.Cur = uint64(info.Size())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	left := first.Settle([]byte(`{"n":"` + strings.Repeat("1", 1000) + `"}`))
	turn, answer, failed := d.Enter(t.Context(), alike("claude-code", "c"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if left == nil || turn != nil || answer != nil || failed == nil {
		t.Errorf("%v; %+v %q %v", left, turn, answer, failed)
	}
	if turn, answer, err := d.Enter(t.Context(), alike("claude-code", "a")); turn != nil || !errors.Is(err, ErrUnanswered) {
		t.Errorf("%+v %q %v", turn, answer, err)
	}
	delivered := waiting(t, d, alike("claude-code", "b"))
	if err := second.Settle([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := <-delivered, `{"n":2} <nil>`; got != want {
		t.Errorf("it has %q, not %q", got, want)
	}
}
