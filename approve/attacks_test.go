package approve_test

import (
	"context"
	"errors"
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

// program compiles policy files, the first of which is the operator's.
func program(t *testing.T, files ...string) *policy.Program {
	t.Helper()
	var sources []policy.Source
	for i, text := range files {
		sources = append(sources, policy.Source{Name: string(rune('a'+i)) + ".toml", Trusted: i == 0, Text: []byte(text)})
	}
	p, mistakes := prove.Compile(sources, policy.Options{})
	if p == nil {
		t.Fatal(mistakes)
	}
	return p
}

const guarded = `
version = 1
[tools.write]
parameters.path = { type = "path", required = true }
parameters.content = { type = "string" }
[tools.write.policy]
run = [ { arg = "/path", prefix = "lib/secret", mode = "ask", reason = "ours" }, { mode = "unattended" } ]
[tools.run]
parameters.command = { type = "command", required = true }
policy.run = [ { arg = "/command", prefix = "curl", mode = "ask" }, { mode = "unattended" } ]
[[guard]]
on = "path"
prefix = "lib"
mode = "ask"
reason = "guard"
`

// Proves H1, S34: a grant covers only the reasons of its question. If another rule asks, too - of
// another list, a later policy, another file - a person is asked.
func TestGrantForOneOfTwoReasons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		write := func(path string) stopgate.Call { return call("write", `{"path":"`+path+`"}`) }
		d := newFixture(t, new(mem.Approvals), quiet)
		d.gate = gateOf(t, d, program(t, guarded))
		below := approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "lib"}}}
		if g := d.grant(write("lib/a"), below); len(g.Asking) != 1 {
			t.Fatal(g.Asking)
		}
		if d.asks(write("lib/b")) {
			t.Error("the rule the grant was made for asks again")
		}
		if !d.asks(write("lib/secret/b")) {
			t.Error("a grant for the guard answered for the tool's own rule")
		}
		if g := d.grant(write("lib/secret/b"), below); len(g.Asking) != 2 {
			t.Fatal(g.Asking)
		}
		if d.asks(write("lib/secret/c")) || d.asks(write("lib/c")) {
			t.Error("a grant for both reasons answers for neither")
		}

		tighter := program(t, guarded, "version = 1\n[tools.write]\nparameters.path = { type = \"path\", required = true }\nparameters.content = { type = \"string\" }\n"+
			"[tools.write.policy]\nrun = [ { arg = \"/path\", suffix = \"/b\", mode = \"ask\", reason = \"project\" }, { mode = \"unattended\" } ]\n")
		d.gate = gateOf(t, d, tighter)
		if d.asks(write("lib/a")) || !d.asks(write("lib/b")) {
			t.Error("a grant answered for a rule that came later")
		}
	})
}

// Proves S34: a grant of an earlier version, which names only its own reason, is valid if nothing
// else asks.
func TestGrantOfEarlierVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		write := func(path string) stopgate.Call { return call("write", `{"path":"`+path+`"}`) }
		store := new(mem.Approvals)
		d := newFixture(t, store, quiet)
		d.gate = gateOf(t, d, program(t, guarded))
		g := d.grant(write("lib/a"), approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "lib"}}})
		_, err := store.ChangeGrant(context.Background(), g.ID, func(g approve.Grant) (approve.Grant, error) {
			g.Asking = nil
			return g, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if d.asks(write("lib/b")) {
			t.Error("the rule the grant was made for asks again")
		}
		if !d.asks(write("lib/secret/b")) {
			t.Error("it answered for the tool's own rule")
		}
	})
}

// Proves S34: the rules that ask are known for every command of a line.
func TestEveryCommandAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		d.gate = gateOf(t, d, program(t, guarded))
		line := call("run", `{"command":"make all; curl x"}`)
		d.grant(line, approve.Scope{})
		if d.asks(line) {
			t.Error("the same line asks again")
		}
		d.gate = gateOf(t, d, program(t, guarded+"[[guard]]\non = \"command\"\nprefix = \"make\"\nmode = \"ask\"\n"))
		if !d.asks(line) {
			t.Error("a grant answered for a guard that came later")
		}
	})
}

