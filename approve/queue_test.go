package approve_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

const rules = `
version = 1
[tools.write]
parameters.path = { type = "path", required = true }
parameters.content = { type = "string" }
[tools.write.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny" },
  { arg = "/path", prefix = "docs", mode = "ask", reason = "look first" },
  { arg = "/path", prefix = "cfg", mode = "edit" },
]
[tools.run]
parameters.command = { type = "command", required = true }
policy.run = "ask"
[tools.exec]
parameters.argv = { type = "argv", required = true }
policy.run = "ask"
`

// fixture is a gate with a queue and its store.
type fixture struct {
	t       *testing.T
	gate    *gate.Gate
	queue   *approve.Queue
	records *ports.Recorder
}

var quiet = approve.Options{Notify: []approve.Notifier{silent{}}}

type silent struct{}

func (silent) Name() string                                { return "silent" }
func (silent) Notify(context.Context, approve.Entry) error { return nil }

func newFixture(t *testing.T, s approve.Store, o approve.Options, opts ...gate.Option) *fixture {
	t.Helper()
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(rules)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	q, err := approve.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	d := &fixture{t: t, queue: q, records: new(ports.Recorder)}
	d.gate, err = gate.New(program, append([]gate.Option{gate.WithApprover(q), gate.WithRecorder(d.records), gate.WithDenyMode(gate.DenyToolResult)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func call(tool, args string) stopgate.Call {
	return stopgate.Call{Tool: stopgate.ToolName(tool), ID: "c", Session: "s1", Principal: "anna", Args: []byte(args)}
}

// decide proposes a call and returns a channel for its outcome.
func (d *fixture) decide(ctx context.Context, c stopgate.Call) <-chan stopgate.Outcome {
	done := make(chan stopgate.Outcome, 1)
	go func() {
		out, err := d.gate.Decide(ctx, c)
		if err != nil {
			d.t.Error(err)
		}
		done <- out
	}()
	synctest.Wait()
	return done
}

// waiting returns the questions that wait for an answer.
func (d *fixture) waiting() []approve.Entry {
	d.t.Helper()
	list, err := d.queue.List(d.t.Context(), approve.Filter{State: approve.Waiting})
	if err != nil {
		d.t.Fatal(err)
	}
	return list
}

// asked returns the only question that waits.
func (d *fixture) asked() approve.Entry {
	d.t.Helper()
	list := d.waiting()
	if len(list) != 1 {
		d.t.Fatalf("%d questions wait", len(list))
	}
	return list[0]
}

func (d *fixture) answer(id string, r approve.Reply) approve.Entry {
	d.t.Helper()
	if r.By == "" {
		r.By = "bob"
	}
	e, err := d.queue.Answer(d.t.Context(), id, r)
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

func (d *fixture) wants(done <-chan stopgate.Outcome, code stopgate.Code) stopgate.Outcome {
	d.t.Helper()
	out := <-done
	switch {
	case code == "" && !out.Allowed():
		d.t.Fatalf("%s (%s), want allowed", out.Verdict, out.Verdict.Public)
	case code != "" && (out.Allowed() || out.Verdict.Code != code):
		d.t.Fatalf("%s %s, want %s", out.Status, out.Verdict, code)
	}
	return out
}

const page = `{"path":"docs/a.md","content":"x"}`

// Proves I16, H1, D25-44: a question shows the complete call; a yes releases exactly this call,
// once; the identical call is a new question.
func TestYesCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		done := d.decide(t.Context(), call("write", page))
		e := d.asked()
		if e.Args != page || !e.Complete || e.Tool != "write" || e.Principal != "anna" || e.Mode != stopgate.Ask ||
			e.Public != "look first" || e.Rule == nil || e.Rule.Line != 9 || len(e.Leaves) != 2 || e.Leaves[0].Type != "path" {
			t.Fatalf("%+v", e)
		}
		d.answer(e.ID, approve.Reply{Kind: approve.Yes, Seen: e.Binding.Hash()})
		out := d.wants(done, "")
		if string(out.Args) != page || out.Approval == nil || out.Approval.By != "bob" || out.Approval.ID != e.ID {
			t.Fatalf("%s %+v", out.Args, out.Approval)
		}
		if e, _ := d.queue.Entry(t.Context(), e.ID); e.State != approve.Used || e.UsedBy != out.Proposal {
			t.Fatalf("%+v", e)
		}
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{By: "eve"}); !errors.Is(err, approve.ErrAnswered) {
			t.Fatal("a no after the call has left:", err)
		}
		done = d.decide(t.Context(), call("write", page))
		second := d.asked()
		d.answer(second.ID, approve.Reply{Reason: "not twice"})
		if out := d.wants(done, stopgate.CodeApprovalDeclined); out.Verdict.Public != "not twice" || second.ID == e.ID {
			t.Fatal(out.Verdict.Public)
		}
	})
}

// Proves H15, H1, I16: identical calls that wait at the same time are one question. A no answers
// all of them; a yes releases one, and the others ask again. Calls with another session, principal
// or arguments are questions of their own.
func TestIdenticalCallsAreOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		all := []<-chan stopgate.Outcome{d.decide(t.Context(), call("write", page)), d.decide(t.Context(), call("write", page)), d.decide(t.Context(), call("write", page))}
		first := d.asked()
		d.answer(first.ID, approve.Reply{Kind: approve.Yes})
		synctest.Wait()
		var rest []<-chan stopgate.Outcome
		for _, done := range all {
			select {
			case out := <-done:
				if !out.Allowed() || out.Approval.ID != first.ID {
					t.Fatalf("%s %+v", out.Verdict, out.Approval)
				}
			default:
				rest = append(rest, done)
			}
		}
		if len(rest) != 2 {
			t.Fatalf("one yes let %d calls out", len(all)-len(rest))
		}
		if second := d.asked(); second.ID == first.ID {
			t.Fatal("a question was used twice")
		} else {
			d.answer(second.ID, approve.Reply{})
		}
		for _, done := range rest {
			d.wants(done, stopgate.CodeApprovalDeclined)
		}
		for _, differs := range []func(c *stopgate.Call){
			func(c *stopgate.Call) {}, func(c *stopgate.Call) { c.Session = "s2" }, func(c *stopgate.Call) { c.Principal = "eve" },
			func(c *stopgate.Call) { c.Args = []byte(`{"path":"docs/a.md","content":"y"}`) },
		} {
			c := call("write", page)
			differs(&c)
			rest = append(rest, d.decide(t.Context(), c))
		}
		if n := len(d.waiting()); n != 4 {
			t.Errorf("%d questions of four calls that differ", n)
		}
		for _, e := range d.waiting() {
			d.answer(e.ID, approve.Reply{})
		}
		for _, done := range rest[2:] {
			d.wants(done, stopgate.CodeApprovalDeclined)
		}
	})
}

