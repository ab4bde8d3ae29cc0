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

// shortest is the least time that is worth a timer: at a high rate the time of
// several pieces is waited for at once, or the timers' own slack would set the
// pace.
const shortest = 4 * time.Millisecond

// wait lets the time pass that a model needs for n tokens. Without a rate it
// only looks whether the client is still there.
func (p *player) wait(n int) error {
	if p.u.o.TokensPerSecond > 0 {
		p.owed += time.Duration(float64(n) / p.u.o.TokensPerSecond * float64(time.Second))
	}
	if p.owed < shortest {
		return context.Cause(p.ctx)
	}
	owed := p.owed
	p.owed = 0
	return p.u.o.Sleep(p.ctx, owed)
}
