package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	codec "github.com/stopgate/stopgate/internal/provider"
)

// ErrSteps is returned if a prompt leads to more than MaxSteps responses.
var ErrSteps = errors.New("agent: the limit of model responses for one prompt is reached")

// errInterrupted is the cause that [Interrupted] returns.
var errInterrupted = errors.New("interrupted")

// Interrupted is the cause with which a person cancels the current operation: the running
// call is ended, and the agent waits for the next prompt.
func Interrupted() error { return errInterrupted }

// Process processes a prompt until the model makes no more calls or the person is next. With an
// empty text it continues the conversation. If ctx ends, it stops; the history stays valid.
func (a *Agent) Process(ctx context.Context, text string) (sum Summary, err error) {
	ctx, end := a.observedMessage(ctx)
	defer func() { end(err) }()
	if text != "" {
		if err := a.append(ctx, conversation.Entry{Kind: conversation.User, Text: text}); err != nil {
			return sum, err
		}
		if err := a.Gate.Spoke(ctx, a.Owner); err != nil {
			return sum, err
		}
		a.reportPrompt(ctx, text)
	}
	for range a.MaxSteps {
		more, err := a.step(ctx, &sum)
		if err != nil || !more {
			return sum, err
		}
	}
	return sum, ErrSteps
}

// step requests one response and runs its calls. It reports whether the model is next.
func (a *Agent) step(ctx context.Context, sum *Summary) (more bool, err error) {
	id := stopgate.TurnID(fmt.Sprintf("%s-%d", a.Owner.Session, len(a.entries)))
	r := &answer{a: a, ctx: ctx, turn: a.Gate.Turn(a.Owner, id), tools: a.Tools.Definitions(ctx), done: make(chan struct{})}
	defer r.cancel()
	request := provider.Request{System: a.System, Messages: conversation.Messages(a.entries)}
	for _, t := range r.tools {
		if t.Refused == "" {
			request.Tools = append(request.Tools, t.ToolDefinition)
		}
	}
	reply, err := r.run(request)
	sum.Answers++
	sum.TokensIn += reply.Usage.In
	sum.TokensOut += reply.Usage.Out
	if reply.Stopped {
		sum.Stopped++
	}
	if len(reply.Parts) > 0 {
		if failed := a.append(ctx, r.entry(reply, err != nil)); failed != nil {
			return false, failed
		}
	}
	if reply.Limited {
		a.Watch.Notice("the model reached its limit of tokens and stopped in the middle")
	}
	waits, failed := a.settle(ctx, r, sum)
	if failed != nil {
		return false, failed
	}
	sum.Waits = sum.Waits || waits
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err == nil && len(r.calls) > 0 && !waits, err
}

// retries are the delays before a request is repeated.
var retries = []time.Duration{time.Second, 4 * time.Second, 15 * time.Second}

// maxWait limits the delay that a provider can request.
const maxWait = time.Minute

// ask sends a request and repeats it if the provider allows it.
func (a *Agent) ask(ctx context.Context, request provider.Request, sink provider.Sink, seen *observation) (*provider.Stream, error) {
	for try := 0; ; try++ {
		s, err := a.Endpoint.Ask(ctx, request, sink)
		if err != nil {
			seen.end(nil, false, err)
		}
		after, again := provider.RetryAfter(err)
		if !again || try == len(retries) {
			return s, err
		}
		after = min(max(after, retries[try]), maxWait)
		a.Watch.Notice(fmt.Sprintf("%v; trying again in %s", err, after))
		if err := a.Wait(ctx, after); err != nil {
			return nil, err
		}
	}
}

// settle resolves the calls of a response in the model's order. It reports whether the
// person is next.
func (a *Agent) settle(ctx context.Context, r *answer, sum *Summary) (waits bool, err error) {
	for _, c := range r.calls {
		if c == nil {
			continue
		}
		sum.Calls++
		out, err := a.resolve(ctx, c)
		if err != nil {
			return false, err
		}
		c.mu.Lock()
		sum.Wasted += c.state.Wasted
		c.mu.Unlock()
		if !out.Allowed() {
			sum.Refused++
			if err := a.refuse(ctx, c, out); err != nil {
				return false, err
			}
			waits = waits || a.ends(ctx, out)
			continue
		}
		sum.Ran++
		if err := a.run(ctx, c, out); err != nil {
			return false, err
		}
		waits = waits || ctx.Err() != nil
	}
	return waits, nil
}

