package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/store/backend"
)

// store opens the store of a hookHome.
func (h *hookHome) store() backend.Store {
	h.t.Helper()
	store, err := place.Settings{Store: filepath.Join(h.dir, ".local", "state", "stopgate", "stopgate.db")}.Open(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { store.Close() })
	return store
}

// desk is the person who answers the questions of a hookHome, and who is there.
func (h *hookHome) desk() *approve.Queue {
	h.t.Helper()
	q := h.questions()
	if err := q.Attend(h.t.Context(), time.Hour); err != nil {
		h.t.Fatal(err)
	}
	return q
}

// questions are those of a hookHome.
func (h *hookHome) questions() *approve.Queue {
	h.t.Helper()
	q, err := approve.New(h.store(), approve.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	return q
}

// started is a hook that was started and not waited for.
type started struct {
	cmd  *exec.Cmd
	said chan hookSaid
}

// start starts a hook of Codex, which asks nobody by itself, about a command.
func (h *hookHome) start(command, id, deadline string) *started {
	h.t.Helper()
	cmd := exec.Command(h.program, "codex", "--policy", filepath.Join(h.dir, "policy.toml"), "--deadline", deadline)
	cmd.Dir, cmd.Env = h.dir, atHome(h.dir)
	cmd.Stdin = strings.NewReader(shellEvent(command, id))
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	s := &started{cmd, make(chan hookSaid, 1)}
	go func() {
		_ = cmd.Wait()
		s.said <- hookSaid{cmd.ProcessState.ExitCode(), out.String(), talk.String()}
	}()
	return s
}

func shellEvent(command, id string) string {
	return `{"session_id":"s","turn_id":"t","cwd":"/srv/proj","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"` + command + `"},"tool_use_id":"` + id + `"}`
}

// answer is what a hook said, within a minute.
func (s *started) answer(t *testing.T) hookSaid {
	t.Helper()
	select {
	case said := <-s.said:
		return said
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		t.Fatal("the hook does not answer")
	}
	return hookSaid{}
}

// inState waits until the queue has a question in a state about a text.
func inState(t *testing.T, q *approve.Queue, about string, state approve.State) approve.Entry {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		entries, err := q.List(t.Context(), approve.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.State == state && strings.Contains(fmt.Sprintf("%+v", e), about) {
				return e
			}
		}
	}
	t.Fatalf("no question about %s is %s", about, state)
	return approve.Entry{}
}

