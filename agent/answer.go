package agent

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/conversation"
	"github.com/stopgate/stopgate/agent/provider"
	"github.com/stopgate/stopgate/gate"
)

// answer is one answer of the model: it is the sink of its stream, opens a proposal for
// every call, and has questions asked from the byte on that asked.
type answer struct {
	a    *Agent
	ctx  context.Context
	turn *gate.Turn
	// tools are those of the request: the model was told of these.
	tools []Tool
	// stream is set once there is one; verdicts from elsewhere stop it.
	stream atomic.Pointer[provider.Stream]
	calls  []*call
	err    error // the gate did not open a proposal
	// asks waits for the goroutines that wait for answers of people.
	asks sync.WaitGroup
	done chan struct{} // closed when the answer is over
}

var _ provider.Sink = (*answer)(nil)

// Text implements [provider.Sink].
func (r *answer) Text(piece string) { r.a.Watch.Text(piece) }

// Thinking implements [provider.Sink].
func (r *answer) Thinking(piece string) { r.a.Watch.Thinking(piece) }

// Call implements [provider.Sink].
func (r *answer) Call(e *stopgate.Event) {
	switch e.Kind {
	case stopgate.TurnEnded:
		return
	case stopgate.CallStarted:
		r.start(e)
		return
	}
	if e.Call < 0 || e.Call >= len(r.calls) || r.calls[e.Call] == nil {
		return
	}
	c := r.calls[e.Call]
	switch e.Kind {
	case stopgate.CallArguments:
		c.mu.Lock()
		c.args.Feed(e.Args)
		if c.over {
			c.state.Wasted += int64(len(e.Args))
		}
		c.mu.Unlock()
		r.note(c, c.pending.Feed(e.Args))
		if !c.refused() {
			c.change(r.a.Watch, nil)
		}
	case stopgate.CallEnded:
		if e.ID != "" {
			c.id = e.ID
			c.pending.Identify(e.ID)
		}
		v := c.pending.Close(e.End)
		c.change(r.a.Watch, func(s *Call) {
			if s.State == Arriving && e.End == stopgate.Ended {
				s.State = Complete
			}
		})
		r.note(c, v)
	case stopgate.CallRefused:
		r.note(c, c.pending.Refuse(e.Code))
		c.pending.Close(stopgate.Failed)
	}
}

// start opens a proposal.
func (r *answer) start(e *stopgate.Event) {
	for len(r.calls) <= e.Call {
		r.calls = append(r.calls, nil)
	}
	a := r.a
	t, declared := r.tool(e.Tool)
	proposed := stopgate.Call{Tool: e.Tool, ID: e.ID, Surface: stopgate.SurfaceAgent, Dialect: string(a.Endpoint.API), Server: t.Server}
	if declared {
		proposed.Definition = &t.ToolDefinition
	}
	p, err := r.turn.Open(context.WithoutCancel(r.ctx), proposed)
	if err != nil {
		r.err = err
		return
	}
	a.calls++
	c := &call{number: a.calls, tool: e.Tool, declared: declared, id: e.ID, at: t, pending: p, part: e.Call}
	c.state = Call{Number: c.number, Proposal: p.ID(), Tool: e.Tool, Observed: !p.Enforced()}
	r.calls[e.Call] = c
	c.change(a.Watch, nil)
	if t.Refused != "" {
		r.note(c, p.Refuse(t.Refused))
	}
	r.note(c, p.Verdict())
}

// tool finds a tool of the request.
func (r *answer) tool(name stopgate.ToolName) (t Tool, declared bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// note looks at a verdict: a call that somebody must answer is put before him at the
// byte that asked.
func (r *answer) note(c *call, v stopgate.Verdict) {
	if c.judged(r.a.Watch, v); c.asked || c.refused() || !v.Decided || v.Mode.Terminal() || v.Mode.Permissive() {
		return
	}
	c.asked = true
	if err := c.pending.Ask(r.ctx); err != nil {
		return // the verdict has changed in the meantime
	}
	c.judged(r.a.Watch, c.pending.Verdict())
	r.asks.Go(func() {
		select {
		case <-c.pending.Done():
			if c.judged(r.a.Watch, c.pending.Verdict()) {
				if s := r.stream.Load(); s != nil {
					s.Stop()
				}
			}
		case <-r.done:
		}
	})
}

// Refused implements [provider.Sink]: it reports whether there are calls and none of
// them can run.
func (r *answer) Refused() bool {
	for _, c := range r.calls {
		if c == nil || !c.refused() {
			return false
		}
	}
	return len(r.calls) > 0
}

// run reads the answer.
func (r *answer) run(request provider.Request) (provider.Reply, error) {
	a := r.a
	defer r.asks.Wait()
	defer close(r.done)
	a.Watch.Asked()
	seen := a.observedModel(r.ctx, &request)
	s, err := a.ask(r.ctx, request, r, seen)
	if err != nil {
		return provider.Reply{}, err
	}
	r.stream.Store(s)
	reply, err := s.Run()
	seen.end(s, reply.Stopped, err)
	a.Watch.Answered()
	if err == nil {
		err = r.err
	}
	return reply, err
}

// cancel gives up what the answer opened.
func (r *answer) cancel() {
	for _, c := range r.calls {
		if c != nil {
			c.pending.Cancel(context.WithoutCancel(r.ctx))
		}
	}
}

// entry is the answer as the conversation keeps it: calls have the arguments that were
// complete, as one object.
func (r *answer) entry(reply provider.Reply, cut bool) conversation.Entry {
	e := conversation.Entry{
		Kind: conversation.Reply, Parts: reply.Parts, API: string(r.a.Endpoint.API), Model: r.a.Endpoint.Model, Cut: cut || reply.Stopped,
	}
	n := 0
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.Kind != conversation.Call {
			continue
		}
		p.Args = "{}"
		if n < len(r.calls) && r.calls[n] != nil {
			c := r.calls[n]
			c.mu.Lock()
			p.Args = c.args.Object()
			c.mu.Unlock()
			if p.ID == "" {
				p.ID = "call_" + string(c.pending.ID())
			}
		}
		n++
	}
	return e
}
