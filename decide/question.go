package decide

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
)

// questionWait is how long a request without Prefer: wait waits for the id of the question.
const questionWait = 2 * time.Second

// questionPoll is how often a question is looked for that is being asked.
const questionPoll = 5 * time.Millisecond

// asking returns the context of questions about a call, which outlive the request.
func (s *callRoutes) asking(p *submission) context.Context {
	if p.program {
		return approve.WithProgram(s.life)
	}
	return s.life
}

// waitFor waits for the decision of a submission. If wait is zero, it waits only until the question
// has an id. The program that answers the question does not wait for itself: with ask, the decision has
// the question as soon as it is complete.
func (s *callRoutes) waitFor(ctx context.Context, p *submission, wait time.Duration, ask bool) (a decisionJSON, done bool) {
	limit := time.NewTimer(max(wait, questionWait))
	defer limit.Stop()
	poll := time.NewTicker(questionPoll)
	defer poll.Stop()
	for {
		if a = p.now(); (wait == 0 || ask) && a.Status == pending {
			a.Approval = s.questionOf(ctx, a.ID, ask)
			if a.Approval != nil && (wait == 0 && !ask || a.Approval.complete()) {
				return a, false
			}
		}
		select {
		case <-p.decided:
			return p.now(), true
		case <-poll.C:
			if wait > 0 && !ask {
				poll.Stop()
			}
		case <-limit.C:
			a.Approval = s.questionOf(ctx, a.ID, ask)
			return a, false
		case <-ctx.Done():
			return a, false
		}
	}
}

// questionOf returns the question that waits for a call; all of it for the program that may answer.
func (s *callRoutes) questionOf(ctx context.Context, id stopgate.ProposalID, program bool) *approvalJSON {
	if s.queue == nil {
		return nil
	}
	list, err := s.queue.List(ctx, approve.Filter{State: approve.Waiting, Proposal: id, Limit: 1})
	if err != nil || len(list) == 0 || list[0].Unattended() { // the call has ended, or ends now
		return nil
	}
	if program && list[0].Requirement.ByProgram() {
		e := entryOf(list[0])
		return &approvalJSON{ID: e.ID, question: &e}
	}
	return &approvalJSON{ID: list[0].ID}
}

// questions returns the question about a streamed call of a program as soon as there is one. The
// channel is closed when ctx ends.
func (s *callRoutes) questions(ctx context.Context, id stopgate.ProposalID) <-chan *approvalJSON {
	found := make(chan *approvalJSON)
	go func() {
		defer close(found)
		poll := time.NewTicker(questionPoll)
		defer poll.Stop()
		for {
			if q := s.questionOf(ctx, id, true); q != nil && q.question != nil {
				select {
				case found <- q:
				case <-ctx.Done():
				}
				return
			}
			select {
			case <-poll.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return found
}
