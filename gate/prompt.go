package gate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// withdrawn is the cause of a context that ended because the call is decided.
type withdrawn struct{ code stopgate.Code }

func (w withdrawn) Error() string { return "withdrawn: " + string(w.code) }

// ErrHold is the cause of an approver's context that ended because nobody answered
// in time (S5). Behind every other cause the call itself is gone. An approver
// returns it whose question ended before.
var ErrHold = errors.New("gate: nobody answered in time")

// MaxQuestions is how many questions may be open at a gate at once. A call that would
// have to be asked about beyond it is denied overloaded (FM14).
const MaxQuestions = 2000

// prompt is one question on its way.
type prompt struct {
	question *Question
	cancel   context.CancelCauseFunc
	asked    time.Time        // by the wall clock
	until    time.Time        // when the call stops waiting, by the wall clock
	began    time.Time        // by the monotonic clock
	verdict  stopgate.Verdict // that it was opened for
	early    bool             // asked before the arguments were complete
	ended    chan struct{}    // closed when the fields below are set
	able     Abilities
	answer   Answer
	took     time.Duration // until there was an answer, or none
	code     stopgate.Code // why there is no answer that could allow; "" if there is one
}

// approval is what people answered, if they have.
func (q *prompt) approval() (a *stopgate.Approval, via string) {
	select {
	case <-q.ended:
	default:
		return nil, ""
	}
	if q.answer.Binding == (Binding{}) && q.answer.By == "" {
		return nil, ""
	}
	return &stopgate.Approval{ID: q.answer.ID, By: q.answer.By, Edited: q.answer.Kind == Edited, Referred: q.answer.Referred}, q.answer.Via
}

// returnApproval gives the approval back that the call came with: it did not leave. An edit that
// the policy refuses was used: the same edit would be refused again.
func (p *pending) returnApproval(ctx context.Context) {
	p.mu.Lock()
	back, id := p.giveBackApproval, ""
	p.giveBackApproval = nil
	failed := p.latest().Layer == stopgate.LayerFailure
	if p.granted != nil {
		id = p.granted.ID
		if !failed {
			back = nil
		}
	}
	if q := p.prompt; q != nil && p.granted == nil {
		select {
		case <-q.ended:
			if q.answer.Kind == Approved || failed {
				back, id = q.answer.GiveBack, q.answer.ID
			}
			q.answer.GiveBack = nil
		default:
		}
	}
	p.mu.Unlock()
	if back == nil {
		return
	}
	if p.usedApproval {
		p.g.used.forget(id)
	}
	invoke(context.WithoutCancel(ctx), &p.g.ports.approver, p.g.limits.Abilities, func(ctx context.Context) (struct{}, error) {
		back(ctx)
		return struct{}{}, nil
	})
}

// Ask puts the call in front of the approver and returns at once. It may be
// called from the first ask or edit verdict on, while the arguments still arrive
// (S1); Resolve joins it, and asks if nobody did. The prompt is
// withdrawn when ctx ends; a surface that can hold the call for a shorter time than
// [Limits] allows ends ctx with the cause [ErrHold]. Without an approver, or with nobody there, the call is
// denied at once. Where the verdict is terminal already there is nothing to ask;
// where it does not ask, the error is ErrNoAsk.
func (p *pending) Ask(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch v := p.verdict(); {
	case p.stage >= resolving:
		return ErrResolved
	case p.terminal, p.prompt != nil, p.under.observe:
		return nil
	case !v.Decided || v.Mode.Permissive():
		return ErrNoAsk
	}
	p.ask(ctx)
	return nil
}

