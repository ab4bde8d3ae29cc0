package chain_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// meddler is a policy that changes the call in OnToolCallDelta.
type meddler struct{}

func (meddler) Name() string { return "meddler" }

func (meddler) OnToolCallDelta(_ context.Context, _ *events.Exchange, s events.Stream, c *events.Call, _ string) error {
	err := s.Send(events.BlockChunk(c))
	*c = events.Call{ID: "other", Name: "harmless", Arguments: `{"n":1}`}
	return err
}

// reader is a policy that records the call that it forwards.
type reader struct{ got *events.Call }

func (reader) Name() string { return "reader" }

func (r reader) OnToolCallComplete(_ context.Context, _ *events.Exchange, s events.Stream, c *events.Call) error {
	*r.got = *c
	return s.Send(events.BlockChunk(c))
}

// Proves X11, V3-10: OnToolCallDelta changes nothing: later policies decide about the call of the
// model, which is what runs.
func TestDeltaHooksChangeNothing(t *testing.T) {
	for _, args := range []string{`{"n":0}`, ""} {
		var got events.Call
		run := chained(t, meddler{}, reader{&got}).Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
		run.Call(0, 0, "id", "tool")
		if args != "" {
			for i := range args {
				if _, err := run.CallDelta(t.Context(), 0, args[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		run.CallComplete(t.Context(), 0, "id", "")
		d, err := run.Decision(t.Context(), 0)
		if err != nil || !d.Sent || d.Changed || d.Arguments != args {
			t.Errorf("%q: %+v %v", args, d, err)
		}
		if want := (events.Call{ID: "id", Name: "tool", Arguments: args}); got != want {
			t.Errorf("the next policy decided about %+v, want %+v", got, want)
		}
	}
}
