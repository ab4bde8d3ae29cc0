package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// ledger writes audit rows and keeps count of those it could not write
// (S26, FM4).
type ledger struct {
	recorder Recorder      // nil: no audit
	batch    BatchRecorder // the same; nil if it takes one row at a time
	keeps    bool          // the recorder keeps arguments
	punctual bool          // the recorder keeps deadlines itself
	limit    time.Duration
	now      func() time.Time
	told     func(context.Context, stopgate.Record) // hears of event rows; nil for nobody
	trouble  func(string, stopgate.ProposalID, fault, error)
	port     port
	sharing  *stall  // of a recorder that several writers share
	spool    Spooler // the recorder; nil if it keeps nothing that it cannot write

	mu      sync.Mutex
	lost    int64
	cause   error                 // of the last row that was lost
	unsaid  []stopgate.ProposalID // allows whose row may exist though they did not leave
	dropped int64                 // of those, how many more than unsaid holds
	mending chan struct{}         // closed when the attempt to write the gap is over; nil if there is none
}

// maxUnsaid bounds how many unreleased allows are named after a failure; the rest
// is counted.
const maxUnsaid = 64

// errRecord is what a lost row looks like to the gate.
var errRecord = errors.New("the audit row could not be written")

// write makes a row durable, or counts it as lost.
func (l *ledger) write(ctx context.Context, r *stopgate.Record) error {
	err := l.try(ctx, r)
	if err != nil {
		l.miss(r, err)
		return errRecord
	}
	return nil
}

// writeAll is write for several rows at once, each a copy of its own. A recorder that
// takes one row at a time gets them in their order; the error is that of the last.
func (l *ledger) writeAll(ctx context.Context, rows []*stopgate.Record) (err error) {
	if l.batch == nil || len(rows) == 1 {
		for _, r := range rows {
			err = l.write(ctx, r)
		}
		return err
	}
	ctx, cancel := l.lasting(ctx)
	defer cancel()
	err = errRecord
	if l.mended(ctx) {
		err = l.answered(ctx, func(ctx context.Context) error { return l.batch.RecordAll(ctx, rows) })
	}
	if err == nil {
		return nil
	}
	for _, r := range rows {
		l.miss(r, err)
	}
	return errRecord
}

// try makes a row durable. It is not cut short by the end of ctx: a call that was
// given up needs its row most. While rows are missing, the next row waits until the
// gap is on record, and no longer than one row may take.
func (l *ledger) try(ctx context.Context, r *stopgate.Record) error {
	if l.recorder == nil {
		return nil
	}
	ctx, cancel := l.lasting(ctx)
	defer cancel()
	if !l.mended(ctx) {
		return errRecord
	}
	return l.attempt(ctx, r)
}

// lasting is the context of a row. A recorder that spools is waited for as long as the
// caller lives, because the row outlives the caller in the spool; any other one for its
// own time, because the row of a call that was given up is needed most.
func (l *ledger) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.spool == nil || l.sharing == nil {
		return context.WithoutCancel(ctx), func() {}
	}
	return ctx, func() {}
}

// ready is mended within the time of a caller.
func (l *ledger) ready(ctx context.Context) bool {
	ctx, cancel := l.lasting(ctx)
	defer cancel()
	return l.mended(ctx)
}

// mended reports whether no row is missing, after one attempt to write the gap if
// one is. Of several calls one makes the attempt and the others wait for it.
func (l *ledger) mended(ctx context.Context) bool {
	l.mu.Lock()
	if l.lost == 0 {
		l.mu.Unlock()
		return true
	}
	if others := l.mending; others != nil {
		l.mu.Unlock()
		patience := time.NewTimer(l.limit)
		defer patience.Stop()
		select {
		case <-others:
		case <-patience.C:
		}
		return l.missing() == 0
	}
	over := make(chan struct{})
	l.mending = over
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.mending = nil
		l.mu.Unlock()
		close(over)
	}()
	return l.mend(ctx)
}

