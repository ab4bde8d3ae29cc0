package hook

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Approver requests approvals for one event: with the host's own prompt if it has one, from
// the approval queue otherwise.
type Approver struct {
	host     *Host
	event    *Event
	queue    gate.Approver
	harmless bool     // the tool is unknown and has no effects, so no approval is needed (S33)
	missing  []string // the objections of session policies that the host's user is asked about
	objects  bool     // session policies may object to a harmless call
	queued   bool     // the queue can answer, or keep the question
	others   bool     // the host's user must not answer
}

var _ gate.Approver = (*Approver)(nil)

// errNoPrompt is the answer to a question of a session policy where the host cannot ask.
var errNoPrompt = errors.New("hook: the host cannot ask its user")

// Approver returns the gate's approver for an event. queue is used if the host cannot ask;
// it may be nil.
func (h *Host) Approver(e *Event, queue gate.Approver) *Approver {
	return &Approver{host: h, event: e, queue: queue}
}

// ByOthers makes the queue answer every question: the policy names who may, and the host's prompt asks
// its own user.
func (a *Approver) ByOthers() { a.others = true }

// promptName identifies the host's prompt in records.
func (h *Host) promptName() string { return "the prompt of " + h.Name }

// hostAsks reports whether the host can ask its user about this event.
func (a *Approver) hostAsks() bool {
	if a.others || a.event.Kind != Before || !a.host.CanAsk && a.event.Name != a.host.promptEvent {
		return false
	}
	return a.host.format(a.host, a.event, Decision{Action: Ask}).Exit == 0
}

// Abilities implements [gate.Approver]. A host shows the arguments unchanged, so its user
// cannot edit them (K31).
func (a *Approver) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	switch {
	case a.hostAsks(), a.harmless && (a.queue == nil || !a.objects): // the host asks after it has received the decision
		return gate.Abilities{Reachable: true, Immediate: true}
	case a.queue == nil:
		return gate.Abilities{}
	}
	able := a.queue.Abilities(ctx, call)
	a.queued = able.Reachable || able.Keeps
	able.Reachable = able.Reachable || a.harmless
	return able
}

// Approve implements [gate.Approver].
func (a *Approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	if !a.hostAsks() && !a.harmless {
		return a.queue.Approve(ctx, q)
	}
	view, err := q.Complete(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	switch {
	case a.harmless && len(view.Missing) == 0:
		return view.Approve("hook: a tool without effects"), nil
	case a.harmless && !a.hostAsks() && !a.queued:
		return gate.Answer{}, errNoPrompt
	case a.harmless && !a.hostAsks():
		a.harmless = false
		return a.queue.Approve(ctx, q)
	}
	a.harmless, a.missing = false, view.Missing
	return view.Refer(a.host.promptName()), nil
}