// Proves FM8, FM9, H16, S47: a question that a resident holds is answered, given up and lost as
// one that the hook itself holds: with a yes the call runs, with anything else it does not,
// and the host hears of it before the deadline.
func TestResidentHolds(t *testing.T) {
	alone, with := newHookHome(t, residentPolicy), newHookHome(t, residentPolicy)
	resident := with.serve("--idle", "0")
	for _, h := range []*hookHome{alone, with} {
		q := h.questions()
		reply := func(about string, kind approve.Kind) {
			t.Helper()
			e := inState(t, q, about, approve.Waiting)
			if _, err := q.Answer(t.Context(), e.ID, approve.Reply{Kind: kind, By: "somebody", Reason: "no, please"}); err != nil {
				t.Error(err)
			}
		}
		// Nobody is there: the call does not wait, and runs when it is repeated after a yes.
		if got := h.start("make alone", "alone", "1m").answer(t); got.exit != 2 || !strings.Contains(got.err, "The user answers in a terminal: stopgate approvals watch (approval_pending)") {
			t.Errorf("alone: %+v", got)
		}
		reply("make alone", approve.Yes)
		if got := h.start("make alone", "alone again", "1m").answer(t); got != (hookSaid{}) {
			t.Errorf("alone again: %+v", got)
		}
		if got := h.start("make alone", "alone once more", "1m").answer(t); got.exit != 2 {
			t.Errorf("alone once more: %+v", got)
		}
		h.desk()
		yes := h.start("make yes", "yes", "1m")
		reply("make yes", approve.Yes)
		if got := yes.answer(t); got != (hookSaid{}) {
			t.Errorf("yes: %+v", got)
		}
		no := h.start("make no", "no", "1m")
		reply("make no", approve.No)
		if got := no.answer(t); got.exit != 2 || !strings.Contains(got.err, "approval_declined") {
			t.Errorf("no: %+v", got)
		}
		began := time.Now()
		late := h.start("make late", "late", "5s").answer(t)
		if took := time.Since(began); late.exit != 2 || !strings.Contains(late.err, "approval_pending") || took > time.Minute {
			t.Errorf("late: %+v after %v", late, took)
		}
		// A yes that comes later counts for the identical call.
		reply("make late", approve.Yes)
		if got := h.start("make late", "later", "1m").answer(t); got != (hookSaid{}) {
			t.Errorf("after a late yes: %+v", got)
		}
	}
	if answered, left := with.counts(); answered != 7 || left != 0 {
		t.Errorf("the resident answered %d, and left %d", answered, left)
	}

	// Nobody waits any more for the answer to a question: it is withdrawn.
	q := with.desk()
	gone := with.start("make gone", "gone", "1m")
	e := inState(t, q, "make gone", approve.Waiting)
	if err := gone.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	inState(t, q, "make gone", approve.Withdrawn)
	if _, err := q.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "somebody"}); err == nil {
		t.Error("a question of a hook that was killed was answered")
	}

	// A resident that hangs while it asks is waited for until the deadline, and not longer.
	hung := with.start("make hung", "hung", "3s")
	inState(t, q, "make hung", approve.Waiting)
	if err := resident.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := hung.answer(t); got.exit != 2 || got.err == "" {
		t.Errorf("hung: %+v", got)
	}
	// One that hangs already is done without.
	if got := with.start("ls", "hangs", "4s").answer(t); got != (hookSaid{}) {
		t.Errorf("a resident that hangs: %+v", got)
	}
	if got := with.start("rm x", "hangs too", "4s").answer(t); got.exit != 2 || !strings.Contains(got.err, "not today") {
		t.Errorf("a resident that hangs: %+v", got)
	}
	if err := resident.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	// The end of a resident that asks is no answer.
	lost := with.start("make lost", "lost", "6s")
	inState(t, q, "make lost", approve.Waiting)
	if err := resident.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := lost.answer(t); got.exit != 2 || got.err == "" {
		t.Errorf("lost: %+v", got)
	}
	// Its socket is still there; nobody listens, and hooks decide themselves.
	if _, err := os.Lstat(with.socket()); err != nil {
		t.Error(err)
	}
	if got := with.start("ls", "left", "1m").answer(t); got != (hookSaid{}) {
		t.Errorf("a socket that was left: %+v", got)
	}
	if got := with.run("", "serve", "--status"); got.exit != 1 || !strings.Contains(got.err, "none is running") {
		t.Errorf("a socket that was left: %+v", got)
	}
	with.serve()
}

// Proves FM9, S59: a lockdown holds from the next call on, and ends a question that a hook, or
// its resident, holds; a yes that somebody gives after it is none.
func TestHooksObeyOrders(t *testing.T) {
	alone, with := newHookHome(t, residentPolicy), newHookHome(t, residentPolicy)
	with.serve()
	for _, h := range []*hookHome{alone, with} {
		h.obeysOrders(t)
	}
	if answered, left := with.counts(); answered != 5 || left != 0 {
		t.Errorf("the resident answered %d, and left %d", answered, left)
	}
}

