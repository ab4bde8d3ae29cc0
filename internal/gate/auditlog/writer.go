package auditlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/rows"
)

// Config configures a [Writer]. Its functions are the methods of a recorder with the same
// names.
type Config struct {
	Record    func(ctx context.Context, r *stopgate.Record) error // nil: no audit
	RecordAll func(ctx context.Context, rows []*stopgate.Record) error
	Spool     func(rows []*stopgate.Record) error
	Spooled   func() bool
	Punctual  bool
	Stall     *port.Stall // of a recorder that several writers share
	Limit     time.Duration
	Now       func() time.Time
	Notify    func(context.Context, stopgate.Record) // is called with every event row
	Trouble   func(port.Fault, error)                // is called with every reply of the recorder
}

// Writer writes audit rows and counts those that it could not write (S26, FM4).
type Writer struct {
	Config
	guard port.Guard

	mu         sync.Mutex
	lost       int64
	cause      error                 // of the last lost row
	unreleased []stopgate.ProposalID // allows that were not released, whose row may exist
	dropped    int64                 // of those, how many more than unreleased holds
	writingGap chan struct{}         // closed when the attempt to write the gap is over; nil if there is none
}

// New returns a writer.
func New(c Config) *Writer { return &Writer{Config: c} }

// maxUnreleased bounds how many unreleased allows are named after a failure; the rest
// is counted.
const maxUnreleased = 64

// errRecord is the error of a row that was not written.
var errRecord = errors.New("the audit row could not be written")

// Write makes a row durable, or counts it as lost.
func (w *Writer) Write(ctx context.Context, r *stopgate.Record) error {
	err := w.Try(ctx, r)
	if err != nil {
		w.Lose(r, err)
		return errRecord
	}
	return nil
}

// WriteAll is Write for several rows at once, each a copy of its own. A recorder that
// takes one row at a time gets them in their order; the error is that of the last.
func (w *Writer) WriteAll(ctx context.Context, list []*stopgate.Record) (err error) {
	if w.RecordAll == nil || len(list) == 1 {
		for _, r := range list {
			err = w.Write(ctx, r)
		}
		return err
	}
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	err = errRecord
	if w.CloseGap(ctx) {
		err = w.answered(ctx, func(ctx context.Context) error { return w.RecordAll(ctx, list) })
	}
	if err == nil {
		return nil
	}
	for _, r := range list {
		w.Lose(r, err)
	}
	return errRecord
}

// Try makes a row durable. The end of ctx does not cancel it: a call that was
// cancelled needs its row most. While rows are missing, the next row waits until the
// gap is on record, and no longer than one row may take.
func (w *Writer) Try(ctx context.Context, r *stopgate.Record) error {
	if w.Record == nil {
		return nil
	}
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	if !w.CloseGap(ctx) {
		return errRecord
	}
	return w.attempt(ctx, r)
}

// lasting is the context of a row. A recorder that spools is waited for as long as the
// caller lives, because the row outlives the caller in the spool; any other one for its
// own time, because the row of a call that was given up is needed most.
func (w *Writer) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.Spool == nil || w.Stall == nil {
		return context.WithoutCancel(ctx), func() {}
	}
	return ctx, func() {}
}

// Ready is CloseGap within the time of a caller.
func (w *Writer) Ready(ctx context.Context) bool {
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	return w.CloseGap(ctx)
}

// CloseGap reports whether no row is missing, after one attempt to write the gap if
// one is. Of several calls one makes the attempt and the others wait for it.
func (w *Writer) CloseGap(ctx context.Context) bool {
	w.mu.Lock()
	if w.lost == 0 {
		w.mu.Unlock()
		return true
	}
	if others := w.writingGap; others != nil {
		w.mu.Unlock()
		patience := time.NewTimer(w.Limit)
		defer patience.Stop()
		select {
		case <-others:
		case <-patience.C:
		}
		return w.missing() == 0
	}
	over := make(chan struct{})
	w.writingGap = over
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.writingGap = nil
		w.mu.Unlock()
		close(over)
	}()
	return w.writeGap(ctx)
}

// writeGap writes the gap: the first row after lost rows has their number. It is followed by
// a row for each lost allow, none of which was released.
func (w *Writer) writeGap(ctx context.Context) bool {
	w.mu.Lock()
	lost, unreleased, dropped := w.lost, w.unreleased, w.dropped
	w.mu.Unlock()
	gap := stopgate.Record{Event: stopgate.AuditGap, Count: lost, Code: stopgate.CodeAuditUnavailable}
	w.Complete(&gap)
	if w.attempt(ctx, &gap) != nil {
		return false
	}
	w.mu.Lock()
	w.lost -= lost
	w.unreleased, w.dropped = w.unreleased[len(unreleased):], w.dropped-dropped
	w.mu.Unlock()
	for _, id := range unreleased {
		w.noteUnreleased(ctx, stopgate.Record{ID: id})
	}
	if dropped > 0 {
		w.noteUnreleased(ctx, stopgate.Record{Count: dropped})
	}
	return true
}

