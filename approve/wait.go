package approve

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// wait is one exchange that waits for an answer.
type wait struct {
	queue    *Queue
	question *gate.Question
	entry    Entry // its question; without an ID before it is stored
	shared   bool  // another exchange opened it
}

// margin is the time before the gate's deadline at which the queue answers itself, in order to name
// the entry: a second, so that a busy machine manages it, but only a part of a short wait.
func margin(wait time.Duration) time.Duration {
	return max(20*time.Millisecond, min(wait/4, time.Second))
}

// run waits for an answer. It fails if the store fails or ctx ends.
func (w *wait) run(ctx context.Context) (gate.Answer, error) {
	tick := time.NewTicker(w.queue.opts.Poll)
	defer tick.Stop()
	var late <-chan time.Time
	for {
		// Subscribe before reading, so that no answer in between is missed.
		stored, hinted := w.queue.changes.wait(), w.queue.hints()
		view, changed := w.question.View()
		if late == nil && !view.Until.IsZero() {
			left := view.Until.Sub(w.queue.opts.Now())
			timer := time.NewTimer(left - margin(left))
			defer timer.Stop()
			late = timer.C
		}
		if answer, done, err := w.step(ctx, view); done || err != nil {
			return answer, err
		}
		select {
		case <-changed:
		case <-stored:
		case <-hinted:
		case <-tick.C:
		case <-late:
			if view.Complete {
				return view.Defer(w.entry.ID), nil
			}
			late = nil
		case <-ctx.Done():
			return gate.Answer{}, context.Cause(ctx)
		}
	}
}

// step updates the entry with the call and checks its state.
func (w *wait) step(ctx context.Context, view gate.View) (a gate.Answer, done bool, err error) {
	if view.Complete && (w.entry.ID == "" || !w.entry.Complete) {
		if a, done, err = w.granted(ctx, view); done || err != nil {
			return a, done, err
		}
	}
	switch {
	case w.entry.ID == "" && !w.queue.reachable(ctx, &view.Call):
		return w.withoutApprover(ctx, view)
	case w.entry.ID == "":
		err = w.open(ctx, view)
	case view.Complete && !w.entry.Complete:
		// The entry was opened before the arguments were complete, so that an earlier answer to the
		// same call could not be found.
		if a, done, err = w.useEarlierAnswer(ctx, view); done || err != nil {
			return a, done, err
		}
		err = w.complete(ctx, view)
	default:
		err = w.reread(ctx)
	}
	if err != nil {
		return gate.Answer{}, false, err
	}
	switch w.entry.State {
	case Waiting:
		if w.entry.invalidAt(w.queue.opts.Now()) { // the clock was set, and no answer is accepted any more
			return gate.Answer{}, false, gate.ErrHold
		}
		if view.Complete { // a grant that was created for another question since
			return w.granted(ctx, view)
		}
	case Declined:
		return w.declined(view), true, nil
	case Approved, Edited:
		if view.Complete {
			return w.use(ctx, view)
		}
	case Used, Withdrawn:
		// Another exchange of the identical call used the answer, or gave up: this one asks again
		// (I16).
		w.entry, w.shared = Entry{}, false
		return w.step(ctx, view)
	}
	return gate.Answer{}, false, nil
}

// reread updates the entry from the store. If that fails the entry is kept, so that it can be
// withdrawn when the call is gone.
func (w *wait) reread(ctx context.Context) error {
	e, err := w.queue.store.Entry(ctx, w.entry.ID)
	if err == nil {
		w.entry = e
	}
	return err
}

// errNoApprover makes the gate deny with no_approver.
var errNoApprover = errors.New("approve: nobody can answer")

// withoutApprover is step while no approver is present: an earlier answer counts; a question for
// later is stored, and its call denied at once.
func (w *wait) withoutApprover(ctx context.Context, view gate.View) (gate.Answer, bool, error) {
	if !view.Complete {
		return gate.Answer{}, false, nil
	}
	if a, done, err := w.useEarlierAnswer(ctx, view); done || err != nil {
		return a, done, err
	}
	if !w.queue.opts.Defer {
		return gate.Answer{}, false, errNoApprover
	}
	deferred := view
	deferred.Until = w.queue.opts.Now() // the call does not wait
	if err := w.open(ctx, deferred); err != nil {
		return gate.Answer{}, false, err
	}
	return view.Defer(w.entry.ID), true, nil
}

