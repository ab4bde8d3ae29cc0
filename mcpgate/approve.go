package mcpgate

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Approver answers what the policy asks: whoever reads the approvals and, where that is
// nobody and the settings allow it, the user of the client (WIRE 8.6). The approval
// queue is the authority in any case; the client's user is one way to answer it.
type Approver struct {
	queue *approve.Queue
	store approve.Store
	opts  approve.Options
}

var _ gate.Approver = (*Approver)(nil)

// NewApprover makes an approver on a store of approvals.
func NewApprover(store approve.Store, o approve.Options) (*Approver, error) {
	q, err := approve.New(store, o)
	if err != nil {
		return nil, err
	}
	return &Approver{queue: q, store: store, opts: o}, nil
}

// exchangeOf is the client's request that a call belongs to.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// Abilities implements [gate.Approver]. A client cannot change the arguments of a call
// (DECISIONS K31).
func (a *Approver) Abilities(ctx context.Context, call *stopgate.Call) gate.Abilities {
	able := a.queue.Abilities(ctx, call)
	if x := exchangeOf(ctx); !able.Reachable && x.elicits() {
		return gate.Abilities{Reachable: true, Keeps: true}
	}
	return able
}

// Approve implements [gate.Approver].
func (a *Approver) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	x := exchangeOf(ctx)
	view, _ := q.View()
	if a.queue.Abilities(ctx, &view.Call).Reachable || !x.elicits() || view.OfResult {
		return a.queue.Approve(ctx, q)
	}
	if x.modern {
		return a.park(ctx, q, x)
	}
	return a.elicit(ctx, q, x)
}

// elicits reports whether the user of the client may answer.
func (x *exchange) elicits() bool {
	if x == nil || !x.p.g.set.Elicitation {
		return false
	}
	if x.modern {
		return x.meta.abilities.elicitation
	}
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	return x.p.abilities.elicitation && x.p.version >= "2025-06-18"
}

// park keeps the question for the request that comes back with an answer, in the
// revision where clients are asked by results.
func (a *Approver) park(ctx context.Context, q *gate.Question, x *exchange) (gate.Answer, error) {
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
		x.parked = &parked{id: answer.ID, message: prompt(view)}
		x.mu.Unlock()
	}
	return answer, err
}

// declined is the question to which the client's user said no, "" if there is none.
func (x *exchange) declined() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.no
}

// parked is a question that the next round answers.
type parked struct{ id, message string }

// elicit puts the question to the client's user on the call's own stream.
func (a *Approver) elicit(ctx context.Context, q *gate.Question, x *exchange) (gate.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	added := make(chan approve.Entry, 1)
	o := a.opts
	o.Notify = []approve.Notifier{asker(added)}
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
			kind, ok := x.ask(ctx, prompt(view))
			if !ok {
				return
			}
			if _, err := queue.Answer(ctx, e.ID, approve.Reply{Kind: kind, By: clientUser, Via: approve.ViaClient, Seen: e.Binding.Hash()}); err != nil && ctx.Err() == nil {
				x.p.g.log.Warn("an answer does not count", "error", err)
			}
		case <-ctx.Done():
		}
	}()
	answer, err := queue.Approve(ctx, q)
	cancel()
	<-done
	return answer, err
}

// clientUser is how records name who answered.
const clientUser = "the user of the MCP client"

// asker passes the entry of a question on.
type asker chan approve.Entry

// Name implements [approve.Notifier].
func (asker) Name() string { return "MCP client" }

// Notify implements [approve.Notifier].
func (a asker) Notify(_ context.Context, e approve.Entry) error {
	a <- e
	return nil
}

// prompt is what the client's user is shown: nothing in it can pass for something else
// (THREATS H14).
func prompt(v gate.View) string {
	text := fmt.Sprintf("stopgate: may the tool %s run with these arguments?\n%s", v.Call.Tool, visible.Elide(visible.Text(v.Args), 2000))
	return text + "\nWhy it asks: " + because(v.Verdict)
}

// because is why somebody is asked: the policy's own reason, what the code says, or else
// which rule it was.
func because(v stopgate.Verdict) string {
	switch {
	case v.Public != "" && v.Public != stopgate.CodeRuleMatched.Public():
		return visible.Text(v.Public)
	case v.Rule == nil:
		return "a rule of the policy wants a person to look at it"
	}
	return fmt.Sprintf("a rule of the policy wants a person to look at it (%s:%d)", visible.Text(filepath.Base(v.Rule.File)), v.Rule.Line)
}

