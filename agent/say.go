package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/conversation"
	"github.com/stopgate/stopgate/agent/provider"
	"github.com/stopgate/stopgate/wire"
)

// ErrSteps says that one message led to more answers than it may.
var ErrSteps = errors.New("agent: the model did not come to an end")

// errInterrupted is the cause that [Interrupted] gives.
var errInterrupted = errors.New("interrupted")

// Interrupted is the cause with which a person ends what is under way: the call that
// runs is ended, and the agent waits for the next message.
func Interrupted() error { return errInterrupted }

// Say takes a message of the person and works until the model has nothing more to call
// or the person has to speak. With an empty text it goes on where the conversation
// stands. The end of ctx ends it; the conversation stays whole.
func (a *Agent) Say(ctx context.Context, text string) (sum Summary, err error) {
	ctx, end := a.observedMessage(ctx)
	defer func() { end(err) }()
	if text != "" {
		if err := a.append(ctx, conversation.Entry{Kind: conversation.User, Text: text}); err != nil {
			return sum, err
		}
		if err := a.Gate.Spoke(ctx, a.Owner); err != nil {
			return sum, err
		}
	}
	for range a.MaxSteps {
		more, err := a.step(ctx, &sum)
		if err != nil || !more {
			return sum, err
		}
	}
	return sum, ErrSteps
}

// step asks for one answer and does what it calls for. It reports whether the model has
// to speak again.
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

// retries are the waits before a request is repeated.
var retries = []time.Duration{time.Second, 4 * time.Second, 15 * time.Second}

// maxWait bounds what a provider may ask us to wait.
const maxWait = time.Minute

// ask sends a request, again where the provider says that it can be repeated.
func (a *Agent) ask(ctx context.Context, request provider.Request, sink provider.Sink, seen *observation) (*provider.Stream, error) {
	for try := 0; ; try++ {
		s, err := a.Endpoint.Ask(ctx, request, sink)
		if err != nil {
			seen.end(nil, false, err)
		}
		after, again := provider.Again(err)
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

// settle brings the calls of an answer to their end, one after the other in the model's
// order. It reports whether the person has to speak next.
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

// resolve waits for the outcome. In deny mode throw the denial comes as an error too.
func (a *Agent) resolve(ctx context.Context, c *call) (stopgate.Outcome, error) {
	if ctx.Err() != nil {
		// Nothing new begins: a call that nobody waits for is given up.
		c.pending.Refuse(stopgate.CodeCancelled)
	}
	c.pending.Close(stopgate.Failed) // of one that was not closed
	out, err := c.pending.Resolve(ctx)
	if err != nil && out.Verdict.Decided {
		err = nil
	}
	return out, err
}

// ends reports whether a refusal is for the person to speak about: he declined and did
// not say why (DECISIONS S7), a limit of refusals is reached (S28), or he interrupted.
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

// refuse tells the model that a call did not run.
func (a *Agent) refuse(ctx context.Context, c *call, out stopgate.Outcome) error {
	if out.Verdict.Code == stopgate.CodeClientGone {
		out.Verdict.Public = "The turn was interrupted before this call was decided." // the client is the person here
	}
	text := wire.DenialText(c.tool, c.declared, out.Verdict.Public, out.Verdict.Code)
	err := a.append(ctx, conversation.Entry{
		Kind: conversation.Result, Call: c.part, Text: text, Failed: out.Status != stopgate.Skipped,
	})
	c.change(a.Watch, func(s *Call) {
		s.Parameters, s.State, s.Verdict, s.Approval, s.Result = c.args.Parameters(), Refused, out.Verdict, out.Approval, text
	})
	return err
}

// run runs a call that the gate released, and gives the model what may reach it.
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
	result := a.Tools.Run(a.Gate.Context(within, a.Owner), Task{Tool: c.tool, Args: string(out.Args), Progress: func(text string) {
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

// observe shows the result to the gate, which says what of it reaches the model.
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

// outlast is a context that ends a little later than another one: what ran is written
// down, but nobody is asked about a result when the person has interrupted.
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

// lastWrites is how long the store has for what happened before an interruption.
const lastWrites = 2 * time.Second
