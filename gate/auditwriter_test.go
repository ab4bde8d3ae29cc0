package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

var errDisk = errors.New("disk full")

// sequence is what a log says, row by row.
func sequence(rec *ports.Recorder) (s []string) {
	for _, r := range rec.Rows() {
		if r.Kind == stopgate.RecordEvent {
			s = append(s, fmt.Sprintf("%s %d", r.Event, r.Count))
		} else {
			s = append(s, string(r.Status))
		}
	}
	return s
}

// ailing makes a log whose disk fails while the answer is true.
func ailing(rec *ports.Recorder) *atomic.Bool {
	var down atomic.Bool
	rec.Fault = func(context.Context, int, *stopgate.Record) error {
		if down.Load() {
			return errDisk
		}
		return nil
	}
	return &down
}

// Proves I22, FM4, H19, S26: while the log cannot be written nothing is allowed
// and denials go on; the first row after it can is the gap with the count of what
// is missing, and behind it the allows that never left.
func TestTheLogIsDown(t *testing.T) {
	var rec ports.Recorder
	down := ailing(&rec)
	g := newGate(t, gate.WithRecorder(&rec))
	if !decide(t, g, "free", `{}`).Allowed() {
		t.Fatal("denied with a log")
	}
	down.Store(true)
	lost := decide(t, g, "free", `{}`)
	want(t, lost, stopgate.Denied, stopgate.CodeAuditUnavailable)
	if lost.Verdict.Layer != stopgate.LayerFailure {
		t.Errorf("verdict %+v", lost.Verdict)
	}
	want(t, decide(t, g, "denied", `{}`), stopgate.Denied, stopgate.CodeRuleMatched)
	want(t, decide(t, g, "skipped", `{}`), stopgate.Skipped, stopgate.CodeRuleMatched)
	want(t, decide(t, g, "free", `{}`), stopgate.Denied, stopgate.CodeAuditUnavailable)
	if h := g.Health(); h.LostRows != 4 || !errors.Is(h.LostBecause, errDisk) || !h.Degraded() {
		t.Errorf("health %+v", h)
	}
	down.Store(false)
	if !decide(t, g, "free", `{}`).Allowed() {
		t.Error("denied though the log is back")
	}
	wanted := "[allowed gap 4 release_failed 0 release_failed 0 allowed]"
	if got := fmt.Sprint(sequence(&rec)); got != wanted {
		t.Errorf("rows %s, want %s", got, wanted)
	}
	if said := rec.Events(stopgate.AuditReleaseFailed); said[0].ID != lost.Proposal || said[0].Code != stopgate.CodeAuditUnavailable {
		t.Errorf("row %+v", said[0])
	}
	if h := g.Health(); h.Degraded() || h.LostBecause != nil {
		t.Errorf("health %+v", h)
	}
}

// Proves FM4: a gate that gets no call, because its health is bad, recovers as soon as its
// log is back.
func TestTheLogRecoversWithoutACall(t *testing.T) {
	var rec ports.Recorder
	down := ailing(&rec)
	g := newGate(t, gate.WithRecorder(&rec))
	if !g.Mend(t.Context()) || len(rec.Rows()) != 0 {
		t.Errorf("nothing is lost, and the rows are %s", fmt.Sprint(sequence(&rec)))
	}
	down.Store(true)
	want(t, decide(t, g, "free", `{}`), stopgate.Denied, stopgate.CodeAuditUnavailable)
	if g.Mend(t.Context()) || !g.Health().Failing() {
		t.Error("recovered without a log")
	}
	down.Store(false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if !g.Mend(ctx) || g.Health().Failing() {
		t.Errorf("health %+v", g.Health())
	}
	if got := fmt.Sprint(sequence(&rec)); got != "[gap 1 release_failed 0]" {
		t.Errorf("rows %s", got)
	}
}

// The log fails again while it recovers: nothing is counted twice or forgotten.
func TestTheLogFailsWhileItRecovers(t *testing.T) {
	for broken := range 4 { // the gap, the release_failed rows, the row itself
		var rec ports.Recorder
		var calls int
		down := true
		rec.Fault = func(context.Context, int, *stopgate.Record) error {
			if down {
				return errDisk
			}
			if calls++; calls == broken+1 {
				return errDisk
			}
			return nil
		}
		g := newGate(t, gate.WithRecorder(&rec))
		decide(t, g, "free", `{}`)
		decide(t, g, "free", `{}`)
		down = false
		first := decide(t, g, "denied", `{}`)
		second := decide(t, g, "free", `{}`)
		want(t, first, stopgate.Denied, stopgate.CodeRuleMatched)
		if !second.Allowed() {
			t.Errorf("row %d: %v", broken, second.Verdict)
		}
		var counted int64
		for _, r := range rec.Events(stopgate.AuditGap) {
			counted += r.Count
		}
		// Three decisions and two release_failed rows were due before the last one;
		// what is not there is counted.
		there := len(rec.Decisions()) - 1 + len(rec.Events(stopgate.AuditReleaseFailed))
		if wanted := int64(3 + 2 - there); counted != wanted {
			t.Errorf("row %d: %d counted, want %d: %v", broken, counted, wanted, sequence(&rec))
		}
	}
}

// More allows than can be named are counted.
func TestManyAllowsThatNeverLeft(t *testing.T) {
	var rec ports.Recorder
	down := ailing(&rec)
	down.Store(true)
	g := newGate(t, gate.WithRecorder(&rec))
	for range 70 {
		decide(t, g, "free", `{}`)
	}
	down.Store(false)
	decide(t, g, "free", `{}`)
	said := rec.Events(stopgate.AuditReleaseFailed)
	if len(said) != 65 || said[64].Count != 6 || said[64].ID != "" {
		t.Errorf("%d rows, the last %+v", len(said), said[len(said)-1])
	}
}

// Proves FM4: a log that hangs holds nobody longer than twice the time of a row,
// however many wait.
func TestTheLogHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec ports.Recorder
		var hang atomic.Bool
		hang.Store(true)
		rec.Fault = func(ctx context.Context, _ int, _ *stopgate.Record) error {
			if hang.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		g := newGate(t, gate.WithRecorder(&rec), gate.WithLimits(gate.ProductLimits))
		for round := range 3 {
			var callers sync.WaitGroup
			start := time.Now()
			for range 50 {
				callers.Go(func() {
					if out := decide(t, g, "free", `{}`); out.Verdict.Code != stopgate.CodeAuditUnavailable {
						t.Errorf("round %d: %v", round, out.Verdict)
					}
				})
			}
			callers.Wait()
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("round %d took %v", round, took)
			}
		}
		hang.Store(false)
		if !decide(t, g, "free", `{}`).Allowed() {
			t.Error("denied though the log is back")
		}
		if gaps := rec.Events(stopgate.AuditGap); len(gaps) != 1 || gaps[0].Count != 150 {
			t.Errorf("gaps %+v", gaps)
		}
	})
}