// Proves H16: of concurrent answers one is accepted, and a no before the release wins over every
// yes.
func TestRacingAnswers(t *testing.T) {
	s := new(mem.Approvals)
	q, err := approve.New(s, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 50 {
		id := strconv.Itoa(round)
		e := approve.Entry{ID: id, State: approve.Waiting, Complete: true, Expires: time.Now().Add(time.Hour)}
		if _, err := s.AddEntry(t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
			t.Fatal(err)
		}
		var yes, no atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				kind, count := approve.Yes, &yes
				if i%4 == 0 {
					kind, count = approve.No, &no
				}
				if _, err := q.Answer(t.Context(), id, approve.Reply{Kind: kind, By: "x"}); err == nil {
					count.Add(1)
				} else if !errors.Is(err, approve.ErrAnswered) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if e, _ := s.Entry(t.Context(), id); e.State != approve.Declined || no.Load() != 1 || yes.Load() > 1 {
			t.Fatalf("%s after %d yes and %d no", e.State, yes.Load(), no.Load())
		}
	}
}

// Proves S5, Q23: without an answer in time the call is denied with the id of the question; a later
// yes is kept for the identical call, once, until it expires; another call does not use it.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet, gate.WithLimits(gate.Limits{Hold: time.Minute, Approval: time.Hour}))
		out := d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
		e := d.asked()
		if !strings.Contains(out.Verdict.Public, e.ID) {
			t.Fatal(out.Verdict.Public)
		}
		d.answer(e.ID, approve.Reply{Kind: approve.Yes})
		other := d.decide(t.Context(), call("write", `{"path":"docs/b.md","content":"x"}`))
		d.answer(d.asked().ID, approve.Reply{})
		d.wants(other, stopgate.CodeApprovalDeclined)
		d.wants(d.decide(t.Context(), call("write", page)), "")
		again := d.decide(t.Context(), call("write", page))
		e = d.asked()
		d.wants(again, stopgate.CodeApprovalPending)

		time.Sleep(time.Hour)
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "bob"}); !errors.Is(err, approve.ErrExpired) {
			t.Fatal(err)
		}
		// An unused yes expires, too.
		done := d.decide(t.Context(), call("write", page))
		d.wants(done, stopgate.CodeApprovalPending)
		for _, e := range d.waiting() {
			if time.Now().Before(e.Expires) {
				d.answer(e.ID, approve.Reply{Kind: approve.Yes})
			}
		}
		time.Sleep(time.Hour)
		d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
	})
}

