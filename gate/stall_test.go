package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// line is a recorder that several processes write to: a row is written when those before it
// are, whoever they belong to.
type line struct {
	rows    atomic.Int64
	written atomic.Uint64 // by anybody
	share   float64       // of a processor, for each writer
	turn    chan struct{} // closed when it is this process's turn
}

func (l *line) Advanced() uint64 { return l.written.Load() }

func (l *line) Share() float64 { return l.share }

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