// resolve waits for the outcome. In deny mode throw, a denial is also returned as an error.
func (a *Agent) resolve(ctx context.Context, c *call) (stopgate.Outcome, error) {
	if ctx.Err() != nil {
		// After a cancellation no further call is resolved.
		c.pending.Refuse(stopgate.CodeCancelled)
	}
	c.pending.Close(stopgate.Failed) // if it was not closed before
	out, err := c.pending.Resolve(ctx)
	if err != nil && out.Verdict.Decided {
		err = nil
	}
	return out, err
}

// ends reports whether a refusal ends the turn: the person declined without a reason (S7),
// a limit of denials is reached (S28), or the person interrupted.
func (a *Agent) ends(ctx context.Context, out stopgate.Outcome) bool {
	v := out.Verdict
	switch v.Code {
	case stopgate.CodeApprovalDeclined:
		return v.Public == "" || v.Public == v.Code.Public()
	case stopgate.CodeDenialLimit, stopgate.CodeCancelled, stopgate.CodeApprovalTimeout:
		return true
	}
	return ctx.Err() != nil
}

// refuse reports to the model that a call did not run.
func (a *Agent) refuse(ctx context.Context, c *call, out stopgate.Outcome) error {
	if out.Verdict.Code == stopgate.CodeClientGone {
		out.Verdict.Public = "The turn was interrupted before this call was decided." // the client is the person here
	}
	text := codec.DenialText(c.tool, c.declared, out.Verdict.Public, out.Verdict.Code)
	err := a.append(ctx, conversation.Entry{
		Kind: conversation.Result, Call: c.part, Text: text, Failed: out.Status != stopgate.Skipped,
	})
	c.change(a.Watch, func(s *Call) {
		s.Parameters, s.State, s.Verdict, s.Approval, s.Result = c.args.Parameters(), Refused, out.Verdict, out.Approval, text
	})
	return err
}

// run runs a released call and returns the result to the model.
func (a *Agent) run(ctx context.Context, c *call, out stopgate.Outcome) error {
	c.mu.Lock()
	proposed := c.args.Object()
	c.mu.Unlock()
	started := conversation.Entry{Kind: conversation.Started, Call: c.part}
	if string(out.Args) != proposed {
		started.Args = string(out.Args)
	}
	if err := a.append(ctx, started); err != nil {
		return err
	}
	edited := out.Approval != nil && out.Approval.Edited
	preview := a.Tools.Preview(c.tool, string(out.Args))
	c.change(a.Watch, func(s *Call) {
		s.State, s.Parameters, s.Verdict, s.Approval, s.Edited = Running, Parameters(string(out.Args)), out.Verdict, out.Approval, edited
		s.Preview = preview
	})
	began := a.Now()
	within, end := a.observedTool(ctx, c, string(out.Args))
	result := a.Tools.Run(a.Gate.Context(within, a.Owner), Task{Tool: c.tool, Args: string(out.Args), Access: out.Access, Progress: func(text string) {
		c.change(a.Watch, func(s *Call) { s.Progress = text })
	}})
	ended := a.Now()
	text, withheld, err := a.observe(ctx, c, out, result)
	end(ended, text, result.Failed)
	if err != nil {
		return err
	}
	if edited {
		text = "[stopgate] A person changed the arguments of this call before it ran; they are as the history shows them now.\n" + text
	}
	err = a.append(ctx, conversation.Entry{Kind: conversation.Result, Call: c.part, Text: text, Failed: result.Failed})
	c.change(a.Watch, func(s *Call) {
		s.State, s.Result, s.Withheld, s.Took = Done, text, withheld, ended.Sub(began)
		if result.Failed {
			s.State = Failed
		}
	})
	return err
}

// observe passes the result to the gate and returns the text that the model may receive.
func (a *Agent) observe(ctx context.Context, c *call, out stopgate.Outcome, r Result) (text string, withheld bool, err error) {
	ctx, cancel := outlast(ctx)
	defer cancel()
	d, err := a.Gate.Observe(ctx, stopgate.Result{
		Proposal: out.Proposal, Session: a.Owner.Session, Principal: a.Owner.Principal, Tool: c.tool,
		Data: []byte(r.Text), Raw: r.Raw, Failed: r.Failed, Observed: true, Flagged: true, Absent: r.Absent,
	})
	if err != nil {
		return "", false, fmt.Errorf("the call ran, but its result cannot be recorded: %w", err)
	}
	return string(d.Data), !d.Delivered(), nil
}

// outlast returns a context that ends shortly after ctx, so that completed work is
// recorded. No approvals are requested after an interruption.
func outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	timer := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(lastWrites):
			cancel(context.Cause(ctx))
		case <-timer:
		}
	})
	return longer, func() {
		if !stop() {
			close(timer)
		}
		cancel(nil)
	}
}

// lastWrites is the time to record work that completed before an interruption.
const lastWrites = 2 * time.Second