// Proves Q23, S26, P28: a question survives a restart with the same store.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mem.Approvals)
		before := newFixture(t, s, quiet)
		ctx, crash := context.WithCancel(t.Context())
		done := before.decide(ctx, call("write", page))
		e := before.asked()
		after := newFixture(t, s, quiet)
		after.answer(e.ID, approve.Reply{Kind: approve.Yes})
		crash() // races with the answer: in either order the call runs at most once
		out := <-done
		again := after.decide(t.Context(), call("write", page))
		if out.Allowed() {
			after.answer(after.asked().ID, approve.Reply{})
			after.wants(again, stopgate.CodeApprovalDeclined)
			return
		}
		after.wants(again, "")
	})
}

// Proves W53: when the client goes away the question is withdrawn, and a later answer is refused.
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		ctx, leave := context.WithCancel(t.Context())
		done := d.decide(ctx, call("write", page))
		e := d.asked()
		leave()
		d.wants(done, stopgate.CodeClientGone)
		synctest.Wait()
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "bob"}); !errors.Is(err, approve.ErrAnswered) {
			t.Fatal(err)
		}
	})
}

// Proves X12, H3, I16: edited arguments are judged like any call, and used once.
func TestEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		for _, c := range []struct {
			args string
			code stopgate.Code
		}{
			{`{"path":"docs/other.md"}`, ""},
			{`{"path":"docs/.env"}`, stopgate.CodeRuleMatched},
			{`{"file":"x"}`, stopgate.CodeSchemaViolation},
		} {
			done := d.decide(t.Context(), call("write", `{"path":"cfg/a"}`))
			e := d.asked()
			if e.Mode != stopgate.Edit {
				t.Fatal(e.Mode)
			}
			for _, bad := range []string{``, `[]`, `{"path":`, `{"path":"a","path":"b"}`} {
				if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.With, By: "bob", Args: []byte(bad)}); !errors.Is(err, approve.ErrNoEdit) {
					t.Fatalf("%s: %v", bad, err)
				}
			}
			d.answer(e.ID, approve.Reply{Kind: approve.With, Args: []byte(c.args)})
			if out := d.wants(done, c.code); c.code == "" && string(out.Args) != c.args {
				t.Fatalf("%s", out.Args)
			}
		}
	})
}