// Several calls meet a log that has just come back: one writes the gap, the others
// wait for it and are decided.
func TestTheLogComesBackUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec ports.Recorder
		var down atomic.Bool
		down.Store(true)
		rec.Fault = func(ctx context.Context, _ int, r *stopgate.Record) error {
			if down.Load() {
				return errDisk
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		g := newGate(t, gate.WithRecorder(&rec))
		decide(t, g, "denied", `{}`)
		down.Store(false)
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() {
				if !decide(t, g, "free", `{}`).Allowed() {
					t.Error("denied though the log is back")
				}
			})
		}
		callers.Wait()
		rows := rec.Rows()
		if rows[0].Event != stopgate.AuditGap || len(rec.Events(stopgate.AuditGap)) != 1 || len(rows) != 21 {
			t.Errorf("rows %v", sequence(&rec))
		}
	})
}

// Proves S26: surfaces write event rows through the gate.
func TestNote(t *testing.T) {
	var rec ports.Recorder
	g := newGate(t, gate.WithRecorder(&rec), gate.WithClock(func() time.Time { return time.Unix(0, 0) }))
	err := g.Note(ctx, stopgate.Record{
		Kind: "forged", Version: 9, Event: stopgate.AuditNotEvaluated, Code: stopgate.CodeNotEvaluated, Cause: "GET /v1/files\x1b[2J",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rec.Rows()[0]
	if r.Kind != stopgate.RecordEvent || r.Version != 1 || r.Policy != "policy-1" || r.Cause != `"GET /v1/files\x1b[2J"` || !r.Time.Equal(time.Unix(0, 0)) {
		t.Errorf("row %+v", r)
	}
	rec.Fault = func(context.Context, int, *stopgate.Record) error { return errDisk }
	if err := g.Note(ctx, stopgate.Record{Event: stopgate.AuditReleaseFailed}); err == nil {
		t.Error("a lost event row is no error")
	}
	if g.Health().LostRows != 1 {
		t.Errorf("health %+v", g.Health())
	}
}

// itself is a recorder that says that it keeps deadlines.
type itself struct{ ports.Recorder }

func (*itself) Capabilities() gate.Capabilities { return gate.Capabilities{Punctual: true} }

// Proves I14, FM4, S26: a recorder that is called without a goroutine of the gate's is
// held to the same: an error, a panic, silence until the deadline and an answer after it
// deny, and the deadline is that of every recorder.
func TestPunctualRecorders(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{
		"error":          func(context.Context) error { return errDisk },
		"panic":          func(context.Context) error { panic("disk") },
		"silent":         func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"written, late":  func(ctx context.Context) error { <-ctx.Done(); return nil },
		"panic, late":    func(ctx context.Context) error { <-ctx.Done(); panic("disk") },
		"says why, late": func(ctx context.Context) error { <-ctx.Done(); return errDisk },
		"nothing at all": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := new(itself)
				rec.Fault = func(ctx context.Context, n int, _ *stopgate.Record) error {
					if fault == nil || n > 0 {
						return nil
					}
					return fault(ctx)
				}
				g := newGate(t, gate.WithRecorder(rec), gate.WithLimits(gate.Limits{Record: 700 * time.Millisecond}))
				begun := time.Now()
				out := decide(t, g, "free", `{}`)
				if took := time.Since(begun); took > 700*time.Millisecond {
					t.Errorf("took %v", took)
				}
				if fault == nil {
					want(t, out, stopgate.Allowed, stopgate.CodeRuleMatched)
					return
				}
				want(t, out, stopgate.Denied, stopgate.CodeAuditUnavailable)
				if why := g.Health().LostBecause; name == "says why, late" && (!errors.Is(why, errDisk) || !strings.Contains(why.Error(), "timeout")) {
					t.Errorf("the health says %v", why)
				}
				want(t, decide(t, g, "free", `{}`), stopgate.Allowed, stopgate.CodeRuleMatched)
				if n := len(rec.Events(stopgate.AuditGap)); n != 1 {
					t.Errorf("%d rows say that one is missing", n)
				}
			})
		})
	}
}
