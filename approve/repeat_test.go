package approve_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves S5, S54: a repeated call whose question was asked while it still arrived uses the earlier
// yes to the complete call, and its own question is withdrawn.
func TestRepeatedCallArrivesSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet, gate.WithLimits(gate.Limits{Hold: time.Minute, Approval: time.Hour}))
		d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
		d.answer(d.asked().ID, approve.Reply{Kind: approve.Yes})

		c := call("write", "")
		c.Args = nil
		p, err := d.gate.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		p.Feed([]byte(page[:20]))
		if err := p.Ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		early := d.asked()
		p.Feed([]byte(page[20:]))
		p.Close(stopgate.Ended)
		start := time.Now()
		if out, err := p.Resolve(t.Context()); err != nil || !out.Allowed() || time.Since(start) > time.Second {
			t.Fatal(out.Verdict, err, time.Since(start))
		}
		if e, err := d.queue.Entry(t.Context(), early.ID); err != nil || e.State != approve.Withdrawn {
			t.Errorf("the early question: %+v, %v", e, err)
		}
	})
}

// slowStore reads entries until the context ends.
type slowStore struct{ approve.Store }

func (s slowStore) Entry(ctx context.Context, id string) (approve.Entry, error) {
	if ctx.Done() != nil {
		<-ctx.Done()
		return approve.Entry{}, ctx.Err()
	}
	return s.Store.Entry(ctx, id)
}

// Proves W53: a question is withdrawn also if its call goes away while the queue reads the entry.
func TestClientGoneDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(mem.Approvals)
		d := newFixture(t, slowStore{store}, quiet)
		ctx, leave := context.WithCancel(t.Context())
		done := d.decide(ctx, call("write", page))
		e := d.asked()
		time.Sleep(time.Minute) // the queue is reading by now
		synctest.Wait()
		leave()
		d.wants(done, stopgate.CodeClientGone)
		synctest.Wait()
		if e, err := store.Entry(t.Context(), e.ID); err != nil || e.State != approve.Withdrawn {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// Proves S5, Q23: the queue names its question well before the deadline of the gate, so that this
// works on a busy machine, too.
func TestNamedBeforeTheDeadline(t *testing.T) {
	for hold, want := range map[time.Duration]time.Duration{
		50 * time.Second: 49 * time.Second, 2 * time.Second: 1500 * time.Millisecond, 40 * time.Millisecond: 20 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			d := newFixture(t, new(mem.Approvals), quiet, gate.WithLimits(gate.Limits{Hold: hold}))
			out := d.wants(d.decide(t.Context(), call("write", page)), stopgate.CodeApprovalPending)
			if took := time.Since(began); took != want || !strings.Contains(out.Verdict.Public, d.asked().ID) {
				t.Errorf("after %v: %s", took, out.Verdict.Public)
			}
		})
	}
}