// mend writes the gap: the first row after rows were lost says how many, and
// behind it stand the allows among them that never left.
func (l *ledger) mend(ctx context.Context) bool {
	l.mu.Lock()
	lost, unsaid, dropped := l.lost, l.unsaid, l.dropped
	l.mu.Unlock()
	gap := stopgate.Record{Event: stopgate.AuditGap, Count: lost, Code: stopgate.CodeAuditUnavailable}
	l.complete(&gap)
	if l.attempt(ctx, &gap) != nil {
		return false
	}
	l.mu.Lock()
	l.lost -= lost
	l.unsaid, l.dropped = l.unsaid[len(unsaid):], l.dropped-dropped
	l.mu.Unlock()
	for _, id := range unsaid {
		l.sayUnreleased(ctx, stopgate.Record{ID: id})
	}
	if dropped > 0 {
		l.sayUnreleased(ctx, stopgate.Record{Count: dropped})
	}
	return true
}

func (l *ledger) sayUnreleased(ctx context.Context, r stopgate.Record) {
	r.Event, r.Code = stopgate.AuditReleaseFailed, stopgate.CodeAuditUnavailable
	l.complete(&r)
	if err := l.attempt(ctx, &r); err != nil {
		l.miss(&r, err)
	}
}

// note writes an event row.
func (l *ledger) note(ctx context.Context, r stopgate.Record) error {
	l.complete(&r)
	return l.put(ctx, r)
}

// put writes an event row that is complete.
func (l *ledger) put(ctx context.Context, r stopgate.Record) error {
	seen := r // the row itself belongs to the recorder from here on
	err := l.write(ctx, &r)
	l.tell(ctx, seen)
	return err
}

func (l *ledger) tell(ctx context.Context, r stopgate.Record) {
	if l.told != nil {
		l.told(ctx, r)
	}
}

func (l *ledger) complete(r *stopgate.Record) {
	r.Version, r.Kind, r.Time = stopgate.RecordVersion, stopgate.RecordEvent, l.now().UTC()
	clean(r)
}

// attempt gives a row to the recorder, which may keep it for longer than the
// attempt lasts: the row belongs to it from here on.
func (l *ledger) attempt(ctx context.Context, r *stopgate.Record) error {
	return l.answered(ctx, func(ctx context.Context) error { return l.recorder.Record(ctx, r) })
}

// answered calls the recorder.
func (l *ledger) answered(ctx context.Context, record func(context.Context) error) error {
	call := func(ctx context.Context) (struct{}, error) { return struct{}{}, record(ctx) }
	var answer reply[struct{}]
	if l.sharing != nil {
		answer = during(ctx, l.sharing, &l.port, l.punctual, call)
	} else if l.punctual {
		answer = timed(ctx, l.limit, call)
	} else {
		answer = invoke(ctx, &l.port, l.limit, call)
	}
	if l.trouble != nil {
		l.trouble("recorder", "", answer.fault, answer.err)
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

// miss spools what a row that was not written becomes, or counts it as lost. The row may
// exist all the same: an allow that did not leave is remembered, so that the log can say
// so.
func (l *ledger) miss(r *stopgate.Record, cause error) (spooled bool) {
	spooled = l.spool != nil && l.spool.Spool(l.instead(r)) == nil
	l.mu.Lock()
	defer l.mu.Unlock()
	if cause != nil && !errors.Is(cause, errRecord) {
		l.cause = cause
	}
	if spooled {
		return true
	}
	l.lost++
	if r.Status != stopgate.StatusAllowed {
		return false
	}
	if len(l.unsaid) < maxUnsaid {
		l.unsaid = append(l.unsaid, r.ID)
	} else {
		l.dropped++
	}
	return false
}

// instead are the rows of a call whose row was not written in time. It has permitted
// nothing: of an allow it is the denial that became of it, and the word that the allow did
// not leave, in case its row was written after all.
func (l *ledger) instead(r *stopgate.Record) []*stopgate.Record {
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
	l.complete(&back)
	return []*stopgate.Record{&denied, &back}
}

func (l *ledger) missing() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// health returns the number of lost rows and, while there are any or some are spooled, why.
func (l *ledger) health(spooled bool) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == 0 && !spooled {
		return 0, nil
	}
	return l.lost, l.cause
}