func (h *hookHome) obeysOrders(t *testing.T) {
	t.Helper()
	if got := h.start("ls", "before", "1m").answer(t); got != (hookSaid{}) {
		t.Fatalf("%+v", got)
	}
	store := h.store()
	order := func(l gate.Lockdown) {
		t.Helper()
		if err := store.SetLockdown(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	q := h.desk()
	held := h.start("make held", "held", "20s")
	inState(t, q, "make held", approve.Waiting)
	order(gate.Lockdown{Since: time.Now(), By: "somebody", Reason: "stop it"})
	if got := h.start("ls", "during", "1m").answer(t); got.exit != 2 || !strings.Contains(got.err, "lockdown") {
		t.Errorf("%+v", got)
	}
	if got := held.answer(t); got.exit != 2 || !strings.Contains(got.err, "lockdown") {
		t.Errorf("a call that was held when the lockdown came: %+v", got)
	}
	order(gate.Lockdown{})
	// A yes and an order at once: the order counts.
	both := h.start("make both", "both", "20s")
	e := inState(t, q, "make both", approve.Waiting)
	order(gate.Lockdown{Since: time.Now(), By: "somebody"})
	_, _ = q.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "somebody"})
	if got := both.answer(t); got.exit != 2 || !strings.Contains(got.err, "lockdown") {
		t.Errorf("an order, and then a yes: %+v", got)
	}
	order(gate.Lockdown{})
	if got := h.start("ls", "after", "1m").answer(t); got != (hookSaid{}) {
		t.Errorf("%+v", got)
	}
}

// Proves FM9: a resident of a program that was replaced is not believed from then on, and
// ends at the first hook of the new one.
func TestResidentOfAnOldProgram(t *testing.T) {
	h := newHookHome(t, residentPolicy)
	text, err := os.ReadFile(h.program)
	if err != nil {
		t.Fatal(err)
	}
	put := func() {
		t.Helper()
		for _, name := range []string{"stopgate", process.SmallName} {
			next := filepath.Join(h.dir, "next")
			if err := os.WriteFile(next, text, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(next, filepath.Join(h.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	put()
	h.program = filepath.Join(h.dir, process.SmallName)
	h.serve("--idle", "0")
	if got := h.start("ls", "old", "1m").answer(t); got != (hookSaid{}) {
		t.Errorf("%+v", got)
	}
	if answered, _ := h.counts(); answered != 1 {
		t.Errorf("%d answered", answered)
	}
	put()
	for _, id := range []string{"new", "newer"} {
		if got := h.start("ls", id, "1m").answer(t); got != (hookSaid{}) {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := h.start("rm x", "denied", "1m").answer(t); got.exit != 2 {
		t.Errorf("%+v", got)
	}
	for end := time.Now().Add(time.Minute); ; {
		if _, err := os.Lstat(h.socket()); os.IsNotExist(err) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the old resident stays")
		}
	}
	h.serve()
}

// Proves S34, S47: after a grant a hook asks no question that it covers, in a process of its own and in a
// resident; what it does not cover is asked.
func TestHooksAskOnce(t *testing.T) {
	t.Parallel()
	const policy = "version = 1\n[tools.Shell]\nalso = [\"Bash\"]\nparameters.command = { type = \"command\" }\npolicy.run = \"ask\"\n"
	for _, resident := range []bool{false, true} {
		h := newHookHome(t, policy)
		if resident {
			h.serve("--idle", "0")
		}
		q := h.questions()
		if got := h.start("mkdir build/a", "one", "1m").answer(t); got.exit != 2 || !strings.Contains(got.err, "approval_pending") {
			t.Errorf("resident %t: %+v", resident, got)
		}
		e := inState(t, q, "mkdir build/a", approve.Waiting)
		scope, err := e.Extension("directory")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := q.Grant(t.Context(), e.ID, approve.Reply{By: "somebody"}, scope); err != nil {
			t.Fatal(err)
		}
		for i, command := range []string{"mkdir build/a", "mkdir build/a", "mkdir build/b"} {
			if got := h.start(command, fmt.Sprint("again", i), "1m").answer(t); got != (hookSaid{}) {
				t.Errorf("resident %t, %s: %+v", resident, command, got)
			}
		}
		if list, err := q.List(t.Context(), approve.Filter{State: approve.Waiting}); err != nil || len(list) != 0 {
			t.Errorf("resident %t: %d questions wait, %v", resident, len(list), err)
		}
		if got := h.start("mkdir lib", "other", "1m").answer(t); got.exit != 2 {
			t.Errorf("resident %t: %+v", resident, got)
		}
	}
}
