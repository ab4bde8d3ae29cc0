package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate/gate"
)

// ill is a gate with something wrong now and then.
type ill struct {
	health gate.Health
	now    atomic.Bool
	mended atomic.Int64
}

func (p *ill) Health() gate.Health {
	if p.now.Load() {
		return p.health
	}
	return gate.Health{}
}

func (p *ill) Mend(context.Context) bool { p.mended.Add(1); return false }

// Proves FM4: standard error says why nothing is allowed, without a line for each call.
func TestAiling(t *testing.T) {
	full := errors.New("database or disk is full")
	for _, c := range []struct {
		name  string
		ill   gate.Health
		lasts time.Duration
		want  []string
	}{
		{"records", gate.Health{LostRows: 7, LostBecause: full}, 150 * time.Second, []string{
			`ERROR msg="nothing is allowed: the records cannot be written" records=x.db rows=7 cause="database or disk is full"`,
			`ERROR msg="nothing is allowed`, `ERROR msg="nothing is allowed`, `INFO msg="the records are written again" records=x.db`}},
		{"records for a moment", gate.Health{LostRows: 1, LostBecause: full}, 1200 * time.Millisecond, []string{`msg="nothing is allowed`, `written again`}},
		{"a session", gate.Health{Uncertain: 1}, 3 * time.Second, []string{`stopgate sessions reconcile" sessions=1`, "the uncertain sessions are stored"}},
		{"a port", gate.Health{Stuck: 2}, 5 * time.Second, []string{"does not answer", "answers again"}},
		{"a port for a moment", gate.Health{Stuck: 2}, 1200 * time.Millisecond, nil},
		{"nothing", gate.Health{}, time.Hour, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said strings.Builder
				a := &healthLog{log: slog.New(slog.NewTextHandler(&said, nil)), place: "x.db"}
				ctx, stop := context.WithCancel(t.Context())
				p := &ill{health: c.ill}
				go a.watch(ctx, p)
				time.Sleep(500 * time.Millisecond)
				p.now.Store(true)
				time.Sleep(c.lasts)
				p.now.Store(false)
				time.Sleep(2 * time.Minute)
				stop()
				synctest.Wait()
				if mended := p.mended.Load() > 0; mended != (c.ill.LostRows+c.ill.Uncertain > 0) {
					t.Errorf("tried to write what is missing: %t", mended)
				}
				lines := strings.SplitAfter(said.String(), "\n")
				if lines = lines[:len(lines)-1]; len(lines) != len(c.want) {
					t.Fatalf("%d lines, not %d:\n%s", len(lines), len(c.want), said.String())
				}
				for i, want := range c.want {
					if !strings.Contains(lines[i], want) {
						t.Errorf("line %d: %s, not %s", i, lines[i], want)
					}
				}
			})
		})
	}
}