// useEarlierAnswer uses an approval of the identical call (S5).
func (w *wait) useEarlierAnswer(ctx context.Context, view gate.View) (gate.Answer, bool, error) {
	now := w.queue.opts.Now()
	entries, err := w.queue.store.Entries(ctx, Filter{Principal: view.Binding.Principal, Session: view.Binding.Session, Live: now})
	if err != nil {
		return gate.Answer{}, false, err
	}
	for _, e := range entries {
		if e.usable() && !e.invalidAt(now) && e.Binding == view.Binding && e.meets(w.queue.Requires(&view.Call)) {
			if w.entry.ID != "" {
				w.withdraw(ctx)
			}
			w.entry, w.shared = e, true
			return w.use(ctx, view)
		}
	}
	return gate.Answer{}, false, nil
}

// open adds the entry, or finds the one of the identical call.
func (w *wait) open(ctx context.Context, view gate.View) error {
	now := w.queue.opts.Now()
	fresh := newEntry(view, now)
	fresh.Requirement = w.queue.Requires(&view.Call)
	// A program answers the question of the call that it has, not that of another exchange.
	own := programPresent(ctx) && fresh.Requirement.ByProgram()
	e, err := w.queue.store.AddEntry(ctx, fresh, func(old Entry) bool {
		return !own && old.Binding == fresh.Binding && old.open(now) && old.meets(fresh.Requirement)
	})
	if err != nil {
		return err
	}
	w.entry, w.shared = e, e.ID != fresh.ID
	switch {
	case !w.shared:
		w.queue.changes.send()
		w.queue.notify(ctx, e)
	case e.State == Waiting && e.Until.Before(fresh.Until):
		// The call that opened it may have stopped waiting; this one waits longer.
		w.entry, err = w.queue.store.ChangeEntry(ctx, e.ID, func(e Entry) (Entry, error) {
			if e.State == Waiting && e.Until.Before(fresh.Until) {
				e.Until = fresh.Until
			}
			return e, nil
		})
	}
	return err
}

// complete adds the complete call to an entry that was opened for a part of it.
func (w *wait) complete(ctx context.Context, view gate.View) error {
	e, err := w.queue.store.ChangeEntry(ctx, w.entry.ID, func(e Entry) (Entry, error) {
		if e.State == Waiting {
			e.show(view)
		}
		return e, nil
	})
	if err != nil {
		return err
	}
	w.entry = e
	w.queue.changes.send()
	return nil
}

// use spends the approval on this call.
func (w *wait) use(ctx context.Context, view gate.View) (gate.Answer, bool, error) {
	now := w.queue.opts.Now()
	e, err := w.queue.store.ChangeEntry(ctx, w.entry.ID, func(e Entry) (Entry, error) {
		return e.use(view.Proposal, view.Binding, now)
	})
	switch {
	case errors.Is(err, ErrUsed), errors.Is(err, ErrExpired), errors.Is(err, ErrStale):
		w.entry, w.shared = Entry{}, false
		return w.step(ctx, view)
	case errors.Is(err, ErrAnswered): // declined meanwhile
		return w.step(ctx, view)
	case err != nil:
		// The change may be stored although its result was lost.
		w.queue.returnApproval(context.WithoutCancel(ctx), w.entry, view.Proposal)
		return gate.Answer{}, false, err
	}
	w.queue.changes.send()
	a := view.Approve(e.By)
	if e.Edit != "" {
		a = view.Edit(e.By, []byte(e.Edit))
	}
	a.ID, a.Via = e.ID, e.Via
	a.GiveBack = func(ctx context.Context) { w.queue.returnApproval(ctx, e, view.Proposal) }
	return a, true, nil
}

