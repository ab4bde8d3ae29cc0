package external

import (
	"context"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Limits of the event policies.
const (
	maxScratch = 64 << 10 // of the scratchpad of an exchange
	maxBody    = 8 << 20  // of a request or response that a service sees
)

// Events returns the event policy of a table for the LLM gateway, nil if the table has no hook of
// exchanges. note writes the row of an exchange: how often the policy changed and refused parts of
// it.
func (f *Factory) Events(t *gate.ExternalTable, note func(context.Context, stopgate.Record)) (events.Policy, error) {
	if !slices.ContainsFunc(syntax.EventHooks, t.Has) {
		return nil, nil
	}
	s, err := f.service(t)
	if err != nil {
		return nil, err
	}
	return &eventPolicy{s, note}, nil
}

// eventPolicy asks a service about the parts of exchanges. It is stateless: the scratchpad of the
// exchange goes to the service and back (V3-01, V3-02).
type eventPolicy struct {
	*service
	note func(context.Context, stopgate.Record)
}

// hookNames are the methods of event policies by the hooks of tables.
var hookNames = map[string]string{
	"OnRequest": "request", "OnResponse": "response", "OnStreamStart": "stream_start", "OnContentDelta": "content_delta",
	"OnContentComplete": "content_complete", "OnToolCallDelta": "tool_call_delta", "OnToolCallComplete": "tool_call_complete",
	"OnFinishReason": "finish_reason",
}

// HasHook reports whether the gateway calls a method of the policy. The end of an exchange is
// always used, for its row.
func (p *eventPolicy) HasHook(method string) bool {
	return method == "OnStreamComplete" || p.table.Has(hookNames[method])
}

// Name returns the name of the table.
func (p *eventPolicy) Name() string { return p.table.Name }

// exchange is the state of the policy in an exchange.
type exchange struct {
	scratch []byte
	answers []stopgate.ExternalAnswer
}

func (p *eventPolicy) exchange(x *events.Exchange) *exchange {
	key := "external:" + p.table.Name
	state, ok := x.Scratchpad[key].(*exchange)
	if !ok {
		state = new(exchange)
		x.Scratchpad[key] = state
	}
	return state
}

// count counts an answer for the row of the exchange.
func (e *exchange) count(r stopgate.ExternalAnswer) {
	r.Input = ""
	for i := range e.answers {
		if a := &e.answers[i]; a.Version == r.Version && a.Hook == r.Hook && a.Answer == r.Answer && a.Fault == r.Fault {
			a.Count, a.Micros, a.Time = a.Count+1, a.Micros+r.Micros, r.Time
			return
		}
	}
	r.Count = 1
	e.answers = append(e.answers, r)
}

// ask asks about one part of an exchange. stream is nil where the policy has no output.
func (p *eventPolicy) ask(ctx context.Context, x *events.Exchange, stream events.Stream, hook string, part func(*object)) (effect, error) {
	state := p.exchange(x)
	q := &question{ask: hook, hook: hook}
	var about object
	about.always("id", x.ID)
	about.string("session", string(x.Session))
	about.string("principal", string(x.Principal))
	about.string("agent", string(x.Agent))
	about.string("dialect", x.Dialect)
	about.string("model", x.Model)
	about.bool("streamed", x.Streamed)
	q.members.raw("exchange", about.end())
	scratch := state.scratch
	if scratch == nil {
		scratch = []byte("{}")
	}
	q.members.raw("scratch", scratch)
	if stream != nil {
		q.members.bool("finished", stream.IsOutputFinished())
	}
	part(&q.members)
	e, record, err := ask(ctx, p.service, q, effectOf(hook))
	state.count(record)
	if err != nil {
		return effect{}, fmt.Errorf("external policy %s: %w", p.table.Name, err)
	}
	if e.scratch != nil {
		state.scratch = e.scratch
	}
	for _, emitted := range e.events {
		x.Emit(emitted)
	}
	return e, nil
}

// send does what an answer says about the output: texts, and whether it ends there.
func (e *effect) send(s events.Stream, pass func() error) error {
	if !e.decides {
		if err := pass(); err != nil {
			return err
		}
	}
	for _, o := range e.output {
		if o.call {
			return fmt.Errorf("%w: only tool_call_complete forwards a call", errForm)
		}
		if err := s.SendText(o.text, false); err != nil {
			return err
		}
	}
	e.conclude(s)
	return nil
}

func (e *effect) conclude(s events.Stream) {
	if e.finish {
		s.MarkOutputFinished()
	}
	if e.stop {
		s.Stop()
	}
}

// OnRequest asks about the request.
func (p *eventPolicy) OnRequest(ctx context.Context, x *events.Exchange, r *events.Request) error {
	if len(r.Body()) > maxBody {
		return errLong
	}
	e, err := p.ask(ctx, x, nil, "request", func(o *object) { o.raw("request", r.Body()) })
	switch {
	case err != nil:
		p.record(ctx, x)
		return err
	case e.reject != nil:
		p.record(ctx, x)
		return e.reject
	case e.body != nil:
		r.SetBody(e.body)
	}
	return nil
}

// OnResponse asks about a response that is not streamed.
func (p *eventPolicy) OnResponse(ctx context.Context, x *events.Exchange, r *events.Response) error {
	if len(r.Body()) > maxBody {
		return errLong
	}
	e, err := p.ask(ctx, x, nil, "response", func(o *object) { o.raw("response", r.Body()) })
	if err == nil && e.body != nil {
		r.SetBody(e.body)
	}
	return err
}

// OnStreamStart asks before the response.
func (p *eventPolicy) OnStreamStart(ctx context.Context, x *events.Exchange, s events.Stream) error {
	e, err := p.ask(ctx, x, s, "stream_start", func(*object) {})
	if err != nil {
		return err
	}
	return e.send(s, func() error { return nil })
}

// OnContentDelta asks about a chunk of text.
func (p *eventPolicy) OnContentDelta(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Content, delta string) error {
	e, err := p.ask(ctx, x, s, "content_delta", func(o *object) {
		o.int("choice", int64(b.Choice))
		o.int("index", int64(b.Index))
		o.always("delta", delta)
	})
	if err != nil {
		return err
	}
	return e.send(s, func() error {
		if s.IsOutputFinished() {
			return nil
		}
		return s.SendText(delta, false)
	})
}

// OnContentComplete asks at the end of a text.
func (p *eventPolicy) OnContentComplete(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Content) error {
	e, err := p.ask(ctx, x, s, "content_complete", func(o *object) {
		o.int("choice", int64(b.Choice))
		o.int("index", int64(b.Index))
		o.always("text", b.Text)
	})
	if err != nil {
		return err
	}
	return e.send(s, func() error { return nil })
}

// modelCall describes a call of the model as far as it has arrived.
func modelCall(b *events.Call) []byte {
	var o object
	o.int("choice", int64(b.Choice))
	o.int("index", int64(b.Index))
	o.always("id", string(b.ID))
	o.always("tool", string(b.Name))
	o.always("arguments", b.Arguments)
	o.string("refused", string(b.Refused))
	return o.end()
}

// OnToolCallDelta shows a chunk of arguments. Where the table has tool_call_complete too it only
// looks; otherwise a chunk without output passes.
func (p *eventPolicy) OnToolCallDelta(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Call, delta string) error {
	if !p.table.Governs(b.Name) {
		if p.table.Has("tool_call_complete") {
			return nil
		}
		return s.Send(events.BlockChunk(b))
	}
	e, err := p.ask(ctx, x, s, "tool_call_delta", func(o *object) {
		o.raw("call", modelCall(b))
		o.always("delta", delta)
	})
	if err != nil {
		return err
	}
	if p.table.Has("tool_call_complete") { // which decides
		if len(e.output) > 0 {
			return fmt.Errorf("%w: tool_call_delta has output and tool_call_complete decides", errForm)
		}
		e.conclude(s)
		return nil
	}
	return e.sendCall(s, b)
}

// OnToolCallComplete asks about a complete call.
func (p *eventPolicy) OnToolCallComplete(ctx context.Context, x *events.Exchange, s events.Stream, b *events.Call) error {
	if !p.table.Governs(b.Name) {
		return s.Send(events.BlockChunk(b))
	}
	e, err := p.ask(ctx, x, s, "tool_call_complete", func(o *object) { o.raw("call", modelCall(b)) })
	if err != nil {
		return err
	}
	return e.sendCall(s, b)
}

// sendCall does what an answer says about a call.
func (e *effect) sendCall(s events.Stream, b *events.Call) (err error) {
	if !e.decides && !s.IsOutputFinished() {
		err = s.Send(events.BlockChunk(b))
	}
	for _, o := range e.output {
		switch {
		case err != nil:
		case !o.call:
			err = s.SendText(o.text, false)
		default:
			if o.replaces {
				b.Arguments = o.arguments
			}
			err = s.Send(events.BlockChunk(b))
		}
	}
	if err == nil && e.silent {
		err = s.DropSilently()
	}
	if err == nil {
		e.conclude(s)
	}
	return err
}

// OnFinishReason asks about the reason why a choice ended.
func (p *eventPolicy) OnFinishReason(ctx context.Context, x *events.Exchange, s events.Stream, reason string) error {
	e, err := p.ask(ctx, x, s, "finish_reason", func(o *object) { o.always("finish_reason", reason) })
	if err != nil {
		return err
	}
	return e.send(s, func() error { return nil })
}

// OnStreamComplete asks at the end of an exchange, and writes its row.
func (p *eventPolicy) OnStreamComplete(ctx context.Context, x *events.Exchange) (err error) {
	if p.table.Has("stream_complete") {
		_, err = p.ask(ctx, x, nil, "stream_complete", func(o *object) {
			var n object
			n.int("judged", int64(x.Calls.Judged))
			n.int("blocked", int64(x.Calls.Blocked))
			n.int("rewritten", int64(x.Calls.Rewritten))
			o.raw("calls", n.end())
		})
	}
	p.record(ctx, x)
	return err
}

// record writes the row of the exchange, once.
func (p *eventPolicy) record(ctx context.Context, x *events.Exchange) {
	state := p.exchange(x)
	if len(state.answers) == 0 || p.note == nil {
		return
	}
	p.note(context.WithoutCancel(ctx), stopgate.Record{
		Event: stopgate.AuditExternal, Session: x.Session, Principal: x.Principal, Agent: x.Agent, Turn: stopgate.TurnID(x.ID), Dialect: x.Dialect,
		External: state.answers,
	})
	state.answers = nil
}
