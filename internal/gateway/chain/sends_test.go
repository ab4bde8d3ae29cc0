package chain_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// caller is a policy that decides about calls with a function.
type caller func(x *events.Exchange, s events.Stream, b *events.Call) error

func (caller) Name() string { return "caller" }

func (c caller) OnToolCallComplete(_ context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	return c(x, s, b)
}

// ask passes calls of a, b and so on through a chain of one policy.
func ask(t *testing.T, c caller, calls int) (list []chain.Decision, errs []error) {
	t.Helper()
	run := chained(t, c).Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
	for n := range calls {
		run.Call(n, 0, "id", "tool")
	}
	for n := range calls {
		run.CallComplete(t.Context(), n, "id", "")
		d, err := run.Decision(t.Context(), n)
		list, errs = append(list, d), append(errs, err)
	}
	run.Complete(t.Context())
	return list, errs
}

// Proves V3-06, V3-07, V3-08, V3-22: after the end of its output a policy still receives calls, and
// its sends are errors; it can send the call that it receives, once, and no other; a call keeps its
// tool.
func TestSendInCallHooks(t *testing.T) {
	var first *events.Call
	asked := 0
	list, errs := ask(t, func(x *events.Exchange, s events.Stream, b *events.Call) error {
		switch asked++; asked {
		case 1:
			if first = b; s.IsOutputFinished() {
				t.Error("finished before it began")
			}
			return s.SendText("BLOCKED: tool - no", true)
		default:
			if err := s.Send(events.BlockChunk(b)); !errors.Is(err, events.ErrFinished) {
				t.Errorf("a call behind the end: %v", err)
			}
			x.Count("skipped")
			return nil
		}
	}, 3)
	if asked != 3 || list[0].Sent || list[0].Text != "BLOCKED: tool - no" || list[1].Sent || list[1].Text != "" || list[2].Sent || errors.Join(errs...) != nil {
		t.Errorf("asked %d times: %+v %v", asked, list, errs)
	}
	list, errs = ask(t, func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		if err := s.Send(events.BlockChunk(first)); !errors.Is(err, events.ErrNotAllowed) {
			t.Errorf("another call: %v", err)
		}
		if err := s.SendText("instead", false); err != nil {
			t.Error(err)
		}
		if err := s.Send(events.BlockChunk(b)); !errors.Is(err, events.ErrAlreadySent) {
			t.Errorf("the call beside what stands for it: %v", err)
		}
		return nil
	}, 1)
	if list[0].Sent || list[0].Text != "instead" || errs[0] != nil {
		t.Errorf("%+v %v", list, errs)
	}
	list, errs = ask(t, func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		if err := s.Send(events.BlockChunk(b)); err != nil {
			t.Error(err)
		}
		if err := s.Send(events.BlockChunk(b)); !errors.Is(err, events.ErrAlreadySent) {
			t.Errorf("a call twice: %v", err)
		}
		if err := s.SendText("beside", false); !errors.Is(err, events.ErrAlreadySent) {
			t.Errorf("a text beside the call: %v", err)
		}
		return nil
	}, 1)
	if !list[0].Sent || list[0].Changed || errs[0] != nil {
		t.Errorf("%+v %v", list, errs)
	}
	var failed *chain.HookError
	list, errs = ask(t, func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		b.Name = "another"
		return s.Send(events.BlockChunk(b))
	}, 1)
	if !errors.As(errs[0], &failed) || list[0].Sent {
		t.Errorf("a call of another tool: %+v %v", list, errs)
	}
}

// Proves V3-02: every exchange begins with its own empty scratchpad.
func TestScratchpadsAreFresh(t *testing.T) {
	c := chained(t, caller(nil))
	one, two := c.Begin(chain.Setup{}).Exchange(), c.Begin(chain.Setup{}).Exchange()
	one.Count("a")
	if len(two.Scratchpad) != 0 || two.Count("a") != 1 || len(c.Begin(chain.Setup{}).Exchange().Scratchpad) != 0 {
		t.Errorf("%v", two.Scratchpad)
	}
}
