package gate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// never waits until the question is withdrawn.
func never(ctx context.Context, _ *gate.Question) (gate.Answer, error) {
	<-ctx.Done()
	return gate.Answer{}, context.Cause(ctx)
}

var stop = gate.Lockdown{Since: time.Unix(1, 0), By: "ann", Reason: "look at the logs"}

// Proves S59: under an order every call is denied: a new one at its first byte, one
// whose arguments arrive at its end, one that waits for somebody at once. Sessions do
// not pay for it. Lifted, everything goes on.
func TestLockdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec ports.Recorder
		store := mem.New()
		g := newGate(t, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(never)), gate.WithStore(store))
		arriving, held := openCall(t, g, "free"), openCall(t, g, "asked")
		arriving.Feed([]byte(`{"a":`))
		held.Feed([]byte(`{}`))
		held.Close(stopgate.Ended)
		ended := make(chan stopgate.Outcome)
		go func() {
			out, _ := held.Resolve(ctx)
			ended <- out
		}()
		synctest.Wait()
		begin := time.Now()
		if err := g.Order(ctx, store, stop, "ann"); err != nil {
			t.Fatal(err)
		}
		want(t, <-ended, stopgate.Denied, stopgate.CodeLockdown)
		if took := time.Since(begin); took != 0 {
			t.Errorf("a held call ends after %v", took)
		}
		arriving.Feed([]byte(`1}`))
		arriving.Close(stopgate.Ended)
		out, _ := arriving.Resolve(ctx)
		want(t, out, stopgate.Denied, stopgate.CodeLockdown)
		if v := openCall(t, g, "free").Verdict(); !v.Terminal() || v.Code != stopgate.CodeLockdown || v.DecidedAt != 0 {
			t.Errorf("a new call: %+v", v)
		}
		for range 100 {
			out, _ := g.Decide(ctx, stopgate.Call{Tool: "free", Session: "s", Args: []byte(`{}`)})
			want(t, out, stopgate.Denied, stopgate.CodeLockdown)
		}
		handed, _ := g.Handoff(ctx, gate.HandoffCall{To: "other", Session: "s"})
		if handed.Allowed() {
			t.Error("a handoff under an order")
		}
		early := openCall(t, g, "asked")
		if err := early.Ask(ctx); err != nil || early.Verdict().Code != stopgate.CodeLockdown {
			t.Error(err, early.Verdict())
		}
		early.Cancel(ctx)
		if l, err := store.Lockdown(ctx); err != nil || l != stop || g.Lockdown() != stop {
			t.Error(l, err)
		}
		if err := g.Order(ctx, store, gate.Lockdown{}, "bob"); err != nil {
			t.Fatal(err)
		}
		out, _ = g.Decide(ctx, stopgate.Call{Tool: "free", Session: "s", Args: []byte(`{}`)})
		if !out.Allowed() {
			t.Errorf("after the order: %+v", out.Verdict)
		}
		if e := rec.Events(stopgate.AuditLockdown); len(e) != 1 || e[0].Cause != "by ann: look at the logs" {
			t.Errorf("%+v", e)
		}
		if e := rec.Events(stopgate.AuditLifted); len(e) != 1 || e[0].Cause != "by bob" {
			t.Errorf("%+v", e)
		}
		if err := g.Order(ctx, store, stop, ""); err == nil {
			t.Error("an order of nobody")
		}
		for _, r := range rec.Decisions() {
			if r.Code == stopgate.CodeLockdown && r.Cause != stop.Reason {
				t.Errorf("a row does not say why: %+v", r)
			}
		}
	})
}

// Proves S59: an order holds where a policy only observes.
func TestLockdownOfAnObserver(t *testing.T) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte(
		"version = 1\n[gate]\nenforcement = \"observe\"\n[tools.t.policy]\nrun = \"unattended\"\n")}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	if g.Enforced() {
		t.Fatal("the policy observes")
	}
	g.Lock(stop)
	out := decide(t, g, "t", `{}`)
	if want(t, out, stopgate.Denied, stopgate.CodeLockdown); !out.Enforced || !g.Enforced() {
		t.Error("it is not enforced")
	}
	g.Lock(gate.Lockdown{})
	if out := decide(t, g, "t", `{}`); out.Enforced || !out.Allowed() {
		t.Errorf("%+v", out)
	}
}

// orders is a store whose order can be changed from outside, and fails.
type orders struct {
	now  atomic.Pointer[gate.Lockdown]
	fail atomic.Bool
}

func (o *orders) Lockdown(context.Context) (gate.Lockdown, error) {
	if o.fail.Load() {
		return gate.Lockdown{}, errors.New("disk")
	}
	if l := o.now.Load(); l != nil {
		return *l, nil
	}
	return gate.Lockdown{}, nil
}

func (o *orders) SetLockdown(_ context.Context, l gate.Lockdown) error {
	if o.fail.Load() {
		return errors.New("disk")
	}
	o.now.Store(&l)
	return nil
}

// Proves S59, I14: a gate follows the order that another process gives, and a store
// that cannot be read is an order.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		var o orders
		var heard []gate.Lockdown
		following, end := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			g.Follow(following, &o, time.Second, func(l gate.Lockdown) { heard = append(heard, l) })
		}()
		for i, step := range []struct {
			change func()
			stands bool
		}{
			{func() {}, false},
			{func() { o.SetLockdown(ctx, stop) }, true},
			{func() { o.fail.Store(true) }, true},
			{func() { o.fail.Store(false); o.SetLockdown(ctx, gate.Lockdown{}) }, false},
			{func() { o.fail.Store(true) }, true},
			{func() { o.fail.Store(false) }, false},
			{func() { o.SetLockdown(ctx, gate.Lockdown{Since: stop.Since}) }, true}, // by nobody, for no reason
			{func() { o.SetLockdown(ctx, gate.Lockdown{}) }, false},
		} {
			step.change()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := g.Lockdown().Active(); got != step.stands {
				t.Errorf("step %d: %v", i, g.Lockdown())
			}
		}
		end()
		<-done
		if len(heard) != 6 || heard[0] != stop || heard[1].Active() || !heard[2].Active() || heard[3].Active() || !heard[4].Active() || heard[5].Active() {
			t.Errorf("%+v", heard)
		}
		o.fail.Store(true)
		if err := g.Order(ctx, &o, stop, "ann"); err == nil || g.Lockdown().Active() {
			t.Error("an order that was not kept")
		}
	})
}