func gateOf(t *testing.T, d *fixture, p *policy.Program) *gate.Gate {
	t.Helper()
	d.records = new(ports.Recorder)
	g, err := gate.New(p, gate.WithApprover(d.queue), gate.WithRecorder(d.records), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// noGrants is a store of questions that cannot store grants.
type noGrants struct{ mem.Approvals }

var errFull = errors.New("full")

func (s *noGrants) AddGrant(context.Context, approve.Grant) error { return errFull }

// Proves H16: only an accepted yes creates a grant.
func TestGrantAfterNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		done := d.decide(t.Context(), call("write", page))
		e := d.asked()
		d.answer(e.ID, approve.Reply{})
		if _, _, err := d.queue.Grant(t.Context(), e.ID, approve.Reply{By: "bob"}, approve.Scope{}); !errors.Is(err, approve.ErrAnswered) {
			t.Error(err)
		}
		if list, _ := d.queue.Grants(t.Context(), approve.GrantFilter{}); len(list) != 0 {
			t.Error("a grant stands where somebody said no")
		}
		d.wants(done, stopgate.CodeApprovalDeclined)

		d = newFixture(t, new(noGrants), quiet)
		done = d.decide(t.Context(), call("write", page))
		e, _, err := d.queue.Grant(t.Context(), d.asked().ID, approve.Reply{By: "bob"}, approve.Scope{})
		if !errors.Is(err, approve.ErrNotKept) || !errors.Is(err, errFull) || e.State != approve.Approved {
			t.Error(e.State, err)
		}
		d.wants(done, "")
		if !d.asks(call("write", page)) {
			t.Error("a grant that was not kept answers")
		}
	})
}

// Proves FM13: a yes from a future time is invalid, and so is a reader's presence: the identical
// call is kept for an answer at once.
func TestQuestionsAfterClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back time.Duration
		o := approve.Options{Defer: true, Now: func() time.Time { return time.Now().Add(-back) }}
		d := newFixture(t, new(mem.Approvals), o)
		d.wants(d.decide(t.Context(), call("run", `{"command":"make"}`)), stopgate.CodeApprovalPending)
		old := d.asked()
		d.answer(old.ID, approve.Reply{Kind: approve.Yes})
		if err := d.queue.Attend(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		back = 2 * time.Hour
		d.wants(d.decide(t.Context(), call("run", `{"command":"make"}`)), stopgate.CodeApprovalPending)
		if e := d.asked(); e.ID == old.ID {
			t.Error("the old question is asked again")
		}
		if able := d.queue.Abilities(t.Context(), &stopgate.Call{Tool: "run"}); able.Reachable {
			t.Error("who read the queue before the clock was set back is still said to")
		}
		if err := d.queue.Attend(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		if able := d.queue.Abilities(t.Context(), &stopgate.Call{Tool: "run"}); !able.Reachable {
			t.Error("nobody is said to read the queue, and somebody does")
		}
	})
}

// Proves FM13: a call stops waiting when its question has expired because the clock was set or the
// machine slept.
func TestQuestionExpiresWhileWaiting(t *testing.T) {
	for _, by := range []time.Duration{2 * time.Hour, -2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var set atomic.Int64
			o := approve.Options{Notify: []approve.Notifier{silent{}}, Now: func() time.Time { return time.Now().Add(time.Duration(set.Load())) }}
			d := newFixture(t, new(mem.Approvals), o)
			began := time.Now()
			done := d.decide(t.Context(), call("run", `{"command":"make"}`))
			e := d.asked()
			set.Store(int64(by))
			d.wants(done, stopgate.CodeApprovalTimeout)
			if took := time.Since(began); took > time.Second {
				t.Errorf("%v: the call waited for %v", by, took)
			}
			if e, err := d.queue.Entry(t.Context(), e.ID); err != nil || e.State != approve.Withdrawn {
				t.Errorf("%v: %+v %v", by, e, err)
			}
		})
	}
}

// Proves FM13: setting the clock back extends no answer and no grant.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back time.Duration
		o := quiet
		o.Now = func() time.Time { return time.Now().Add(-back) }
		d := newFixture(t, new(mem.Approvals), o)
		done := d.decide(t.Context(), call("run", `{"command":"make"}`))
		e := d.asked()
		back = 2 * time.Hour
		if _, err := d.queue.Answer(t.Context(), e.ID, approve.Reply{Kind: approve.Yes, By: "bob"}); !errors.Is(err, approve.ErrExpired) {
			t.Error(err)
		}
		back = 0
		d.answer(e.ID, approve.Reply{Kind: approve.Yes})
		d.wants(done, "")

		d.grant(call("write", page), approve.Scope{})
		back = 30 * time.Second // a small correction of the clock
		if d.asks(call("write", page)) {
			t.Error("a grant ends because a clock was put right")
		}
		back = 2 * time.Hour
		if !d.asks(call("write", page)) {
			t.Error("a grant holds before it was made")
		}
	})
}
