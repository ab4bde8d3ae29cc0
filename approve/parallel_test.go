package approve_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// Proves Q8, S34: a grant also answers the questions that wait already, and no others; each call has a
// use of the grant of its own.
func TestGrantAnswersWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		first := d.decide(t.Context(), call("write", page))
		id := d.asked().ID
		second := d.decide(t.Context(), call("write", `{"path":"docs/b.md","content":"x"}`))
		same := d.decide(t.Context(), call("write", page))
		other := d.decide(t.Context(), call("write", `{"path":"lib/a","content":"x"}`))
		_, g, err := d.queue.Grant(t.Context(), id, approve.Reply{By: "bob"}, approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}})
		if err != nil {
			t.Fatal(err)
		}
		d.wants(first, "")
		time.Sleep(time.Second)
		d.wants(second, "")
		d.wants(same, "")
		if e := d.asked(); e.Args != `{"path":"lib/a","content":"x"}` {
			t.Errorf("%+v", e)
		}
		if list, _ := d.queue.Grants(t.Context(), approve.GrantFilter{}); len(list) != 1 || list[0].ID != g.ID || list[0].Uses != 2 {
			t.Errorf("%+v", list)
		}
		d.answer(d.asked().ID, approve.Reply{})
		d.wants(other, stopgate.CodeApprovalDeclined)
	})
}

// Proves S34, I16: one yes to identical calls that wait is for one of them; a no is for all.
func TestIdenticalCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, new(mem.Approvals), quiet)
		one, two := d.decide(t.Context(), call("write", page)), d.decide(t.Context(), call("write", page))
		first := d.asked().ID // a single question
		d.answer(first, approve.Reply{Kind: approve.Yes})
		time.Sleep(time.Second)
		next := d.asked()
		if next.ID == first {
			t.Fatal("the question was not asked again")
		}
		d.answer(next.ID, approve.Reply{Kind: approve.Yes})
		d.wants(one, "")
		d.wants(two, "")
		one, two = d.decide(t.Context(), call("write", page)), d.decide(t.Context(), call("write", page))
		d.answer(d.asked().ID, approve.Reply{})
		d.wants(one, stopgate.CodeApprovalDeclined)
		d.wants(two, stopgate.CodeApprovalDeclined)
	})
}

// meanwhile runs a function when a grant is used.
type meanwhile struct {
	approve.Store
	run func()
}

func (s *meanwhile) ChangeGrant(ctx context.Context, id string, change func(approve.Grant) (approve.Grant, error)) (approve.Grant, error) {
	if run := s.run; run != nil {
		s.run = nil
		run()
	}
	return s.Store.ChangeGrant(ctx, id, change)
}

// Proves H16: a no to a question that waits wins over a grant that is created for another question, and
// the grant loses no use.
func TestNoWinsOverGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &meanwhile{Store: new(mem.Approvals)}
		d := newFixture(t, store, quiet)
		first := d.decide(t.Context(), call("write", page))
		id := d.asked().ID
		second := d.decide(t.Context(), call("write", `{"path":"docs/b.md","content":"x"}`))
		var waits string
		for _, e := range d.waiting() {
			if e.ID != id {
				waits = e.ID
			}
		}
		store.run = func() {
			if _, err := d.queue.Answer(t.Context(), waits, approve.Reply{By: "eve"}); err != nil {
				t.Error(err)
			}
		}
		if _, _, err := d.queue.Grant(t.Context(), id, approve.Reply{By: "bob"}, approve.Scope{Wider: []approve.Value{{Pointer: "/path", How: approve.Below, Text: "docs"}}}); err != nil {
			t.Fatal(err)
		}
		d.wants(first, "")
		time.Sleep(time.Second)
		d.wants(second, stopgate.CodeApprovalDeclined)
		if list, _ := d.queue.Grants(t.Context(), approve.GrantFilter{}); len(list) != 1 || list[0].Uses != 0 {
			t.Errorf("%+v", list)
		}
	})
}