// requested is the form of the question.
const requested = `"requestedSchema":{"type":"object","properties":{"decision":{"type":"string","enum":["allow","deny"]}},"required":["decision"]}`

func elicitation(message string, mode bool) []byte {
	out := []byte("{")
	if mode {
		out = append(out, `"mode":"form",`...)
	}
	out = jsonstream.AppendQuote(append(out, `"message":`...), message)
	return append(append(append(out, ','), requested...), '}')
}

// ask sends the question and waits for the answer. Only "accept" with "allow" is yes.
func (x *exchange) ask(ctx context.Context, message string) (approve.Kind, bool) {
	a := &serverAsk{reply: make(chan *jsonrpc.Message, 1)}
	id := x.p.expect(a)
	defer x.p.forgo(id)
	x.p.mu.Lock()
	mode := x.p.version >= "2025-11-25"
	x.p.mu.Unlock()
	text := jsonrpc.AppendRequest(nil, id, "elicitation/create", elicitation(message, mode))
	if !x.tell(text) && !x.p.out(text) {
		return approve.No, false
	}
	select {
	case m := <-a.reply:
		return decision(m.Result), true
	case <-ctx.Done():
		params := append(append([]byte(`{"requestId":`), id...), `,"reason":"the question is over"}`...)
		x.tell(jsonrpc.AppendRequest(nil, "", "notifications/cancelled", params))
		return approve.No, false
	}
}

func decision(result jsonstream.Value) approve.Kind {
	content, ok := memberOf(result, "content")
	if ok && textOf(result, "action") == "accept" && textOf(content, "decision") == "allow" {
		return approve.Yes
	}
	return approve.No
}

// settled takes the answer that a round brought into the queue. What is no answer, or
// comes too late, changes nothing: the gate then asks anew or denies.
func (p *peer) settled(ctx context.Context, m *jsonrpc.Message, x *exchange, r *round) {
	if r == nil || r.void || r.state.Approval == "" || p.g.approver == nil || !p.g.set.Elicitation {
		return
	}
	inputs, ok := memberOf(m.Params, "inputResponses")
	if !ok {
		return
	}
	answer, ok := inputs.Get(approvalKey)
	if !ok {
		return
	}
	// A result may stand by itself or in a member of its own.
	if inner, ok := memberOf(answer, "result"); ok {
		answer = inner
	}
	kind := decision(answer)
	_, err := p.g.approver.queue.Answer(ctx, r.state.Approval, approve.Reply{Kind: kind, By: clientUser, Via: approve.ViaClient})
	switch {
	case err != nil:
		p.g.log.Warn("an answer does not count", "error", err)
	case kind == approve.No:
		x.mu.Lock()
		x.no = r.state.Approval
		x.mu.Unlock()
	}
}

// resolve waits for the call's outcome. In the revision without sessions a call that
// must be asked about is answered with the question.
func (p *peer) resolve(ctx context.Context, m *jsonrpc.Message, x *exchange, pending *gate.Pending, c *conn, name string, r *round) (stopgate.Outcome, *reply) {
	p.settled(ctx, m, x, r)
	stop := make(chan struct{})
	defer close(stop)
	if v := pending.Verdict(); x.token != nil && v.Decided && !v.Terminal() && !v.Mode.Permissive() {
		p.g.work.Go(func() { x.waits(stop) })
	}
	out, err := pending.Resolve(ctx)
	if err != nil && out.Proposal == "" {
		return refused(stopgate.CodePolicyError), nil
	}
	x.mu.Lock()
	question := x.parked
	x.mu.Unlock()
	if question == nil || out.Allowed() || out.Verdict.Code != stopgate.CodeApprovalPending {
		return out, nil
	}
	st := p.newState(m, c, name)
	st.Approval = question.id
	if r != nil && !r.void {
		st.Theirs = r.state.Theirs
	}
	body := append([]byte(`{"resultType":"input_required","inputRequests":{"`+approvalKey+`":{"method":"elicitation/create","params":`), elicitation(question.message, true)...)
	body = jsonstream.AppendQuote(append(body, `}},"requestState":`...), p.g.seal.seal(st))
	return out, &reply{text: appendResult(x.id, append(body, '}'))}
}

// waits tells the client, as progress, that somebody is asked.
func (x *exchange) waits(stop <-chan struct{}) {
	tick := time.NewTicker(x.p.g.set.Word)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			params := append(append([]byte(`{"progressToken":`), x.token...), fmt.Sprintf(`,"progress":%d,"message":"waiting for an approval"}`, n)...)
			if !x.tell(jsonrpc.AppendRequest(nil, "", "notifications/progress", params)) {
				return
			}
		}
	}
}
