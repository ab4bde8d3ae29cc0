package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/arguments"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
)

// Desk puts questions before one person, the oldest first. It is the agent's
// [gate.Approver].
type Desk struct {
	by     string
	grants *approve.Queue // nil: no grants
	now    func() time.Time

	mu    sync.Mutex
	queue []*Question
	wake  chan struct{}
}

var _ gate.Approver = (*Desk)(nil)

// NewDesk makes a desk at which by answers. Grants are kept in and found through the
// queue.
func NewDesk(by string, grants *approve.Queue, now func() time.Time) *Desk {
	return &Desk{by: by, grants: grants, now: now, wake: make(chan struct{}, 1)}
}

// Question waits for an answer. Its methods may be called from any goroutine; of its
// answers the first counts.
type Question struct {
	desk   *Desk
	gate   *gate.Question
	answer chan gate.Answer

	mu       sync.Mutex
	answered bool
	yes      bool  // the answer lets the call run
	armed    *seen // the person said yes, when complete
	fresh    []string
}

// seen is what stood on the screen when the person said yes.
type seen struct {
	names  map[string]bool // parameters that were there: complete, or still arriving
	floors int
	mode   stopgate.Mode
}

// Abilities implements [gate.Approver].
func (d *Desk) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve implements [gate.Approver].
func (d *Desk) Approve(ctx context.Context, question *gate.Question) (gate.Answer, error) {
	q := &Question{desk: d, gate: question, answer: make(chan gate.Answer, 1)}
	queued, looked := false, false
	defer d.drop(q)
	for {
		v, changed := question.View()
		if v.Complete && !v.OfResult && !looked && d.grants != nil {
			looked = true
			if a, ok, err := d.grants.Granted(ctx, v); ok || err != nil {
				return a, err
			}
		}
		if !q.complete(v) && !queued {
			queued = true
			d.add(q)
		}
		d.ring()
		select {
		case a := <-q.answer:
			a.Via = approve.ViaAgent
			return a, nil
		case <-changed:
		case <-ctx.Done():
			return gate.Answer{}, context.Cause(ctx)
		}
	}
}

func (d *Desk) add(q *Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, q)
}

func (d *Desk) drop(q *Question) {
	d.mu.Lock()
	d.queue = slices.DeleteFunc(d.queue, func(other *Question) bool { return other == q })
	d.mu.Unlock()
	d.ring()
}

func (d *Desk) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Changed is sent to when there may be something new to show. It is for one reader.
func (d *Desk) Changed() <-chan struct{} { return d.wake }

// Next returns the question that the person has to look at, nil if there is none, and
// how many wait behind it.
func (d *Desk) Next() (q *Question, behind int) {
	list := d.Waiting()
	if len(list) == 0 {
		return nil, 0
	}
	return list[0], len(list) - 1
}

// Waiting are the questions that the person has to look at, in the order in which they
// were asked. One that only waits for its arguments is passed over.
func (d *Desk) Waiting() (list []*Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queue {
		if !q.resting() {
			list = append(list, q)
		}
	}
	return list
}

// resting reports whether the person has answered as far as can be.
func (q *Question) resting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answered || q.armed != nil
}

// View is the question as it stands.
func (q *Question) View() gate.View {
	v, _ := q.gate.View()
	return v
}

// Fresh are the parameters that came after the person had said yes, and that could
// change what the call means: why it is asked again.
func (q *Question) Fresh() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fresh
}

// Armed reports whether the person said yes to a call, when it is complete.
func (d *Desk) Armed(id stopgate.ProposalID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.queue, func(q *Question) bool { return q.View().Proposal == id && q.agreed() })
}

// agreed reports whether the person said yes, now or for when the call is complete.
func (q *Question) agreed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.yes || !q.answered && q.armed != nil
}

// give answers, once.
func (q *Question) give(a gate.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.answered {
		q.answered, q.yes = true, a.Kind == gate.Approved || a.Kind == gate.Edited
		q.answer <- a
	}
}

// Allow says yes to what is shown. While the arguments are not complete, it counts when
// they are, unless something came that the person did not see on the screen, where
// shown stood (THREATS H2).
func (q *Question) Allow(v gate.View, shown []arguments.Parameter) {
	if v.Complete {
		q.give(v.Approve(q.desk.by))
		return
	}
	s := &seen{names: map[string]bool{}, floors: len(v.Verdict.Floors), mode: v.Verdict.Mode}
	for _, p := range shown {
		s.names[p.Name] = p.Complete()
	}
	q.mu.Lock()
	q.armed, q.fresh = s, nil
	q.mu.Unlock()
	if now := q.View(); now.Complete {
		q.complete(now) // in the meantime
	}
	q.desk.ring()
}

// AllowRest says yes to what is shown and to whatever follows.
func (q *Question) AllowRest(v gate.View) { q.give(v.Approve(q.desk.by)) }

// Decline says no. The model hears the reason; without one the agent waits for the
// person.
func (q *Question) Decline(v gate.View, reason string) {
	a := v.Decline(q.desk.by)
	a.Public = reason
	q.give(a)
}

// Edit says yes to other arguments, which are judged like any other, or to another
// result.
func (q *Question) Edit(v gate.View, text string) { q.give(v.Edit(q.desk.by, []byte(text))) }

// complete answers a question that was armed, if its arguments are complete and nothing
// came that was not seen. It reports whether the question needs nobody.
func (q *Question) complete(v gate.View) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.armed
	if s == nil || !v.Complete || q.answered {
		return q.answered
	}
	q.armed = nil
	q.fresh = s.unseen(v)
	if v.Verdict.Mode != s.mode || len(v.Verdict.Floors) != s.floors || len(q.fresh) > 0 {
		return false
	}
	q.answered = true
	q.answer <- v.Approve(q.desk.by)
	return true
}

// unseen lists the parameters that were not on the screen, and those that were still
// arriving and name a target: half a path is not seen. Text that was arriving was seen
// to be text.
func (s *seen) unseen(v gate.View) (names []string) {
	for _, l := range v.Leaves {
		name := top(l.Pointer)
		complete, there := s.names[name]
		if (!there || !complete && l.Type != "") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// top is the top-level parameter that a pointer goes through.
func top(pointer string) string {
	for i := 1; i < len(pointer); i++ {
		if pointer[i] == '/' {
			return unescape(pointer[1:i])
		}
	}
	if pointer == "" {
		return ""
	}
	return unescape(pointer[1:])
}

// ErrNoGrants says that the desk keeps none.
var ErrNoGrants = errors.New("agent: grants are not kept here")

// Offer is the grant that "always" would mean for a question: nothing holds yet.
func (q *Question) Offer(v gate.View, wider []approve.Value) (approve.Grant, error) {
	if q.desk.grants == nil {
		return approve.Grant{}, ErrNoGrants
	}
	return approve.Offer(v, approve.Scope{Wider: wider}, q.desk.by, q.desk.now())
}

// AllowAlways says yes and lets a grant hold for calls to come.
func (q *Question) AllowAlways(ctx context.Context, v gate.View, g approve.Grant) error {
	if err := q.desk.grants.Keep(ctx, g); err != nil {
		return err
	}
	q.give(v.Approve(q.desk.by))
	return nil
}

// unescape reads a token of a pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~").Replace
