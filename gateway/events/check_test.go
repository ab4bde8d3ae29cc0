package events_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
)

type misspelt struct{ events.Passthrough }

// OnContentDelta lacks the text parameter.
func (misspelt) OnContentDelta(context.Context, *events.Exchange, events.Stream) error { return nil }

type unheard struct{ events.Passthrough }

func (unheard) OnTextDelta() {}

// Proves V3-10: a test of a policy can detect names that are not hooks.
func TestCheck(t *testing.T) {
	for _, p := range []events.Policy{misspelt{}, unheard{}} {
		if events.Check(p) == nil {
			t.Errorf("%T: no mistake", p)
		}
	}
	for _, p := range []events.Policy{capitals{}, events.Passthrough{}, events.ContentOnly{}} {
		if err := events.Check(p); err != nil {
			t.Error(err)
		}
	}
}
