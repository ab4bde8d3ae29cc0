package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// healthLog reports why a gate denies calls that its policy would permit: when that begins, once a
// minute while it lasts, and when it ends (FM2, FM4, FM16). The rows that would show it are
// those that cannot be written. It also tries to write them: a gate that is not ready may get no
// call that would.
type healthLog struct {
	log   *slog.Logger
	place string // of the records

	lost, uncertain, stuck fault
}

// fault is one thing that is wrong with a gate.
type fault struct {
	seen bool      // when the gate was looked at last
	said time.Time // of the last report, zero for none
}

const (
	ailingPoll  = time.Second
	ailingAgain = time.Minute
)

// healthSource is the health of a gate, as [gate.Gate] has it.
type healthSource interface {
	Health() gate.Health
	Mend(ctx context.Context) bool
}

// watch looks at a gate until ctx ends.
func (a *healthLog) watch(ctx context.Context, g healthSource) {
	tick := time.NewTicker(ailingPoll)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			h := g.Health()
			a.look(h, now)
			if h.LostRows > 0 || h.Uncertain > 0 {
				g.Mend(ctx)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (a *healthLog) look(h gate.Health, now time.Time) {
	a.lost.tell(h.LostRows > 0 || h.Spooled && h.LostBecause != nil, h.LostRows == 0, now, func() {
		a.log.Error("nothing is allowed: the records cannot be written", "records", a.place, "rows", h.LostRows, "cause", h.LostBecause)
	}, func() { a.log.Info("the records are written again", "records", a.place) })
	a.uncertain.tell(h.Uncertain > 0, false, now, func() {
		a.log.Error("a result could not be stored: what session policies govern is denied there until somebody runs stopgate sessions reconcile", "sessions", h.Uncertain)
	}, func() { a.log.Info("the uncertain sessions are stored: stopgate sessions reconcile ends it") })
	// A call that overruns its deadline by less than an interval is over already.
	a.stuck.tell(h.Stuck > 0, true, now, func() {
		a.log.Warn("the store, the records, an approver or the judge does not answer: its calls are denied", "waiting", h.Stuck)
	}, func() { a.log.Info("everything answers again") })
}

// tell reports a fault; patiently only if it was there at the last look too.
func (a *fault) tell(ails, patient bool, now time.Time, wrong, over func()) {
	switch lasts := a.seen; {
	case ails && (lasts || !patient) && (a.said.IsZero() || now.Sub(a.said) >= ailingAgain):
		wrong()
		a.said = now
	case !ails && !a.said.IsZero():
		over()
		a.said = time.Time{}
	}
	a.seen = ails
}
