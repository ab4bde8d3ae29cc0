package approve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Notifier tells somebody that a question waits: a webhook, a desktop, a terminal.
type Notifier interface {
	// Name is for logs and messages.
	Name() string
	// Notify is called once for an entry when it is added, and not again when its
	// arguments become complete. It has ctx's time; an error is reported to
	// Options.Failed and changes nothing else.
	Notify(ctx context.Context, e Entry) error
}

// Options set up a [Queue]. The zero Options are a queue that only watchers serve.
type Options struct {
	// Notify lists who is told about questions. With one of them, or with a watcher
	// connected, somebody can answer; without, ask denies no_approver at once.
	Notify []Notifier
	// Defer keeps questions that nobody can answer now, and denies the call
	// approval_pending instead of no_approver ([approvals] absent = "defer").
	Defer bool
	// Poll is how often the store is asked for answers that another process gave:
	// 200 ms.
	Poll time.Duration
	// Failed is told what went wrong behind the caller's back, nil for nobody.
	Failed func(what string, err error)
	Now    func() time.Time // the wall clock, nil for the machine's
}

// notifyLimit is the time one notifier has.
const notifyLimit = 10 * time.Second

// Queue puts calls before whoever reads the queue. It is a [gate.Approver]. Its
// methods may be used from several goroutines.
type Queue struct {
	store Store
	opts  Options
	bell  bell
}

// New makes a queue on a store.
func New(store Store, o Options) (*Queue, error) {
	if store == nil {
		return nil, errors.New("approve: a queue needs a store")
	}
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Failed == nil {
		o.Failed = func(string, error) {}
	}
	return &Queue{store: store, opts: o}, nil
}

// Abilities implements [gate.Approver] (S5).
func (q *Queue) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	a := gate.Abilities{Reachable: q.reachable(ctx), CanEdit: true}
	// A grant, or an answer that came after an earlier call had left, needs nobody.
	a.Keeps = a.Reachable || q.opts.Defer || q.prepared(ctx, call)
	return a
}

// reachable reports whether somebody can answer now.
func (q *Queue) reachable(ctx context.Context) bool {
	if len(q.opts.Notify) > 0 {
		return true
	}
	until, err := q.store.Attended(ctx)
	left := until.Sub(q.opts.Now())
	return err == nil && left > 0 && left <= MaxAttendance
}

// prepared reports whether something was said in advance about a tool.
func (q *Queue) prepared(ctx context.Context, call *stopgate.Call) bool {
	now := q.opts.Now()
	grants, err := q.store.Grants(ctx, GrantFilter{Principal: call.Principal, Tool: call.Tool, Live: now})
	if err != nil || len(grants) > 0 {
		return err == nil
	}
	entries, err := q.store.Entries(ctx, Filter{Principal: call.Principal, Session: call.Session, Live: now})
	return err == nil && slices.ContainsFunc(entries, func(e Entry) bool { return e.Tool == call.Tool && e.usable() && !e.over(now) })
}

// Approve implements [gate.Approver]: it waits for an answer, a grant, or the end of
// the exchange. When the exchange only stops waiting, the entry stays and can still
// be answered; when the call is gone, it is withdrawn (S5).
func (q *Queue) Approve(ctx context.Context, question *gate.Question) (gate.Answer, error) {
	w := &wait{queue: q, question: question}
	answer, err := w.run(ctx)
	if err != nil && w.entry.ID != "" && !errors.Is(context.Cause(ctx), gate.ErrHold) {
		w.withdraw(context.WithoutCancel(ctx))
	}
	return answer, err
}

// tell tells the notifiers about a new entry, without anybody waiting for them. It
// ends by itself after notifyLimit.
func (q *Queue) tell(ctx context.Context, e Entry) {
	for _, n := range q.opts.Notify {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyLimit)
			defer cancel()
			defer func() {
				if r := recover(); r != nil {
					q.opts.Failed(n.Name(), errors.New("panic"))
				}
			}()
			if err := n.Notify(ctx, e); err != nil {
				q.opts.Failed(n.Name(), err)
			}
		}()
	}
}

var _ gate.Approver = (*Queue)(nil)