// returnApproval makes an approval usable again if the call that used it was not released. It restores
// the arguments, of which a store may keep a part only while the approval is used: without its edit the
// approval would be one of the call as it was proposed.
func (q *Queue) returnApproval(ctx context.Context, was Entry, of stopgate.ProposalID) {
	ctx, cancel := context.WithTimeout(ctx, returnLimit)
	defer cancel()
	_, err := q.store.ChangeEntry(ctx, was.ID, func(e Entry) (Entry, error) {
		if e.State == Used && e.UsedBy == of {
			e.State, e.UsedBy = Approved, ""
			e.Args, e.Edit, e.Leaves, e.Segment = was.Args, was.Edit, was.Leaves, was.Segment
			if e.Edit != "" {
				e.State = Edited
			}
		}
		return e, nil
	})
	if err != nil {
		q.opts.Failed("return an approval", err)
	}
	q.changes.send()
}

// returnLimit bounds the time to return an approval.
const returnLimit = time.Second

// granted finds a grant that answers the question, and uses it. A question that waits is withdrawn, unless
// it was answered meanwhile: that answer is for this call.
func (w *wait) granted(ctx context.Context, view gate.View) (gate.Answer, bool, error) {
	a, ok, err := w.queue.Granted(ctx, view)
	if !ok || err != nil || w.entry.ID == "" {
		return a, ok, err
	}
	e, err := w.queue.store.ChangeEntry(ctx, w.entry.ID, func(e Entry) (Entry, error) {
		if e.State == Waiting {
			e.State = Withdrawn
		}
		return e, nil
	})
	w.queue.changes.send()
	answered := err == nil && (e.State == Declined || e.usable())
	if err != nil || answered {
		a.GiveBack(context.WithoutCancel(ctx))
	}
	switch {
	case err != nil:
		return gate.Answer{}, false, err
	case answered && e.State == Declined:
		w.entry = e
		return w.declined(view), true, nil
	case answered:
		w.entry = e
		return w.use(ctx, view)
	}
	return a, true, nil
}

// declined returns the no of the entry.
func (w *wait) declined(view gate.View) gate.Answer {
	a := view.Decline(w.entry.By)
	a.ID, a.Via, a.Public = w.entry.ID, w.entry.Via, w.entry.Reason
	return a
}

// withdraw withdraws the question, unless another exchange waits for the answer.
func (w *wait) withdraw(ctx context.Context) {
	if w.shared {
		return
	}
	_, err := w.queue.store.ChangeEntry(ctx, w.entry.ID, func(e Entry) (Entry, error) {
		if e.State == Waiting {
			e.State = Withdrawn
		}
		return e, nil
	})
	if err != nil {
		w.queue.opts.Failed("withdraw", err)
	}
	w.queue.changes.send()
}

// newEntry returns the entry of a question.
func newEntry(v gate.View, now time.Time) Entry {
	c := v.Call
	e := Entry{
		ID: newID(), Proposal: v.Proposal, Parent: v.Parent,
		Tool: c.Tool, CallID: c.ID, Session: c.Session, Turn: c.Turn, Agent: c.Agent,
		Principal: c.Principal, Server: c.Server, KnownServer: v.KnownServer, Surface: c.Surface,
		Asked: now, Until: v.Until, Expires: v.Expires, State: Waiting,
	}
	e.show(v)
	return e
}

// show copies a view of the call into an entry.
func (e *Entry) show(v gate.View) {
	d := v.Verdict
	e.Mode, e.Code, e.Rule, e.Pointer, e.Segment, e.Public, e.Floors = d.Mode, d.Code, d.Rule, d.Pointer, d.Segment, d.Public, d.Floors
	if e.Public == "" {
		e.Public = d.Code.Public()
	}
	if e.Mode != stopgate.Edit {
		e.Mode = stopgate.Ask
	}
	e.Missing, e.Origins = v.Missing, v.Origins
	e.Complete, e.Received, e.Args, e.Binding, e.Leaves, e.Asking = v.Complete, v.Received, v.Args, v.Binding, v.Leaves, v.Asking
}
