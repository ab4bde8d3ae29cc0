package gate

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
)

// ErrHold is the cause of an approver's context that ended because there was no answer in
// time (S5). With every other cause the call itself has ended. An approver may return it to
// end a question earlier.
var ErrHold = errors.New("gate: no answer to the question in time")

// MaxQuestions is how many questions may be open at a gate at once. A call that would
// have to be asked about beyond it is denied overloaded (FM14).
const MaxQuestions = 2000

// prompt is an open or answered question about a call.
type prompt struct {
	p        *pending
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

// Ask shows the call to the approver and returns at once. It may be called from the first
// ask or edit verdict on, while the arguments still arrive (S1); Resolve waits for the
// answer, and asks if Ask was not called. The prompt is withdrawn when ctx ends; a surface
// that can hold the call for a shorter time than [Limits] allows ends ctx with the cause
// [ErrHold]. Without a reachable approver the call is denied at once. Ask has no effect on a
// terminal verdict, and returns ErrNoAsk if the verdict does not ask.
func (p *pending) Ask(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch v := *p.verdicts.latest(); {
	case p.stage >= resolving:
		return ErrResolved
	case p.verdicts.terminal, p.approval.prompt != nil, p.under.observe:
		return nil
	case !v.Decided || v.Mode.Permissive():
		return ErrNoAsk
	}
	p.approval.open(ctx)
	return nil
}

// open opens a prompt; p.mu is held.
func (l *approvalLayer) open(ctx context.Context) {
	p := l.p
	if p.g.approver == nil {
		// Certain at the byte that asked, in every chunking.
		v := p.refusal(stopgate.LayerApproval, stopgate.CodeNoApprover)
		v.DecidedAt = p.verdicts.latest().DecidedAt
		p.addVerdict(v)
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	q := &prompt{
		p: p, cancel: cancel, asked: p.g.now(), began: time.Now(), verdict: *p.verdicts.latest(), early: p.stage == feeding,
		ended: make(chan struct{}),
	}
	q.until = q.asked.Add(p.g.limits.Hold)
	if sooner, ok := ctx.Deadline(); ok && time.Until(sooner) < p.g.limits.Hold {
		q.until = q.asked.Add(time.Until(sooner))
	}
	if p.g.lock.open() >= MaxQuestions {
		cancel(nil)
		v := p.refusal(stopgate.LayerApproval, stopgate.CodeOverloaded)
		v.DecidedAt = p.verdicts.latest().DecidedAt
		p.addVerdict(v)
		return
	}
	if !p.g.lock.add(p) {
		cancel(nil)
		p.applyLockdown()
		return
	}
	q.question = newQuestion(q.view())
	l.prompt = q
	// The goroutine belongs to the call: Resolve and Cancel withdraw the prompt and
	// wait for its end.
	go q.ask(ctx)
}

// view returns the current state of the question; p.mu is held.
func (q *prompt) view() View {
	p := q.p
	v := View{
		Proposal: p.id, Parent: p.parent, Call: p.call, To: p.handoff.to, Verdict: *p.verdicts.latest(),
		Received: p.args.received, Until: q.until, Expires: q.asked.Add(p.g.limits.Approval),
	}
	if p.bound.rules != nil {
		v.KnownServer = p.bound.rules.KnownServer()
	}
	v.Origins = p.origins()
	if p.args.final != nil {
		v.Args, v.Complete, v.Binding, v.Missing = string(p.args.final), true, p.approval.binding(), p.sessions.missing()
		if e := p.verdicts.eval; e != nil {
			v.Leaves, v.Asking = e.Leaves(), e.Asking()
		}
	}
	return v
}

// show updates the question if the arguments are complete or there is a new reason to ask;
// p.mu is held.
func (l *approvalLayer) show() {
	p := l.p
	q := l.prompt
	if q == nil || p.verdicts.terminal {
		return
	}
	v, shown := *p.verdicts.latest(), q.question.shown()
	changed := v.Mode != shown.Verdict.Mode || len(v.Floors) != len(shown.Verdict.Floors)
	if changed || p.args.final != nil && (!shown.Complete || shown.Binding.Objections != p.sessions.objectionsHash()) {
		q.question.update(q.view())
	}
}

// binding returns the binding of the complete call; p.mu is held.
func (l *approvalLayer) binding() Binding {
	p := l.p
	tool := p.call.Tool
	if p.kind == Handoff {
		tool = "handoff to " + stopgate.ToolName(p.handoff.to)
	}
	return Binding{
		Args: p.args.hash, Tool: tool, Definition: p.bound.definition,
		Policy: p.under.hash, Session: p.call.Session, Principal: p.call.Principal, Agent: p.call.Agent, Server: p.call.Server, Objections: p.sessions.objectionsHash(),
	}
}

// ask asks the approver and waits. An answer that cannot become an allow acts
// at once, wherever the arguments are.
func (q *prompt) ask(ctx context.Context) {
	p := q.p
	defer close(q.ended)
	defer q.cancel(nil)
	defer p.g.lock.remove(p)
	g := p.g
	call := p.proposed()
	able := port.Invoke(ctx, &g.guards.approver, g.limits.Abilities, func(ctx context.Context) (Abilities, error) {
		return g.approver.Abilities(ctx, &call), nil
	})
	q.able = able.Value
	g.reportTrouble("approver", p.id, able.Fault, able.Err)
	switch {
	case able.Fault == port.CallerDone:
		q.code = endCode(able.Err)
	case able.Fault != port.None, !q.able.Reachable && !q.able.Keeps, q.verdict.Mode == stopgate.Edit && !q.able.CanEdit:
		q.code = stopgate.CodeNoApprover
	default:
		q.note(ctx, stopgate.AuditAsked, "", nil)
		hold, cancel := context.WithTimeoutCause(ctx, g.limits.Hold, ErrHold)
		defer cancel()
		r := port.Invoke(hold, &g.guards.approver, 0, func(ctx context.Context) (Answer, error) {
			return g.approver.Approve(ctx, q.question)
		})
		q.answer, q.took = r.Value, time.Since(q.began)
		q.code = q.codeOf(r)
		g.reportTrouble("approver", p.id, r.Fault, r.Err)
		if r.Fault == port.None && q.code == stopgate.CodeInvalidPolicyResult {
			g.reportTrouble("approver", p.id, port.Failed, errNoAnswer)
		}
		if !q.answer.Referred { // a referred question was not answered here
			q.note(ctx, stopgate.AuditAnswered, q.code, &stopgate.Approval{
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

// codeOf returns the code of an answer that cannot allow, "" for one that can. An approval
// without a name is invalid, because its row would name no responsible person.
func (q *prompt) codeOf(r port.Reply[Answer]) stopgate.Code {
	switch r.Fault {
	case port.None:
	case port.CallerDone:
		if code := endCode(r.Err); code != stopgate.CodeApprovalTimeout || !q.able.Keeps {
			return code
		}
		return stopgate.CodeApprovalPending
	default:
		if errors.Is(r.Err, ErrHold) {
			return stopgate.CodeApprovalTimeout
		}
		return stopgate.CodeNoApprover
	}
	switch r.Value.Kind {
	case Approved:
		if r.Value.By != "" {
			return ""
		}
	case Edited:
		if r.Value.By != "" && q.able.CanEdit {
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

// note writes an event row about the question. The row of an immediate answer is held back and
// written with the decision row, see [commitment.rows].
func (q *prompt) note(ctx context.Context, event stopgate.AuditEvent, code stopgate.Code, a *stopgate.Approval) {
	p := q.p
	p.mu.Lock()
	r := p.identity()
	r.Event, r.Code, r.Approval = event, code, a
	if q.able.Immediate {
		p.g.audit.Complete(&r)
		p.heldRows = append(p.heldRows, r)
		p.mu.Unlock()
		return
	}
	before := p.heldRows // of an earlier question
	p.heldRows = nil
	p.mu.Unlock()
	for i := range before {
		p.g.audit.Put(ctx, before[i])
	}
	p.g.audit.Note(ctx, r)
}

// expired reports whether the time for an answer is over, by the wall clock or by
// the monotonic clock, whichever is first: setting the wall clock back does not extend an
// approval (FM13).
func (q *prompt) expired(now time.Time, limit time.Duration) bool {
	return now.Round(0).Sub(q.asked.Round(0)) >= limit || time.Since(q.began) >= limit
}
