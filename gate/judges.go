package gate

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
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
func (c *config) makeReviewers(tables []*JudgeTable) ([]*reviewer, error) {
	var all []*reviewer
	for _, t := range tables {
		r := &reviewer{table: t, onError: t.OnError, limit: time.Duration(t.Timeout)*time.Millisecond + judgeGrace}
		if c.judges != nil {
			j, err := c.judges(t)
			if err != nil {
				return nil, err
			}
			r.judge = j
		}
		all = append(all, r)
	}
	return all, nil
}

// ofCall returns the judges of the call: that of the program, and those of the files it
// began with. In observe mode only judges with observe are asked (S31).
func (l *judgeLayer) ofCall() []*reviewer {
	p := l.p
	var list []*reviewer
	if p.g.judge != nil && !p.under.observe {
		list = append(list, &reviewer{judge: p.g.judge, onError: p.g.onError, limit: p.g.limits.Judge})
	}
	return append(list, l.ofFiles(p.under)...)
}

// ofFiles returns the judges of a policy's files that review the call.
func (l *judgeLayer) ofFiles(c *compiled) []*reviewer {
	var list []*reviewer
	for _, r := range c.reviewers {
		name := l.p.call.Tool
		if l.p.kind == ToolCall && (!c.observe || r.table.Observe) && (r.table.Governs(name) || r.table.Governs(c.name(name))) {
			list = append(list, r)
		}
	}
	return list
}

// judgeLayer is the review of a call by its judges.
type judgeLayer struct {
	p *pending

	// Guarded by the mu of the call.
	run    *judgeRun        // nil before they were asked
	review *stopgate.Review // the strictest of their answers
}

// judgeRun is the goroutine that asks the judges of a call.
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
	v := *p.verdicts.latest()
	if p.stage != closed || p.verdicts.terminal || p.args.final == nil || !v.Decided || p.under.observe {
		return
	}
	if _, unknown := p.bound.rules.Unknown(); !unknown { // policies in Go decide about unknown tools first
		p.judges.start(ctx)
	}
}

// start starts the judges of the call unless they were started; p.mu is held.
func (l *judgeLayer) start(ctx context.Context) {
	if l.run != nil || l.p.verdicts.terminal {
		return
	}
	list := l.ofCall()
	if len(list) == 0 {
		return
	}
	prop := l.p.propose()
	if prop == nil {
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	run := &judgeRun{cancel, make(chan struct{})}
	l.run = run
	// The goroutine belongs to the call: Resolve and Cancel wait for its end.
	go func() {
		defer close(run.ended)
		defer cancel(nil)
		l.askAll(ctx, *prop, list)
	}()
}

// judges is the layer of the judges: it waits for them, and opens the question if an objection
// asks.
func judges(ctx context.Context, p *pending) {
	p.mu.Lock()
	p.judges.start(ctx)
	run := p.judges.run
	p.mu.Unlock()
	if run != nil {
		select {
		case <-run.ended:
		case <-ctx.Done():
			run.cancel(context.Cause(ctx))
			<-run.ended
		}
	}
	if p.under.observe {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approval.openIfAsked(ctx)
}

// askCurrent asks the judges of a policy that came into force while the call was open, unless
// they have answered as they would now (S16).
func (l *judgeLayer) askCurrent(ctx context.Context) {
	p := l.p
	now := p.g.current.Load().of(p.call.Session)
	if now.hash == p.under.hash || now.observe || p.isTerminal() {
		return
	}
	before := l.ofFiles(p.under)
	list := slices.DeleteFunc(l.ofFiles(now), func(r *reviewer) bool {
		return slices.ContainsFunc(before, func(b *reviewer) bool { return b.table.Meaning == r.table.Meaning })
	})
	if len(list) == 0 {
		return
	}
	p.mu.Lock()
	prop := p.propose()
	p.mu.Unlock()
	if prop == nil {
		return
	}
	l.askAll(ctx, *prop, list)
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.verdicts.latest(); !p.verdicts.terminal && v.Layer == stopgate.LayerJudge && !v.Mode.Permissive() {
		// An ask that was not shown to an approver.
		p.addVerdict(p.refusal(stopgate.LayerApproval, stopgate.CodeApprovalStale))
	}
}

// askAll asks all judges at once and applies their results in order. Opinions can only
// tighten (X4, FM1).
func (l *judgeLayer) askAll(ctx context.Context, prop Proposal, list []*reviewer) {
	results := make([]judgeResult, len(list))
	var group sync.WaitGroup
	for i, r := range list[1:] {
		group.Go(func() { results[i+1] = l.askOne(ctx, prop, r) })
	}
	results[0] = l.askOne(ctx, prop, list[0])
	group.Wait()
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	for _, f := range results {
		l.apply(f)
	}
}

// judgeResult is the result of asking one judge.
type judgeResult struct {
	opinion Opinion
	code    stopgate.Code // judge_denied, or why there is no opinion
	fault   port.Fault
	stack   string
	end     error // the call ended first
}

// askOne asks one judge.
func (l *judgeLayer) askOne(ctx context.Context, prop Proposal, r *reviewer) judgeResult {
	p := l.p
	began := time.Now()
	reply := port.Reply[Opinion]{Fault: port.Failed}
	if r.judge != nil {
		reply = port.Invoke(ctx, &p.g.guards.judge, r.limit, func(ctx context.Context) (Opinion, error) {
			return r.judge.Judge(ctx, prop)
		})
	}
	p.g.reportTrouble("judge", p.id, reply.Fault, reply.Err)
	f := judgeResult{opinion: reply.Value, code: stopgate.CodeJudgeDenied, fault: reply.Fault, stack: reply.Stack}
	o := &f.opinion
	switch {
	case reply.Fault == port.CallerDone && !errors.Is(reply.Err, ErrHold):
		f.end = reply.Err
		return f
	case reply.Fault != port.None, !o.valid():
		f.code = stopgate.CodeJudgeUnavailable
		review := o.Review
		var judgeErr *JudgeError
		if errors.As(reply.Err, &judgeErr) {
			review = judgeErr.Review
		}
		if review.Fault == "" {
			review.Fault = "invalid answer"
			if reply.Fault != port.None {
				review.Fault = reply.Fault.String()
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

// apply applies the result of a judge; p.mu is held.
func (l *judgeLayer) apply(f judgeResult) {
	p := l.p
	if p.stage >= committed {
		return
	}
	if f.end != nil {
		p.addFailure(goneCode(f.end), "judge", f.fault, "")
		return
	}
	o := f.opinion
	if !p.verdicts.terminal && (l.review == nil || stopgate.Strictest(l.review.Mode, o.Mode) != l.review.Mode) {
		l.review = &o.Review
	}
	if f.code == stopgate.CodeJudgeUnavailable {
		p.verdicts.blame("judge", f.fault, f.stack)
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
