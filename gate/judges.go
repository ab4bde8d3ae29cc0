package gate

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
)

// reviewer is a judge with its settings from a policy file or the program.
type reviewer struct {
	judge   Judge // nil: no judge can be made, and its calls fail
	table   *JudgeTable
	onError stopgate.Mode
	limit   time.Duration
}

// judgeGrace is added to the limit of a judge, so that a judge that gave up at its limit can
// still report its attempts.
const judgeGrace = 50 * time.Millisecond

// makeReviewers makes the judges that files configure.
func (g *Gate) makeReviewers(tables []*JudgeTable) ([]*reviewer, error) {
	var all []*reviewer
	for _, t := range tables {
		r := &reviewer{table: t, onError: t.OnError, limit: time.Duration(t.Timeout)*time.Millisecond + judgeGrace}
		if g.judges != nil {
			j, err := g.judges(t)
			if err != nil {
				return nil, err
			}
			r.judge = j
		}
		all = append(all, r)
	}
	return all, nil
}

// judgesOfCall returns the judges of the call: that of the program, and those of the files it
// began with. In observe mode only judges with observe are asked (S31).
func (p *pending) judgesOfCall() []*reviewer {
	var list []*reviewer
	if p.g.judge != nil && !p.under.observe {
		list = append(list, &reviewer{judge: p.g.judge, onError: p.g.onError, limit: p.g.limits.Judge})
	}
	return append(list, p.fileJudges(p.under)...)
}

// fileJudges returns the judges of a policy's files that review the call.
func (p *pending) fileJudges(c *compiled) []*reviewer {
	var list []*reviewer
	for _, r := range c.reviewers {
		name := p.call.Tool
		if p.kind == ToolCall && (!c.observe || r.table.Observe) && (r.table.Governs(name) || r.table.Governs(c.name(name))) {
			list = append(list, r)
		}
	}
	return list
}

// judgeRun is the review of one call by its judges.
type judgeRun struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

// Consult starts the judges of a closed call and returns at once; Resolve waits for them, and
// starts them if Consult was not called. A surface with several calls of one turn calls
// it for each as it closes, so that they are judged at the same time (S29).
// A call that is denied already, or that is not closed, is not judged; an objection
// ends the call where it is, an open prompt included.
func (p *pending) Consult(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.verdict()
	if p.stage != closed || p.terminal || p.final == nil || !v.Decided || p.under.observe {
		return
	}
	if _, unknown := p.rules.Unknown(); !unknown { // policies in Go decide about unknown tools first
		p.startJudges(ctx)
	}
}

// startJudges starts the judges of the call unless they were started; p.mu is held.
func (p *pending) startJudges(ctx context.Context) *judgeRun {
	if p.judgeRun != nil || p.terminal {
		return p.judgeRun
	}
	judges := p.judgesOfCall()
	if len(judges) == 0 {
		return nil
	}
	prop := p.propose()
	if prop == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.judgeRun = &judgeRun{cancel, make(chan struct{})}
	// The goroutine belongs to the call: Resolve and Cancel wait for its end.
	go p.runJudges(ctx, p.judgeRun, *prop, judges)
	return p.judgeRun
}

// waitForJudges starts the judges of the call if necessary and waits for them.
func (p *pending) waitForJudges(ctx context.Context) {
	p.mu.Lock()
	h := p.startJudges(ctx)
	p.mu.Unlock()
	if h == nil {
		return
	}
	select {
	case <-h.ended:
	case <-ctx.Done():
		h.cancel(context.Cause(ctx))
		<-h.ended
	}
}

// askCurrentJudges asks the judges of a policy that came into force while the call
// was open, unless they have answered as they would now (S16).
func (p *pending) askCurrentJudges(ctx context.Context) {
	now := p.g.current.Load()
	if now.hash == p.under.hash || now.observe || p.isTerminal() {
		return
	}
	before := p.fileJudges(p.under)
	judges := slices.DeleteFunc(p.fileJudges(now), func(r *reviewer) bool {
		return slices.ContainsFunc(before, func(b *reviewer) bool { return b.table.Meaning == r.table.Meaning })
	})
	prop := p.proposal()
	if len(judges) == 0 || prop == nil {
		return
	}
	p.askAll(ctx, *prop, judges)
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.verdict(); !p.terminal && v.Layer == stopgate.LayerJudge && !v.Mode.Permissive() {
		// An ask that was not shown to an approver.
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	}
}

