package replay

import (
	"context"
	"time"
)

// Sleep waits for d or until ctx ends, and then returns ctx's error. It is the
// default of Options.Sleep.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// wait lets the time pass that a model needs for n tokens. Without a rate it
// only looks whether the client is still there.
func (u *Upstream) wait(ctx context.Context, n int) error {
	if u.o.TokensPerSecond <= 0 {
		return context.Cause(ctx)
	}
	return u.o.Sleep(ctx, time.Duration(float64(n)/u.o.TokensPerSecond*float64(time.Second)))
}
