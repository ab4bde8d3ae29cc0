package gate

import (
	"context"

	"github.com/stopgate/stopgate"
)

// questions is the layer that opens the questions to the people and judges whom the call needs,
// without waiting for the answers: those about all calls of a turn are open at the same time.
func questions(ctx context.Context, p *pending) {
	if p.under.observe {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.approval.openIfAsked(ctx)
	p.judges.start(ctx)
}

// endQuestions withdraws the open question and waits for the approver and the judges.
func endQuestions(p *pending) {
	p.abort(nil)
	p.mu.Lock()
	q, run := p.approval.prompt, p.judges.run
	p.mu.Unlock()
	if q != nil {
		q.cancel(withdrawn{stopgate.CodeCancelled})
		<-q.ended
	}
	if run != nil {
		run.cancel(withdrawn{stopgate.CodeCancelled})
		<-run.ended
	}
}
