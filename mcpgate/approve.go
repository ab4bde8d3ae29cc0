package mcpgate

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/round"
	"github.com/stopgate/stopgate/internal/mcp/serve"
)

// Approver requests approvals from the approval queue. If no approver watches the queue, the
// settings allow it, and the answer of the caller is enough, it asks the user of the MCP client
// instead. The queue is authoritative in both cases.
type Approver struct {
	queue *approve.Queue
	store approve.Store
	opts  approve.Options
}

var (
	_ gate.Approver = (*Approver)(nil)
	_ gate.Alerter  = (*Approver)(nil)
)

// NewApprover returns an approver that uses the given store.
func NewApprover(store approve.Store, o approve.Options) (*Approver, error) {
	q, err := approve.New(store, o)
	if err != nil {
		return nil, err
	}
	return &Approver{queue: q, store: store, opts: o}, nil
}

// requestOf returns the client's request in ctx, nil if there is none.
func requestOf(ctx context.Context) *request {
	x, _ := ctx.Value(requestKey{}).(*request)
	return x
}

// Abilities implements [gate.Approver]. The client's user cannot edit arguments (K31).
func (a *Approver) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	able := a.queue.Abilities(ctx, call)
	if !able.Reachable && a.byClient(requestOf(ctx), call) {
		return gate.Abilities{Reachable: true, Keeps: true}
	}
	return able
}

// Alert implements [gate.Alerter].
func (a *Approver) Alert(ctx context.Context, r stopgate.Record) { a.queue.Alert(ctx, r) }

// Approve implements [gate.Approver].
func (a *Approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	x := requestOf(ctx)
	view, _ := q.View()
	if a.queue.Abilities(ctx, &view.Call).Reachable || !a.byClient(x, &view.Call) || view.OfResult {
		return a.queue.Approve(ctx, q)
	}
	if x.Modern {
		return a.deferApproval(ctx, q, x)
	}
	return a.elicit(ctx, q, x)
}

// byClient reports whether the user of the client can answer a question, and may.
func (a *Approver) byClient(x *request, call *stopgate.Call) bool {
	return x.elicits() && a.queue.Requires(call).ByProgram()
}

// elicits reports whether the client can ask its user and the settings allow it.
func (x *request) elicits() bool {
	if x == nil || !x.client.g.set.Elicitation {
		return false
	}
	if x.Modern {
		return protocol.Elicits(x.Meta.Capabilities)
	}
	x.client.mu.Lock()
	defer x.client.mu.Unlock()
	return x.client.elicits && x.client.version >= "2025-06-18"
}

// deferApproval stores the question. In the revision without sessions the client receives
// it in a result and repeats the request with the answer.
func (a *Approver) deferApproval(ctx context.Context, q *gate.Question, x *request) (gate.Answer, error) {
	if no := x.declined(); no != "" {
		view, err := q.Complete(ctx)
		answer := view.Decline(clientUser)
		answer.ID, answer.Via = no, approve.ViaClient
		return answer, err
	}
	o := a.opts
	o.Defer, o.Notify = true, nil
	queue, err := approve.New(a.store, o)
	if err != nil {
		return gate.Answer{}, err
	}
	answer, err := queue.Approve(ctx, q)
	if err == nil && answer.Kind == gate.Deferred {
		view, _ := q.View()
		x.mu.Lock()
		x.pendingApproval = &pendingApproval{id: answer.ID, message: round.Prompt(view)}
		x.mu.Unlock()
	}
	return answer, err
}

// declined returns the id of the question that the client's user declined, "" if there is
// none.
func (x *request) declined() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.declinedID
}

// pendingApproval is a question that the next round answers.
type pendingApproval struct{ id, message string }