// Proves S54, H2, D26-16: a call is shown while it arrives; a no is accepted at once, a yes only
// when it is complete.
func TestPartialCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		open := func() *gate.Pending {
			c := call("write", "")
			c.Args = nil
			p, err := d.gate.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if v := p.Feed([]byte(`{"path":"docs/a.md",`)); v.Mode != stopgate.Ask || !v.Decided {
				t.Fatal(v)
			}
			if err := p.Ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return p
		}
		p := open()
		e := d.asked()
		if e.Complete || e.Args != "" || e.Received != 20 {
			t.Fatalf("%+v", e)
		}
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "bob"}); !errors.Is(err, approve.ErrIncomplete) {
			t.Fatal(err)
		}
		p.Feed([]byte(`"content":"x"}`))
		p.Close(stopgate.Ended)
		done := make(chan stopgate.Outcome, 1)
		go func() {
			out, _ := p.Resolve(t.Context())
			done <- out
		}()
		synctest.Wait()
		if e := d.asked(); !e.Complete || e.Args != page {
			t.Fatalf("%+v", e)
		}
		stale := approve.Reply{Kind: approve.Yes, By: "bob", Seen: gate.Binding{}.Hash()}
		if _, err := d.queue.Answer(t.Context(), e.ID, stale); !errors.Is(err, approve.ErrStale) {
			t.Fatal("a yes to what was shown before:", err)
		}
		d.answer(e.ID, approve.Reply{Kind: approve.Yes})
		d.wants(done, "")

		p = open()
		d.answer(d.asked().ID, approve.Reply{})
		select {
		case <-p.Done():
		case <-time.After(time.Minute):
			t.Fatal("a no does not act while the call arrives")
		}
		if v := p.Feed([]byte(`"content":"x"}`)); v.Code != stopgate.CodeApprovalDeclined {
			t.Fatal(v)
		}
		p.Close(stopgate.Ended)
		if out, err := p.Resolve(t.Context()); err != nil || out.Allowed() {
			t.Fatal(out, err)
		}
	})
}

// Proves S5, X8: without an approver the call is denied at once, or its question is kept if the
// queue defers; watchers can answer.
func TestNoApprover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), approve.Options{})
		d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeNoApprover)
		if n := len(d.waiting()); n != 0 {
			t.Fatalf("%d questions that nobody can answer", n)
		}
		ctx, leave := context.WithCancel(t.Context())
		seen := make(chan []approve.Entry, 10)
		left := make(chan error, 1)
		go func() {
			left <- d.queue.Watch(ctx, func(list []approve.Entry) error {
				seen <- list
				return nil
			})
		}()
		synctest.Wait()
		if list := <-seen; len(list) != 0 {
			t.Fatal(list)
		}
		done := d.decide(t.Context(), call("write", page))
		list := <-seen
		if len(list) != 1 {
			t.Fatal(list)
		}
		d.answer(list[0].ID, approve.Reply{Kind: approve.Yes})
		d.wants(done, "")
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeNoApprover)

		d = newFixture(t, new(mem.Approvals), approve.Options{Defer: true})
		out := d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
		e := d.asked()
		if !strings.Contains(out.Verdict.Public, e.ID) {
			t.Fatal(out.Verdict.Public)
		}
		if !e.Unattended() {
			t.Errorf("a call that was denied waits until %v", e.Until)
		}

		// A watcher connects and the call is repeated: now it waits.
		ctx, leave = context.WithCancel(t.Context())
		defer leave()
		go d.queue.Watch(ctx, func([]approve.Entry) error { return nil })
		synctest.Wait()
		done = d.decide(t.Context(), call("write", page))
		synctest.Wait()
		if again := d.asked(); again.ID != e.ID || again.Unattended() {
			t.Errorf("%s waits until %v", again.ID, again.Until)
		}
		d.answer(e.ID, approve.Reply{Kind: approve.Yes})
		d.wants(done, "")
		leave()
		time.Sleep(10 * time.Second)

		out = d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
		if e = d.asked(); !strings.Contains(out.Verdict.Public, e.ID) {
			t.Fatal(out.Verdict.Public)
		}
		d.answer(e.ID, approve.Reply{Kind: approve.Yes})
		d.wants(d.decide(t.Context(), call("write", page)), "")
	})
}