func (w *Writer) noteUnreleased(ctx context.Context, r stopgate.Record) {
	r.Event, r.Code = stopgate.AuditReleaseFailed, stopgate.CodeAuditUnavailable
	w.Complete(&r)
	if err := w.attempt(ctx, &r); err != nil {
		w.Lose(&r, err)
	}
}

// Note writes an event row.
func (w *Writer) Note(ctx context.Context, r stopgate.Record) error {
	w.Complete(&r)
	return w.Put(ctx, r)
}

// Put writes an event row that is complete.
func (w *Writer) Put(ctx context.Context, r stopgate.Record) error {
	seen := r // the row itself belongs to the recorder from here on
	err := w.Write(ctx, &r)
	w.Announce(ctx, seen)
	return err
}

// Announce passes an event row that was written, or lost, to [Config.Notify].
func (w *Writer) Announce(ctx context.Context, r stopgate.Record) {
	if w.Config.Notify != nil {
		w.Config.Notify(ctx, r)
	}
}

// Complete sets the fields that every event row has, and cleans its texts.
func (w *Writer) Complete(r *stopgate.Record) {
	r.Version, r.Kind, r.Time = stopgate.RecordVersion, stopgate.RecordEvent, w.Now().UTC()
	rows.Clean(r)
}

// attempt gives a row to the recorder, which may keep it for longer than the
// attempt lasts: the row belongs to it from here on.
func (w *Writer) attempt(ctx context.Context, r *stopgate.Record) error {
	return w.answered(ctx, func(ctx context.Context) error { return w.Record(ctx, r) })
}

// answered calls the recorder.
func (w *Writer) answered(ctx context.Context, record func(context.Context) error) error {
	call := func(ctx context.Context) (struct{}, error) { return struct{}{}, record(ctx) }
	var answer port.Reply[struct{}]
	if w.Stall != nil {
		answer = port.During(ctx, w.Stall, &w.guard, w.Punctual, call)
	} else if w.Punctual {
		answer = port.Timed(ctx, w.Limit, call)
	} else {
		answer = port.Invoke(ctx, &w.guard, w.Limit, call)
	}
	if w.Trouble != nil {
		w.Trouble(answer.Fault, answer.Err)
	}
	switch answer.Fault {
	case port.None:
		return nil
	case port.Failed:
		return answer.Err
	case port.Late:
		return fmt.Errorf("recorder: %v: %w", answer.Fault, answer.Err)
	}
	return errors.New("recorder: " + answer.Fault.String())
}

// Lose spools the replacement of a row that was not written, or counts the row as lost. The
// row may exist all the same: the id of an allow is kept, so that the log can state that it
// was not released.
func (w *Writer) Lose(r *stopgate.Record, cause error) (spooled bool) {
	spooled = w.Spool != nil && w.Spool(w.replacementRows(r)) == nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if cause != nil && !errors.Is(cause, errRecord) {
		w.cause = cause
	}
	if spooled {
		return true
	}
	w.lost++
	if r.Status != stopgate.StatusAllowed {
		return false
	}
	if len(w.unreleased) < maxUnreleased {
		w.unreleased = append(w.unreleased, r.ID)
	} else {
		w.dropped++
	}
	return false
}

// replacementRows returns the rows for a call whose row was not written in time. It replaces
// an allow by a denial, and by an event row that the allow was not released, in case its row
// was written after all.
func (w *Writer) replacementRows(r *stopgate.Record) []*stopgate.Record {
	if r.Status != stopgate.StatusAllowed {
		return []*stopgate.Record{r}
	}
	denied, mode := *r, stopgate.Deny
	denied.Status, denied.Mode, denied.Layer, denied.Code = stopgate.StatusDenied, &mode, stopgate.LayerFailure, stopgate.CodeAuditUnavailable
	denied.Rule, denied.Candidates, denied.Approval, denied.ReleasedHash = nil, nil, nil, ""
	back := stopgate.Record{
		ID: r.ID, Session: r.Session, Principal: r.Principal, Tool: r.Tool,
		Event: stopgate.AuditReleaseFailed, Code: stopgate.CodeAuditUnavailable,
	}
	w.Complete(&back)
	return []*stopgate.Record{&denied, &back}
}

func (w *Writer) missing() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Health returns the number of lost rows, whether rows are spooled, and the cause of either.
func (w *Writer) Health() (lost int64, spooled bool, cause error) {
	spooled = w.Spooled != nil && w.Spooled()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == 0 && !spooled {
		return 0, false, nil
	}
	return w.lost, spooled, w.cause
}

// Stuck returns how many calls of the recorder were given up and have not returned.
func (w *Writer) Stuck() int64 { return w.guard.Stuck() }
