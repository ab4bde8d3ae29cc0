package approve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Notifier announces a question: to a webhook, a desktop or a terminal.
type Notifier interface {
	// Name is the name in logs and messages.
	Name() string
	// Notify is called once for a new entry, and not again when its arguments become complete. It
	// must return before ctx ends. An error is reported to Options.Failed and has no other effect.
	Notify(ctx context.Context, e Entry) error
}

// Options configure a [Queue]. With the zero Options, only watchers answer questions.
type Options struct {
	// Notify lists the notifiers. With at least one, or while a watcher runs, questions can be
	// answered; otherwise an ask is denied with no_approver at once.
	Notify []Notifier
	// Defer keeps questions that cannot be answered now, and denies the call with approval_pending
	// instead of no_approver ([approvals] absent = "defer").
	Defer bool
	// Require returns who may answer a question about a call. It may be nil.
	Require func(call *stopgate.Call) Requirement
	// Poll is the interval at which the store is read for answers given in other processes: 200 ms.
	Poll time.Duration
	// Failed is called with errors of notifiers and background work; it may be nil. source names
	// the notifier or the operation.
	Failed func(source string, err error)
	Now    func() time.Time // the wall clock; nil is time.Now
}

// notifyLimit is the time limit of one notifier.
const notifyLimit = 10 * time.Second

// Queue keeps questions until they are answered. It is a [gate.Approver]. It is safe for concurrent
// use.
type Queue struct {
	store   Store
	opts    Options
	changes broadcast
	hints   func() <-chan struct{} // see [FleetStore]
}

// New returns a queue with a store.
func New(store Store, o Options) (*Queue, error) {
	if store == nil {
		return nil, errors.New("approve: a queue needs a store")
	}
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	fleet, shared := store.(FleetStore)
	switch {
	case o.Now != nil:
	case shared:
		o.Now = fleet.Clock
	default:
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(string, error) {}
	}
	q := &Queue{store: store, opts: o, hints: func() <-chan struct{} { return nil }}
	if shared {
		q.hints = fleet.Hints
	}
	return q, nil
}

// Abilities implements [gate.Approver] (S5).
func (q *Queue) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	a := gate.Abilities{Reachable: q.reachable(ctx, call), CanEdit: true}
	// A grant, or an answer that came after an earlier call was denied, needs no approver to be
	// present.
	a.Keeps = a.Reachable || q.opts.Defer || q.hasEarlierAnswer(ctx, call)
	return a
}

// reachable reports whether a question about a call can be answered now.
func (q *Queue) reachable(ctx context.Context, call *stopgate.Call) bool {
	if len(q.opts.Notify) > 0 || programPresent(ctx) && q.Requires(call).ByProgram() {
		return true
	}
	until, err := q.store.Attended(ctx)
	left := until.Sub(q.opts.Now())
	return err == nil && left > 0 && left <= MaxAttendance
}

// hasEarlierAnswer reports whether there is a grant for a tool, or an unused approval.
func (q *Queue) hasEarlierAnswer(ctx context.Context, call *stopgate.Call) bool {
	now := q.opts.Now()
	grants, err := q.store.Grants(ctx, GrantFilter{Principal: call.Principal, Tool: call.Tool, Live: now})
	if err != nil || len(grants) > 0 {
		return err == nil
	}
	entries, err := q.store.Entries(ctx, Filter{Principal: call.Principal, Session: call.Session, Live: now})
	return err == nil && slices.ContainsFunc(entries, func(e Entry) bool { return e.Tool == call.Tool && e.usable() && !e.invalidAt(now) })
}

// Approve implements [gate.Approver]. It waits for an answer, a grant, or the end of the exchange.
// If the exchange only stops waiting, the entry remains and can still be answered; if the call is
// gone, the entry is withdrawn (S5).
func (q *Queue) Approve(ctx context.Context, question *gate.Question) (gate.Answer, error) {
	w := &wait{queue: q, question: question}
	answer, err := w.run(ctx)
	if err != nil && w.entry.ID != "" && !errors.Is(context.Cause(ctx), gate.ErrHold) {
		w.withdraw(context.WithoutCancel(ctx))
	}
	return answer, err
}

// notify runs the notifiers for a new entry in the background, for at most notifyLimit.
func (q *Queue) notify(ctx context.Context, e Entry) {
	for _, n := range q.opts.Notify {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyLimit)
			defer cancel()
			defer func() {
				if r := recover(); r != nil {
					q.opts.Failed(n.Name(), errors.New("the notifier panicked"))
				}
			}()
			if err := n.Notify(ctx, e); err != nil {
				q.opts.Failed(n.Name(), err)
			}
		}()
	}
}

var _ gate.Approver = (*Queue)(nil)
