package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// auditWriter writes audit rows and counts those that it could not write
// (S26, FM4).
type auditWriter struct {
	recorder Recorder // nil: no audit
	can      Capabilities
	limit    time.Duration
	now      func() time.Time
	observer func(context.Context, stopgate.Record) // gets event rows; may be nil
	trouble  func(string, stopgate.ProposalID, fault, error)
	port     port
	stall    *stallDetector // of a recorder that several writers share

	mu         sync.Mutex
	lost       int64
	cause      error                 // of the last lost row
	unreleased []stopgate.ProposalID // allows that were not released, whose row may exist
	dropped    int64                 // of those, how many more than unsaid holds
	writingGap chan struct{}         // closed when the attempt to write the gap is over; nil if there is none
}

// maxUnreleased bounds how many unreleased allows are named after a failure; the rest
// is counted.
const maxUnreleased = 64

// errRecord is the error of a row that was not written.
var errRecord = errors.New("the audit row could not be written")

// write makes a row durable, or counts it as lost.
func (w *auditWriter) write(ctx context.Context, r *stopgate.Record) error {
	err := w.try(ctx, r)
	if err != nil {
		w.lose(r, err)
		return errRecord
	}
	return nil
}

// writeAll is write for several rows at once, each a copy of its own. A recorder that
// takes one row at a time gets them in their order; the error is that of the last.
func (w *auditWriter) writeAll(ctx context.Context, rows []*stopgate.Record) (err error) {
	if w.can.RecordAll == nil || len(rows) == 1 {
		for _, r := range rows {
			err = w.write(ctx, r)
		}
		return err
	}
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	err = errRecord
	if w.closeGap(ctx) {
		err = w.answered(ctx, func(ctx context.Context) error { return w.can.RecordAll(ctx, rows) })
	}
	if err == nil {
		return nil
	}
	for _, r := range rows {
		w.lose(r, err)
	}
	return errRecord
}

// try makes a row durable. The end of ctx does not cancel it: a call that was
// cancelled needs its row most. While rows are missing, the next row waits until the
// gap is on record, and no longer than one row may take.
func (w *auditWriter) try(ctx context.Context, r *stopgate.Record) error {
	if w.recorder == nil {
		return nil
	}
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	if !w.closeGap(ctx) {
		return errRecord
	}
	return w.attempt(ctx, r)
}

// lasting is the context of a row. A recorder that spools is waited for as long as the
// caller lives, because the row outlives the caller in the spool; any other one for its
// own time, because the row of a call that was given up is needed most.
func (w *auditWriter) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.can.Spool == nil || w.stall == nil {
		return context.WithoutCancel(ctx), func() {}
	}
	return ctx, func() {}
}

// ready is mended within the time of a caller.
func (w *auditWriter) ready(ctx context.Context) bool {
	ctx, cancel := w.lasting(ctx)
	defer cancel()
	return w.closeGap(ctx)
}

// closeGap reports whether no row is missing, after one attempt to write the gap if
// one is. Of several calls one makes the attempt and the others wait for it.
func (w *auditWriter) closeGap(ctx context.Context) bool {
	w.mu.Lock()
	if w.lost == 0 {
		w.mu.Unlock()
		return true
	}
	if others := w.writingGap; others != nil {
		w.mu.Unlock()
		patience := time.NewTimer(w.limit)
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
func (w *auditWriter) writeGap(ctx context.Context) bool {
	w.mu.Lock()
	lost, unreleased, dropped := w.lost, w.unreleased, w.dropped
	w.mu.Unlock()
	gap := stopgate.Record{Event: stopgate.AuditGap, Count: lost, Code: stopgate.CodeAuditUnavailable}
	w.complete(&gap)
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

func (w *auditWriter) noteUnreleased(ctx context.Context, r stopgate.Record) {
	r.Event, r.Code = stopgate.AuditReleaseFailed, stopgate.CodeAuditUnavailable
	w.complete(&r)
	if err := w.attempt(ctx, &r); err != nil {
		w.lose(&r, err)
	}
}

// note writes an event row.
func (w *auditWriter) note(ctx context.Context, r stopgate.Record) error {
	w.complete(&r)
	return w.put(ctx, r)
}

// put writes an event row that is complete.
func (w *auditWriter) put(ctx context.Context, r stopgate.Record) error {
	seen := r // the row itself belongs to the recorder from here on
	err := w.write(ctx, &r)
	w.notify(ctx, seen)
	return err
}

func (w *auditWriter) notify(ctx context.Context, r stopgate.Record) {
	if w.observer != nil {
		w.observer(ctx, r)
	}
}

func (w *auditWriter) complete(r *stopgate.Record) {
	r.Version, r.Kind, r.Time = stopgate.RecordVersion, stopgate.RecordEvent, w.now().UTC()
	clean(r)
}

// attempt gives a row to the recorder, which may keep it for longer than the
// attempt lasts: the row belongs to it from here on.
func (w *auditWriter) attempt(ctx context.Context, r *stopgate.Record) error {
	return w.answered(ctx, func(ctx context.Context) error { return w.recorder.Record(ctx, r) })
}

// answered calls the recorder.
func (w *auditWriter) answered(ctx context.Context, record func(context.Context) error) error {
	call := func(ctx context.Context) (struct{}, error) { return struct{}{}, record(ctx) }
	var answer reply[struct{}]
	if w.stall != nil {
		answer = during(ctx, w.stall, &w.port, w.can.Punctual, call)
	} else if w.can.Punctual {
		answer = timed(ctx, w.limit, call)
	} else {
		answer = invoke(ctx, &w.port, w.limit, call)
	}
	if w.trouble != nil {
		w.trouble("recorder", "", answer.fault, answer.err)
	}
	switch answer.fault {
	case none:
		return nil
	case failed:
		return answer.err
	case late:
		return fmt.Errorf("recorder: %v: %w", answer.fault, answer.err)
	}
	return errors.New("recorder: " + answer.fault.String())
}

// lose spools the replacement of a row that was not written, or counts the row as lost. The
// row may exist all the same: the id of an allow is kept, so that the log can state that it
// was not released.
func (w *auditWriter) lose(r *stopgate.Record, cause error) (spooled bool) {
	spooled = w.can.Spool != nil && w.can.Spool(w.replacementRows(r)) == nil
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

// replacementRows returns the rows for a call whose row was not written in time. They permit
// nothing: an allow is replaced by a denial, and by an event row that the allow was not
// released, in case its row was written after all.
func (w *auditWriter) replacementRows(r *stopgate.Record) []*stopgate.Record {
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
	w.complete(&back)
	return []*stopgate.Record{&denied, &back}
}

func (w *auditWriter) missing() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// health returns the number of lost rows and, while rows are lost or spooled, the cause.
func (w *auditWriter) health(spooled bool) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == 0 && !spooled {
		return 0, nil
	}
	return w.lost, w.cause
}
