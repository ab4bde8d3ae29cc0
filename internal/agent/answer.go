package agent

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
)

// answer is one response of the model. It implements provider.Sink: it opens a pending call
// for every call, and requests approvals as soon as a verdict needs them.
type answer struct {
	a    *Agent
	ctx  context.Context
	turn *gate.Turn
	// tools are the tools of the request.
	tools []Tool
	// stream is set when it exists; verdicts from other sources stop it.
	stream atomic.Pointer[provider.Stream]
	calls  []*call
	err    error // the gate could not open a pending call
	// asks counts the goroutines that wait for approvals.
	asks sync.WaitGroup
	done chan struct{} // closed when the response has ended
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

// start opens a pending call.
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

// tool returns a tool of the request.
func (r *answer) tool(name stopgate.ToolName) (t Tool, declared bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// note handles a verdict. If it needs an approval, the question is shown immediately.
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

// Refused implements [provider.Sink]: it reports whether there are calls and all of them
// are refused.
func (r *answer) Refused() bool {
	for _, c := range r.calls {
		if c == nil || !c.refused() {
			return false
		}
	}
	return len(r.calls) > 0
}

// run reads the response.
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

// cancel cancels the open calls of the response.
func (r *answer) cancel() {
	for _, c := range r.calls {
		if c != nil {
			c.pending.Cancel(context.WithoutCancel(r.ctx))
		}
	}
}

// entry returns the log entry of the response. The arguments of each call are one object
// with the complete parameters.
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