// runJudges asks the judges and ends the run.
func (p *pending) runJudges(ctx context.Context, h *judgeRun, prop Proposal, judges []*reviewer) {
	defer close(h.ended)
	defer h.cancel(nil)
	p.askAll(ctx, prop, judges)
}

// askAll asks all judges at once and applies their results in order. Opinions can only
// tighten (X4, FM1).
func (p *pending) askAll(ctx context.Context, prop Proposal, judges []*reviewer) {
	results := make([]judgeResult, len(judges))
	var group sync.WaitGroup
	for i, r := range judges[1:] {
		group.Go(func() { results[i+1] = p.askJudge(ctx, prop, r) })
	}
	results[0] = p.askJudge(ctx, prop, judges[0])
	group.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range results {
		p.applyJudgeResult(f)
	}
}

// judgeResult is the result of asking one judge.
type judgeResult struct {
	opinion Opinion
	code    stopgate.Code // judge_denied, or why there is no opinion
	fault   fault
	stack   string
	end     error // the call ended first
}

// askJudge asks one judge.
func (p *pending) askJudge(ctx context.Context, prop Proposal, r *reviewer) judgeResult {
	began := time.Now()
	reply := reply[Opinion]{fault: failed}
	if r.judge != nil {
		reply = invoke(ctx, &p.g.ports.judge, r.limit, func(ctx context.Context) (Opinion, error) {
			return r.judge.Judge(ctx, prop)
		})
	}
	p.g.reportTrouble("judge", p.id, reply.fault, reply.err)
	f := judgeResult{opinion: reply.value, code: stopgate.CodeJudgeDenied, fault: reply.fault, stack: reply.stack}
	o := &f.opinion
	switch {
	case reply.fault == gone && !errors.Is(reply.err, ErrHold):
		f.end = reply.err
		return f
	case reply.fault != none, !o.valid():
		f.code = stopgate.CodeJudgeUnavailable
		review := o.Review
		var judgeErr *JudgeError
		if errors.As(reply.err, &judgeErr) {
			review = judgeErr.Review
		}
		if review.Fault == "" {
			review.Fault = "invalid answer"
			if reply.fault != none {
				review.Fault = reply.fault.String()
			}
		}
		review.Probability = nil
		*o = Opinion{Mode: r.onError, Review: review}
	default:
		probability := o.Probability
		o.Review.Probability = &probability
	}
	o.Review.Mode = o.Mode
	if o.Review.Millis == 0 {
		o.Review.Millis = time.Since(began).Milliseconds()
	}
	return f
}

// applyJudgeResult applies the result of a judge; p.mu is held.
func (p *pending) applyJudgeResult(f judgeResult) {
	if p.stage >= committed {
		return
	}
	if f.end != nil {
		p.addFailure(goneCode(f.end), "judge", f.fault, "")
		return
	}
	o := f.opinion
	if !p.terminal && (p.judged == nil || stopgate.Strictest(p.judged.Mode, o.Mode) != p.judged.Mode) {
		p.judged = &o.Review
	}
	if f.code == stopgate.CodeJudgeUnavailable {
		p.setCause("judge", f.fault, f.stack)
	} else if o.Mode.Permissive() {
		return
	}
	if o.Public == "" {
		o.Public = f.code.Public()
	}
	v := p.refusal(stopgate.LayerJudge, f.code)
	v.Mode, v.Public = o.Mode, o.Public
	p.addVerdict(v)
}

func (o Opinion) valid() bool {
	switch o.Mode {
	case stopgate.Unattended, stopgate.Ask, stopgate.Deny:
	default:
		return false
	}
	return !math.IsNaN(o.Probability) && o.Probability >= 0 && o.Probability <= 1
}
