package replay

import (
	"context"
	"time"
)

// Sleep waits for d or until ctx ends, and then returns ctx's error. It is the default of
// Options.Sleep.
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

// shortest is the minimum time to wait: at a high rate the time of several chunks is waited for at
// once, because the inaccuracy of timers would determine the pace.
const shortest = 4 * time.Millisecond

// wait waits for the time that a model needs for n tokens. Without a rate it only checks that the
// client is still connected.
func (p *player) wait(n int) error {
	if p.u.o.TokensPerSecond > 0 {
		p.due += time.Duration(float64(n) / p.u.o.TokensPerSecond * float64(time.Second))
	}
	if p.due < shortest {
		return context.Cause(p.ctx)
	}
	due := p.due
	p.due = 0
	return p.u.o.Sleep(p.ctx, due)
}