// ask opens a prompt; p.mu is held.
func (p *pending) ask(ctx context.Context) {
	if p.g.approver == nil {
		// Certain at the byte that asked, in every chunking.
		v := p.refusal(stopgate.LayerApproval, stopgate.CodeNoApprover)
		v.DecidedAt = p.verdict().DecidedAt
		p.addVerdict(v)
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	q := &prompt{
		cancel: cancel, asked: p.g.now(), began: time.Now(), verdict: p.verdict(), early: p.stage == feeding,
		ended: make(chan struct{}),
	}
	q.until = q.asked.Add(p.g.limits.Hold)
	if sooner, ok := ctx.Deadline(); ok && time.Until(sooner) < p.g.limits.Hold {
		q.until = q.asked.Add(time.Until(sooner))
	}
	if p.g.lock.open() >= MaxQuestions {
		cancel(nil)
		v := p.refusal(stopgate.LayerApproval, stopgate.CodeOverloaded)
		v.DecidedAt = p.verdict().DecidedAt
		p.addVerdict(v)
		return
	}
	if !p.g.lock.add(p) {
		cancel(nil)
		p.applyLockdown()
		return
	}
	q.question = newQuestion(p.view(q))
	p.prompt = q
	// The goroutine belongs to the call: Resolve and Cancel withdraw the prompt and
	// wait for its end.
	go p.await(ctx, q)
}

// view is what the approver is shown now; p.mu is held.
func (p *pending) view(q *prompt) View {
	v := View{
		Proposal: p.id, Parent: p.parent, Call: p.call, To: p.to, Verdict: p.verdict(),
		Received: p.received, Until: q.until, Expires: q.asked.Add(p.g.limits.Approval),
	}
	if p.final != nil {
		v.Args, v.Complete, v.Binding, v.Leaves = string(p.final), true, p.binding(), p.leaves()
		v.Asking = p.asking()
	}
	return v
}

// show brings the question up to date: the arguments are complete, or something
// new asks; p.mu is held.
func (p *pending) show() {
	q := p.prompt
	if q == nil || p.terminal {
		return
	}
	v, shown := p.verdict(), q.question.shown()
	if v.Mode != shown.Verdict.Mode || len(v.Floors) != len(shown.Verdict.Floors) || p.final != nil && !shown.Complete {
		q.question.update(p.view(q))
	}
}

// leaves lists the values of the arguments; p.mu is held.
func (p *pending) leaves() []Leaf {
	if p.eval == nil {
		return nil
	}
	return p.eval.Leaves()
}

// asking names every rule that asks; p.mu is held.
func (p *pending) asking() []string {
	if p.eval == nil {
		return nil
	}
	return p.eval.Asking()
}

// binding is what an approval of the complete call belongs to; p.mu is held.
func (p *pending) binding() Binding {
	tool := p.call.Tool
	if p.kind == Handoff {
		tool = "handoff to " + stopgate.ToolName(p.to)
	}
	return Binding{
		Args: p.hash, Tool: tool, Definition: p.definition,
		Policy: p.under.hash, Session: p.call.Session, Principal: p.call.Principal, Agent: p.call.Agent, Server: p.call.Server,
	}
}

// await asks the approver and waits. An answer that cannot become an allow acts
// at once, wherever the arguments are.
func (p *pending) await(ctx context.Context, q *prompt) {
	defer close(q.ended)
	defer q.cancel(nil)
	defer p.g.lock.remove(p)
	g := p.g
	call := p.proposed()
	able := invoke(ctx, &g.ports.approver, g.limits.Abilities, func(ctx context.Context) (Abilities, error) {
		return g.approver.Abilities(ctx, &call), nil
	})
	q.able = able.value
	g.reportTrouble("approver", p.id, able.fault, able.err)
	switch {
	case able.fault == gone:
		q.code = endCode(able.err)
	case able.fault != none, !q.able.Reachable && !q.able.Keeps, q.verdict.Mode == stopgate.Edit && !q.able.CanEdit:
		q.code = stopgate.CodeNoApprover
	default:
		p.note(ctx, q, stopgate.AuditAsked, "", nil)
		hold, cancel := context.WithTimeoutCause(ctx, g.limits.Hold, ErrHold)
		defer cancel()
		r := invoke(hold, &g.ports.approver, 0, func(ctx context.Context) (Answer, error) {
			return g.approver.Approve(ctx, q.question)
		})
		q.answer, q.took = r.value, time.Since(q.began)
		q.code = q.judge(r)
		g.reportTrouble("approver", p.id, r.fault, r.err)
		if r.fault == none && q.code == stopgate.CodeInvalidPolicyResult {
			g.reportTrouble("approver", p.id, failed, errNoAnswer)
		}
		if !q.answer.Referred { // else nobody answered
			p.note(ctx, q, stopgate.AuditAnswered, q.code, &stopgate.Approval{
				ID: q.answer.ID, By: q.answer.By, Edited: q.answer.Kind == Edited,
			})
		}
	}
	if q.code == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage < committed {
		v := p.refusal(stopgate.LayerApproval, q.code)
		switch {
		case q.code == stopgate.CodeApprovalPending && q.answer.ID != "":
			v.Public = "Approval " + q.answer.ID + " is pending; repeat the identical call when it was given."
		case q.code == stopgate.CodeApprovalDeclined && q.answer.Public != "":
			v.Public = q.answer.Public
		}
		p.addVerdict(v)
	}
}

// judge says what an answer that cannot allow means, "" for one that can. A yes that
// nobody gave would be a row about which nobody can be asked.
func (q *prompt) judge(r reply[Answer]) stopgate.Code {
	switch r.fault {
	case none:
	case gone:
		if code := endCode(r.err); code != stopgate.CodeApprovalTimeout || !q.able.Keeps {
			return code
		}
		return stopgate.CodeApprovalPending
	default:
		if errors.Is(r.err, ErrHold) {
			return stopgate.CodeApprovalTimeout
		}
		return stopgate.CodeNoApprover
	}
	switch r.value.Kind {
	case Approved:
		if r.value.By != "" {
			return ""
		}
	case Edited:
		if r.value.By != "" && q.able.CanEdit {
			return ""
		}
	case Declined:
		return stopgate.CodeApprovalDeclined
	case Deferred:
		return stopgate.CodeApprovalPending
	}
	return stopgate.CodeInvalidPolicyResult
}

// endCode says why a context ended that a call was waiting under.
func endCode(cause error) stopgate.Code {
	var w withdrawn
	switch {
	case errors.As(cause, &w):
		return w.code
	case errors.Is(cause, ErrHold), errors.Is(cause, context.DeadlineExceeded):
		return stopgate.CodeApprovalTimeout
	}
	return stopgate.CodeClientGone
}

// approvals remembers the approvals that were used, until they have expired
// anyway (I16).
type approvals struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// use reports whether the approval was not used before, and uses it.
func (a *approvals) use(id string, now time.Time, expires time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.used) >= generation {
		for old, at := range a.used {
			if now.After(at) {
				delete(a.used, old)
			}
		}
	}
	if _, used := a.used[id]; used {
		return false
	}
	if a.used == nil {
		a.used = make(map[string]time.Time)
	}
	a.used[id] = expires
	return true
}

// forget makes an approval usable again.
func (a *approvals) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, id)
}

// expired reports whether the time for an answer is over, by the wall clock or by
// the monotonic one, whichever says so first: setting the wall clock back does not
// make an approval last longer (FM13).
func (q *prompt) expired(now time.Time, limit time.Duration) bool {
	return now.Round(0).Sub(q.asked.Round(0)) >= limit || time.Since(q.began) >= limit
}
