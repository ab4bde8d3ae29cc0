package approve_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// traced stores the events of a tracer.
type traced struct {
	mu   sync.Mutex
	list []gate.TraceEvent
}

func (t *traced) Trace(_ context.Context, e gate.TraceEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, e)
}

func (t *traced) last() gate.TraceEvent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[len(t.list)-1]
}

// A trace names who answered, with yes or no, and the channel; without an answer it has neither.
func TestChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen traced
		d := newFixture(t, new(mem.Approvals), quiet, gate.WithTracer(&seen))
		for _, c := range []struct {
			reply approve.Reply
			code  stopgate.Code
		}{
			{approve.Reply{Kind: approve.Yes, Via: approve.ViaTerminal}, ""},
			{approve.Reply{Kind: approve.No, Via: approve.ViaPage}, stopgate.CodeApprovalDeclined},
			{approve.Reply{Kind: approve.With, Args: []byte(`{"path":"docs/b.md"}`), Via: approve.ViaAPI}, ""},
			{approve.Reply{Kind: approve.Yes}, ""},
		} {
			done := d.decide(t.Context(), call("write", page))
			e := d.answer(d.asked().ID, c.reply)
			d.wants(done, c.code)
			if got := seen.list[0]; got.Via != c.reply.Via || e.Via != c.reply.Via || got.Answer == nil || got.Answer.By != "bob" || got.Answer.ID != e.ID || got.Partial {
				t.Errorf("%+v: by way of %q, answer %+v", c.reply, got.Via, got.Answer)
			}
			seen.list = nil
		}
		done := d.decide(t.Context(), call("write", page))
		if _, _, err := d.queue.Grant(t.Context(), d.asked().ID, approve.Reply{By: "bob", Via: approve.ViaCommand}, approve.Scope{}); err != nil {
			t.Fatal(err)
		}
		d.wants(done, "")
		if got := seen.last(); got.Via != approve.ViaCommand {
			t.Errorf("the yes of a grant: %q", got.Via)
		}
		d.wants(d.decide(t.Context(), call("write", page)), "")
		if got := seen.last(); got.Via != approve.ViaGrant || got.Answer == nil || got.Answer.By != "bob" {
			t.Errorf("a grant: %q %+v", got.Via, got.Answer)
		}
		ctx, leave := context.WithCancel(t.Context())
		done = d.decide(ctx, call("write", `{"path":"docs/z.md","content":"x"}`))
		leave()
		<-done
		if got := seen.last(); got.Via != "" || got.Answer != nil {
			t.Errorf("nobody answered: %q %+v", got.Via, got.Answer)
		}
	})
}