// A watcher sees that another question replaced the first.
func TestWatchShowsAnotherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		ctx, leave := context.WithCancel(t.Context())
		seen := make(chan []approve.Entry, 10)
		left := make(chan error, 1)
		hold := make(chan struct{})
		go func() {
			left <- d.queue.Watch(ctx, func(list []approve.Entry) error {
				seen <- list
				<-hold
				return nil
			})
		}()
		<-seen
		asked, gone := context.WithCancel(t.Context())
		first := d.decide(asked, call("write", page))
		synctest.Wait()
		hold <- struct{}{} // of the empty list
		one := <-seen
		gone() // while the list is shown
		<-first
		second := d.decide(t.Context(), call("write", page))
		synctest.Wait()
		hold <- struct{}{}
		two := <-seen
		if len(one) != 1 || len(two) != 1 || one[0].ID == two[0].ID {
			t.Fatal(one, two)
		}
		close(hold)
		d.answer(two[0].ID, approve.Reply{Kind: approve.Yes})
		d.wants(second, "")
		leave()
		<-left
	})
}

// Proves S5: an answer given in one process reaches the call that waits in another.
func TestTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(mem.Approvals)
		here, there := newFixture(t, s, quiet), newFixture(t, s, quiet)
		done := here.decide(t.Context(), call("write", page))
		there.answer(there.asked().ID, approve.Reply{Kind: approve.Yes})
		here.wants(done, "")
		// Both propose the identical call: one question, and its yes releases one of them.
		a, b := here.decide(t.Context(), call("write", page)), there.decide(t.Context(), call("write", page))
		there.answer(there.asked().ID, approve.Reply{Kind: approve.Yes})
		time.Sleep(time.Second)
		here.answer(here.asked().ID, approve.Reply{})
		x, y := <-a, <-b
		if x.Allowed() == y.Allowed() {
			t.Fatal(x.Verdict, y.Verdict)
		}
	})
}

type broken struct{}

func (broken) Name() string                                { return "broken" }
func (broken) Notify(context.Context, approve.Entry) error { panic("no") }

// Proves I14: a failing notifier is reported and has no other effect; a failing store denies.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Value
		d := newFixture(t, new(mem.Approvals), approve.Options{
			Notify: []approve.Notifier{broken{}},
			Failed: func(what string, err error) { failed.Store(what + ": " + err.Error()) },
		})
		done := d.decide(t.Context(), call("write", page))
		if failed.Load() != "broken: the notifier panicked" {
			t.Fatal(failed.Load())
		}
		d.answer(d.asked().ID, approve.Reply{Kind: approve.Yes})
		d.wants(done, "")

		d = newFixture(t, fails{new(mem.Approvals)}, quiet)
		d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeNoApprover)
	})
}

// alarm is a notifier that also reports stopped sessions.
type alarm struct {
	broken
	alert func() error
}

func (a alarm) Alert(context.Context, stopgate.Record) error { return a.alert() }

// Proves H22: every notifier with alerts reports a stopped session; failing ones are reported and
// do not affect the others.
func TestAlert(t *testing.T) {
	var alerts atomic.Int32
	var mu sync.Mutex
	var failed []string
	q, err := approve.New(new(mem.Approvals), approve.Options{
		Notify: []approve.Notifier{
			broken{}, alarm{alert: func() error { panic("no") }}, alarm{alert: func() error { return errors.New("gone") }},
			alarm{alert: func() error { alerts.Add(1); return nil }},
		},
		Failed: func(what string, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, what+": "+err.Error())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	q.Alert(t.Context(), stopgate.Record{Event: stopgate.AuditStopped})
	slices.Sort(failed)
	if alerts.Load() != 1 || !slices.Equal(failed, []string{"broken: gone", "broken: the notifier panicked"}) {
		t.Errorf("%d alerts, %q", alerts.Load(), failed)
	}
}

type fails struct{ approve.Store }

func (fails) AddEntry(context.Context, approve.Entry, func(approve.Entry) bool) (approve.Entry, error) {
	return approve.Entry{}, errors.New("disk full")
}
