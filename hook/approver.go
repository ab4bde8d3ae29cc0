package hook

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// Approver says who answers what a policy wants asked, for one event: the host's own
// prompt where there is one, otherwise whoever reads the approvals.
type Approver struct {
	host     *Host
	event    *Event
	queue    gate.Approver
	harmless bool // an unknown tool without effects needs no answer (DECISIONS S33)
}

var _ gate.Approver = (*Approver)(nil)

// Approver is the gate's approver for an event. queue answers where the host cannot
// ask; nil is nobody.
func (h *Host) Approver(e *Event, queue gate.Approver) *Approver {
	return &Approver{host: h, event: e, queue: queue}
}

// prompter is how records name an ask that was left to the host.
func (h *Host) prompter() string { return "the prompt of " + h.Name }

// asks reports whether the host asks its user about this event.
func (a *Approver) asks() bool {
	if a.event.Kind != Before || !a.host.Asks && a.event.Name != a.host.prompting {
		return false
	}
	return a.host.answer(a.host, a.event, Answer{Action: Ask}).Exit == 0
}

// Abilities implements [gate.Approver]. A host shows the arguments as they are: what
// has to be edited needs somebody else (DECISIONS K31).
func (a *Approver) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	switch {
	case a.asks(), a.harmless: // the host asks when it has the answer to its hook
		return gate.Abilities{Reachable: true, Immediate: true}
	case a.queue == nil:
		return gate.Abilities{}
	}
	return a.queue.Abilities(ctx, call)
}

// Approve implements [gate.Approver].
func (a *Approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	if !a.asks() && !a.harmless {
		return a.queue.Approve(ctx, q)
	}
	view, err := q.Complete(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	if a.harmless {
		return view.Approve("hook: a tool without effects"), nil
	}
	return view.Refer(a.host.prompter()), nil
}
