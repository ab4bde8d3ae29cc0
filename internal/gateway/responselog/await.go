package responselog

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
)

// minPoll and maxPoll bound the pause between two reads of an entry that Await waits for.
const (
	minPoll = 10 * time.Millisecond
	maxPoll = 250 * time.Millisecond
)

// Await blocks until no gateway reads the response with this id, or a response that continues it,
// any longer. It returns at the latest at the time in Response.Until, or when ctx ends. It does not
// wait for an entry that it cannot read.
func (l *Log) Await(ctx context.Context, p stopgate.Principal, id string) {
	for pause := minPoll; ctx.Err() == nil; pause = min(2*pause, maxPoll) {
		r, ok, err := l.Response(ctx, p, id)
		for n := 0; ok && err == nil && r.Next != "" && n < MaxCalls; n++ {
			r, ok, err = l.Response(ctx, p, r.Next)
		}
		left := time.Until(r.Until)
		if !ok || err != nil || r.Until.IsZero() || left <= 0 {
			return
		}
		timer := time.NewTimer(min(pause, left))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}
