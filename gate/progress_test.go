package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// line is a recorder that several processes write to: a row is written when those before it
// are, whoever they belong to.
type line struct {
	rows    atomic.Int64
	written atomic.Uint64 // by anybody
	share   float64       // of a processor, for each writer
	turn    chan struct{} // closed when it is this process's turn
}

func (l *line) Capabilities() gate.Capabilities {
	return gate.Capabilities{Progress: gate.Progress{Advanced: l.written.Load, Share: func() float64 { return l.share }}}
}

func (l *line) Record(ctx context.Context, r *stopgate.Record) error {
	select {
	case <-l.turn:
		l.rows.Add(1)
		l.written.Add(1)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Proves FM4: what is waited for while nothing is written is 250 ms of a writer that gets its
// share of a processor. On a machine with one processor for every fifty threads a second
// without a row says that nobody had a turn to run, and denies nobody.
func TestAWriterWithoutAProcessorIsLate(t *testing.T) {
	for _, c := range []struct {
		name    string
		share   float64
		others  time.Duration // write a row so often, 0 for never
		turn    time.Duration // of this process, 0 for never
		allowed bool
		after   time.Duration
	}{
		{"nobody writes", 1, 0, 0, false, 250 * time.Millisecond},
		{"nobody says what share a writer gets", 0, 0, 0, false, 250 * time.Millisecond},
		{"others write", 1, 200 * time.Millisecond, 20 * time.Second, true, 20 * time.Second},
		{"half a processor, and nobody writes", 0.5, 0, 0, false, 475 * time.Millisecond},
		{"a crowd, and nobody writes for a second", 0.02, time.Second, 20 * time.Second, true, 20 * time.Second},
		{"a crowd, and nobody ever writes", 0.02, 0, 0, false, 25*time.Millisecond + 9*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{share: c.share, turn: make(chan struct{})}
				if c.others > 0 {
					var others *time.Timer
					others = time.AfterFunc(c.others, func() { l.written.Add(1); others.Reset(c.others) })
					defer func() { others.Stop() }()
				}
				if c.turn > 0 {
					time.AfterFunc(c.turn, func() { close(l.turn) })
				}
				g, err := gate.New(compile(t, "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.t.policy]\nrun = \"unattended\"\n"), gate.WithRecorder(l), gate.WithLimits(gate.ProductLimits))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: "s", Args: []byte(`{}`)})
				if err != nil || out.Allowed() != c.allowed {
					t.Errorf("%v %v", out.Verdict, err)
				}
				if !c.allowed && out.Verdict.Code != stopgate.CodeAuditUnavailable {
					t.Errorf("code %s", out.Verdict.Code)
				}
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// advancing is a store that others write to all the time.
type advancing struct {
	*ports.Store
	written atomic.Uint64
}

func (a *advancing) Capabilities() gate.Capabilities {
	return gate.Capabilities{Progress: gate.Progress{Advanced: a.written.Load}}
}

// Proves FM16: a result is late, and not lost, for as long as the store advances and its
// caller waits; then its session is uncertain.
func TestALateResultIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline time.Duration
		lost     bool
	}{{"the caller waits", 10 * time.Minute, false}, {"the caller's time is over", 10 * time.Second, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				busy := false
				s := &advancing{Store: &ports.Store{Fault: func(ctx context.Context, _ string) error {
					if !busy {
						return nil
					}
					select {
					case <-time.After(20 * time.Second):
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				}}}
				var others *time.Timer
				others = time.AfterFunc(100*time.Millisecond, func() { s.written.Add(1); others.Reset(100 * time.Millisecond) })
				defer func() { others.Stop() }()
				var rec ports.Recorder
				governs := ports.SessionPolicy{As: "p", For: []string{"t"}, Answer: func(session.View, session.Call) session.Decision { return session.Allow() }}
				g, err := gate.NewScripted(one("p", says(stopgate.Unattended)), gate.WithRecorder(&rec), gate.WithStore(s),
					gate.WithSessionPolicies(ports.Registry(governs)), gate.WithLimits(gate.ProductLimits))
				if err != nil {
					t.Fatal(err)
				}
				out := decide(t, g, "t", `{}`)
				busy = true
				within, stop := context.WithTimeout(ctx, c.deadline)
				defer stop()
				if _, err := g.Observe(within, result(out)); (err != nil) != c.lost {
					t.Errorf("%v", err)
				}
				busy = false
				if c.lost {
					want(t, decide(t, g, "t", `{}`), stopgate.Denied, stopgate.CodeSessionDegraded)
				} else {
					want(t, decide(t, g, "t", `{}`), stopgate.Allowed, "unattended_rule")
				}
				if code := rec.Events(stopgate.AuditResult)[0].Code; (code == stopgate.CodeExecutedStateUnknown) != c.lost {
					t.Errorf("the row has the code %q", code)
				}
			})
		})
	}
}
