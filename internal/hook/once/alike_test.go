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

// alike is a call as a host asks about it that has the same arguments as every other one here.
func alike(host, id string) Call {
	c := call(1, host)
	c.ID = id
	return c
}

// enters wants an answer for a call, or the turn where want is "".
func enters(t *testing.T, d *Desk, c Call, want string) {
	t.Helper()
	turn, said, err := d.Enter(t.Context(), c)
	if (turn != nil) != (want == "") || string(said) != want || err != nil {
		t.Errorf("%s %s: %+v %q %v", c.Host, c.ID, turn, said, err)
	}
	if turn != nil {
		turn.Leave()
	}
}

// Proves S49: the answer about a call waits for its second hook also where another call with
// the same arguments was proposed meanwhile: it is not decided, and counted, again.
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

// waiting begins to ask about a call that is being decided, and returns when that was seen.
func waiting(t *testing.T, d *Desk, c Call) (answer <-chan string) {
	t.Helper()
	seen := make(chan struct{})
	c.Waits = func() { close(seen) }
	done := make(chan string, 1)
	go func() {
		turn, said, err := d.Enter(t.Context(), c)
		if turn != nil {
			turn.Leave()
			done <- "the turn"
			return
		}
		done <- fmt.Sprintf("%s %v", said, err)
	}()
	<-seen
	return done
}

// Proves S49, FM9: who waited for an answer that is not known any more decides nothing.
func TestWaitedForWhatIsGone(t *testing.T) {
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

// Proves S49: who waited long has the answer about that call, and not the older one about
// another with the same arguments.
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

// Proves S49: an answer is given whatever its reader may make of it: it is not decided again.
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

// Proves S49, FM9: where a table cannot grow, an answer is not left, nor a call claimed, and
// what stands there is not lost: nothing is decided a second time.
func TestNoRoomToGrow(t *testing.T) {
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
	turn, said, failed := d.Enter(t.Context(), alike("claude-code", "c"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if left == nil || turn != nil || said != nil || failed == nil {
		t.Errorf("%v; %+v %q %v", left, turn, said, failed)
	}
	if turn, said, err := d.Enter(t.Context(), alike("claude-code", "a")); turn != nil || !errors.Is(err, ErrUnanswered) {
		t.Errorf("%+v %q %v", turn, said, err)
	}
	answer := waiting(t, d, alike("claude-code", "b"))
	if err := second.Settle([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	if got, want := <-answer, `{"n":2} <nil>`; got != want {
		t.Errorf("it has %q, not %q", got, want)
	}
}
