package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/arguments"
)

// QuestionQueue is the queue of questions for one person, oldest first. It implements
// [gate.Approver].
type QuestionQueue struct {
	by     string
	grants *approve.Queue // nil disables grants
	now    func() time.Time

	mu    sync.Mutex
	queue []*Question
	wake  chan struct{}
	grant chan struct{} // closed when a grant is created, and replaced
}

var _ gate.Approver = (*QuestionQueue)(nil)

// NewQuestionQueue returns a queue that records by as the author of its answers. Grants are stored in
// grants.
func NewQuestionQueue(by string, grants *approve.Queue, now func() time.Time) *QuestionQueue {
	return &QuestionQueue{by: by, grants: grants, now: now, wake: make(chan struct{}, 1), grant: make(chan struct{})}
}

// Question is a question that waits for an answer. It is safe for concurrent use. Only the
// first answer has an effect.
type Question struct {
	queue  *QuestionQueue
	gate   *gate.Question
	answer chan gate.Answer

	mu       sync.Mutex
	answered bool
	yes      bool  // the answer allows the call
	armed    *seen // the person approved the call for when its arguments are complete
	fresh    []string
}

// seen is the state of the display when the person approved.
type seen struct {
	names  map[string]bool // displayed parameters, complete or still arriving
	floors int
	mode   stopgate.Mode
}

// Abilities implements [gate.Approver].
func (d *QuestionQueue) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, CanEdit: true}
}

// Approve implements [gate.Approver].
func (d *QuestionQueue) Approve(ctx context.Context, question *gate.Question) (gate.Answer, error) {
	if view, _ := question.View(); d.grants != nil && d.grants.Requires(&view.Call).Others {
		return d.grants.Approve(ctx, question) // others than this person have to answer
	}
	q := &Question{queue: d, gate: question, answer: make(chan gate.Answer, 1)}
	queued := false
	var looked chan struct{} // the grants until then were compared
	defer d.drop(q)
	for {
		created := d.created()
		v, changed := question.View()
		if v.Complete && !v.OfResult && looked != created && d.grants != nil {
			looked = created
			a, ok, err := d.grants.Granted(ctx, v)
			switch {
			case err != nil, ok && q.claim():
				return a, err
			case ok: // the person has answered meanwhile
				a.GiveBack(context.WithoutCancel(ctx))
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
		case <-created:
		case <-ctx.Done():
			return gate.Answer{}, context.Cause(ctx)
		}
	}
}

// created returns a channel that is closed when the next grant is created.
func (d *QuestionQueue) created() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grant
}

// renew makes the questions that wait compare the grants again.
func (d *QuestionQueue) renew() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.grant)
	d.grant = make(chan struct{})
}

func (d *QuestionQueue) add(q *Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, q)
}

func (d *QuestionQueue) drop(q *Question) {
	d.mu.Lock()
	d.queue = slices.DeleteFunc(d.queue, func(other *Question) bool { return other == q })
	d.mu.Unlock()
	d.ring()
}

func (d *QuestionQueue) ring() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Changed receives a value when the list of questions may have changed. It supports one
// receiver.
func (d *QuestionQueue) Changed() <-chan struct{} { return d.wake }

// Next returns the question to display, nil if there is none, and the number of questions
// after it.
func (d *QuestionQueue) Next() (q *Question, behind int) {
	list := d.Waiting()
	if len(list) == 0 {
		return nil, 0
	}
	return list[0], len(list) - 1
}

// Waiting returns the questions to display, oldest first. Questions that were answered and
// wait for their arguments only are omitted.
func (d *QuestionQueue) Waiting() (list []*Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queue {
		if !q.hasAnswer() {
			list = append(list, q)
		}
	}
	return list
}

// hasAnswer reports whether the person has answered as far as possible.
func (q *Question) hasAnswer() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.answered || q.armed != nil
}

// View returns the current state of the question.
func (q *Question) View() gate.View {
	v, _ := q.gate.View()
	return v
}

// Fresh returns the parameters that arrived after the person had approved and that could
// change the meaning of the call. They are why the question is asked again.
func (q *Question) Fresh() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.fresh
}

// Armed reports whether the person approved a call for when it is complete.
func (d *QuestionQueue) Armed(id stopgate.ProposalID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.queue, func(q *Question) bool { return q.View().Proposal == id && q.agreed() })
}

// agreed reports whether the person approved, now or for when the call is complete.
func (q *Question) agreed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.yes || !q.answered && q.armed != nil
}

// claim answers the question with a grant. It fails if the person has answered.
func (q *Question) claim() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answered {
		return false
	}
	q.answered, q.yes = true, true
	return true
}

// sendAnswer answers the question once.
func (q *Question) sendAnswer(a gate.Answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.answered {
		q.answered, q.yes = true, a.Kind == gate.Approved || a.Kind == gate.Edited
		q.answer <- a
	}
}

// Allow approves the shown call. If the arguments are incomplete, the approval takes effect
// when they are complete, unless parameters arrived that are not in shown (H2).
func (q *Question) Allow(v gate.View, shown []arguments.Parameter) {
	if v.Complete {
		q.sendAnswer(v.Approve(q.queue.by))
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
		q.complete(now) // the arguments may be complete by now
	}
	q.queue.ring()
}

// AllowRest approves the shown arguments and all that follow.
func (q *Question) AllowRest(v gate.View) { q.sendAnswer(v.Approve(q.queue.by)) }

// Decline declines the call. The model receives the reason; without one the agent waits for
// the next prompt.
func (q *Question) Decline(v gate.View, reason string) {
	a := v.Decline(q.queue.by)
	a.Public = reason
	q.sendAnswer(a)
}

// Edit approves other arguments, which are evaluated like any others, or another result.
func (q *Question) Edit(v gate.View, text string) { q.sendAnswer(v.Edit(q.queue.by, []byte(text))) }

// complete answers an armed question if its arguments are complete and no parameter was
// added. It reports whether the question needs no further answer.
func (q *Question) complete(v gate.View) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.armed
	if s == nil || !v.Complete || q.answered {
		return q.answered
	}
	q.armed = nil
	q.fresh = s.unseen(v)
	if v.Verdict.Mode != s.mode || len(v.Verdict.Floors) != s.floors || len(v.Missing) > 0 || len(q.fresh) > 0 {
		return false
	}
	q.answered = true
	q.answer <- v.Approve(q.queue.by)
	return true
}

// unseen returns the parameters that were not displayed, and those that were incomplete and
// name a target: half a path was not reviewed. Incomplete plain text counts as displayed.
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

// top returns the top-level parameter of a pointer.
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

// ErrNoGrants is returned if the question queue has no approval queue.
var ErrNoGrants = errors.New("agent: grants are not available: the question queue has no approval queue")

// Offer returns the grant that "always" would create for a question. It has no effect yet.
func (q *Question) Offer(v gate.View, wider []approve.Value) (approve.Grant, error) {
	if q.queue.grants == nil {
		return approve.Grant{}, ErrNoGrants
	}
	return approve.Offer(v, approve.Scope{Wider: wider}, q.queue.by, q.queue.now())
}

// AllowAlways approves the call and stores a grant for later calls.
func (q *Question) AllowAlways(ctx context.Context, v gate.View, g approve.Grant) error {
	if err := q.queue.grants.Keep(ctx, g); err != nil {
		return err
	}
	q.sendAnswer(v.Approve(q.queue.by))
	q.queue.renew()
	return nil
}

// unescape decodes a token of a JSON pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~").Replace
