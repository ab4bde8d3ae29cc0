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

// ErrHold is the cause of an approver's context that ended because there was no answer in
// time (S5). With every other cause the call itself has ended. An approver may return it to
// end a question earlier.
var ErrHold = errors.New("gate: no answer to the question in time")

// MaxQuestions is how many questions may be open at a gate at once. A call that would
// have to be asked about beyond it is denied overloaded (FM14).
const MaxQuestions = 2000

// prompt is an open or answered question about a call.
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
	took     time.Duration // until the answer or the end of the question
	code     stopgate.Code // of an answer that cannot allow; "" if it can
}

// approval returns the answer for records, nil without an answer.
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

// returnApproval makes the approval of a call usable again that was not released. The
// approval of an edit that the policy refused stays used: the same edit would be refused
// again.
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

// Ask shows the call to the approver and returns at once. It may be
// called from the first ask or edit verdict on, while the arguments still arrive
// (S1); Resolve waits for the answer, and asks if Ask was not called. The prompt is
// withdrawn when ctx ends; a surface that can hold the call for a shorter time than
// [Limits] allows ends ctx with the cause [ErrHold]. If there is no
// approver, or it is not reachable, the call is denied at once. Ask does nothing if the
// verdict is terminal already. The error is ErrNoAsk if the verdict does not ask.
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

// view returns the current state of the question; p.mu is held.
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

// show updates the question if the arguments are complete or there is a new reason to ask;
// p.mu is held.
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

// binding returns the binding of the complete call; p.mu is held.
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
		if !q.answer.Referred { // a referred question was not answered here
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

// judge returns the code of an answer that cannot allow, "" for one that can. An approval
// without a name is invalid, because its row would name no responsible person.
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

// endCode returns the code for a call whose context ended while it waited.
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

// approvals holds the ids of used approvals until they expire (I16).
type approvals struct {
	mu   sync.Mutex
	used map[string]time.Time
}

// use marks an approval as used and reports whether it was not used before.
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
// the monotonic clock, whichever is first: setting the wall clock back does not extend an
// approval (FM13).
func (q *prompt) expired(now time.Time, limit time.Duration) bool {
	return now.Round(0).Sub(q.asked.Round(0)) >= limit || time.Since(q.began) >= limit
}