// elicit asks the client's user on the call's own stream.
func (a *Approver) elicit(ctx context.Context, q *gate.Question, x *request) (gate.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	added := make(chan approve.Entry, 1)
	o := a.opts
	o.Notify = []approve.Notifier{entryNotifier(added)}
	queue, err := approve.New(a.store, o)
	if err != nil {
		cancel()
		return gate.Answer{}, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case e := <-added:
			view, _ := q.View()
			kind, ok := x.askUser(ctx, round.Prompt(view))
			if !ok {
				return
			}
			if _, err := queue.Answer(ctx, e.ID, approve.Reply{Kind: kind, By: clientUser, Principal: x.client.owner.Principal, Groups: serve.Groups(ctx), Via: approve.ViaClient, Seen: e.Binding.Hash()}); err != nil && ctx.Err() == nil {
				x.client.g.log.Warn("the approval queue rejected an answer", "error", err)
			}
		case <-ctx.Done():
		}
	}()
	answer, err := queue.Approve(ctx, q)
	cancel()
	<-done
	return answer, err
}

// clientUser identifies the client's user in records.
const clientUser = "the user of the MCP client"

// entryNotifier is a notifier that forwards the entry of a question.
type entryNotifier chan approve.Entry

// Name implements [approve.Notifier].
func (entryNotifier) Name() string { return "MCP client" }

// Notify implements [approve.Notifier].
func (a entryNotifier) Notify(_ context.Context, e approve.Entry) error {
	a <- e
	return nil
}

// askUser sends the elicitation and waits for the answer.
func (x *request) askUser(ctx context.Context, message string) (approve.Kind, bool) {
	x.client.mu.Lock()
	mode := x.client.version >= "2025-11-25"
	x.client.mu.Unlock()
	m, ok := x.client.Request(ctx, x.Request, "elicitation/create", round.Elicitation(message, mode))
	if !ok {
		return approve.No, false
	}
	return round.Answer(m.Result), true
}

// recordAnswer passes the answer of a round to the queue. An invalid or late answer has no
// effect: the gate asks again or denies.
func (k *toolCall) recordAnswer(ctx context.Context) {
	x, r := k.x, k.round
	if r == nil || r.OtherArgs || r.State.Approval == "" || x.client.g.approver == nil || !x.client.g.set.Elicitation {
		return
	}
	kind, ok := round.Input(x.Message)
	if !ok {
		return
	}
	_, err := x.client.g.approver.queue.Answer(ctx, r.State.Approval, approve.Reply{Kind: kind, By: clientUser, Principal: x.client.owner.Principal, Groups: serve.Groups(ctx), Via: approve.ViaClient})
	switch {
	case err != nil:
		x.client.g.log.Warn("the approval queue rejected an answer", "error", err)
	case kind == approve.No:
		x.mu.Lock()
		x.declinedID = r.State.Approval
		x.mu.Unlock()
	}
}

// resolve waits for the outcome of a call. In the revision without sessions, a call that
// needs an approval returns a reply that asks for it.
func (k *toolCall) resolve(ctx context.Context, pending *gate.Pending) (stopgate.Outcome, *reply) {
	x, r := k.x, k.round
	k.recordAnswer(ctx)
	stop := make(chan struct{})
	defer close(stop)
	if v := pending.Verdict(); x.ProgressToken != nil && v.Decided && !v.Terminal() && !v.Mode.Permissive() {
		x.client.g.work.Go(func() { x.ReportWaiting(x.client.g.set.ProgressInterval, "waiting for an approval", stop) })
	}
	out, err := pending.Resolve(ctx)
	if err != nil && out.Proposal == "" {
		return refusedOutcome(stopgate.CodePolicyError), nil
	}
	x.mu.Lock()
	question := x.pendingApproval
	x.mu.Unlock()
	if question == nil || out.Allowed() || out.Verdict.Code != stopgate.CodeApprovalPending {
		return out, nil
	}
	st := x.newState(k.conn, k.name)
	st.Approval = question.id
	if r != nil && !r.OtherArgs {
		st.ServerState = r.State.ServerState
	}
	return out, &reply{Text: jsonrpc.AppendResult(nil, x.Message.ID, round.InputRequired(question.message, x.client.g.sealer.Seal(st)))}
}
