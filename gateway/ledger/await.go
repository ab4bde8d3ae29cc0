package ledger

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
)

// The times between two looks at an entry that is waited for.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 250 * time.Millisecond
)

// Await waits until no gateway reads the response of an id any more, nor the one in which
// it went on, at most until the time that its entry says or ctx ends. An entry that cannot
// be read is not waited for.
func (b *Book) Await(ctx context.Context, p stopgate.Principal, id string) {
	for pause := firstLook; ctx.Err() == nil; pause = min(2*pause, lastLook) {
		r, ok, err := b.Response(ctx, p, id)
		for n := 0; ok && err == nil && r.Next != "" && n < MaxCalls; n++ {
			r, ok, err = b.Response(ctx, p, r.Next)
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
