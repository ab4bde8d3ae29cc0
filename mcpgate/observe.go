package mcpgate

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Observed is what there is to know about a request: one of a client, or one to a
// server. Who answers it, and with what, is known at its end.
type Observed struct {
	Outgoing bool // to a server
	Method   string
	Tool     stopgate.ToolName // of tools/call, as the policy names it; not to be trusted
	Prompt   string            // of prompts/get; not to be trusted
	Server   string            // of an outgoing request
	Version  string            // of the protocol; "" before it is agreed
	ID       string            // of the request: the text or the number
	Session  string            // of the revisions that have sessions; whoever knows it can speak in it
	// Transport is "pipe" or "tcp", Protocol "http" or "", Address HOST:PORT of a server.
	Transport, Protocol, Address string
	Began, Ended                 time.Time
	// Failure is why it failed: a JSON-RPC code, "tool_error" for a result that says so,
	// "timeout" or "unreachable"; "" if it did not. Code is the JSON-RPC code alone.
	Failure, Code string
	// Arguments and Result of tools/call, and Resource of the methods that name one, are
	// content: an observer shows them only where it was told to.
	Arguments, Result []byte
	Resource          string
	// Traceparent and Tracestate name the trace that a request belongs to: what a client
	// said, where it can be believed, and what the observer sets at the beginning of a
	// request to a server, which is told so. Traced says that the client's own message
	// names one.
	Traceparent, Tracestate string
	Traced                  bool
}

// Observer is told about requests, for traces and numbers. It decides nothing and must
// not wait for anything.
type Observer interface {
	// Request is told of a request that begins. The context that it returns belongs to
	// it; end is called once, when the request is over, and o is complete then. A nil end
	// is not called.
	Request(ctx context.Context, o *Observed) (_ context.Context, end func())
}

// Session is a session that is over: of a client with the gate or, Outgoing, of the gate
// with a server, from the moment in which there is one to talk to.
type Session struct {
	Outgoing  bool
	Version   string // of the protocol; "" if none was agreed
	Transport string // "pipe" or "tcp"
	Began     time.Time
	Ended     time.Time
	Failure   string // "unreachable" if the server went by itself, else ""
}

// SessionObserver is an [Observer] that is told of sessions, too, once they are over.
type SessionObserver interface {
	Observer
	Session(s *Session)
}

// over tells of a session that is.
func (g *Gateway) over(s Session) {
	to, ok := g.observer.(SessionObserver)
	if !ok || s.Began.IsZero() {
		return
	}
	s.Ended = time.Now()
	to.Session(&s)
}

// Observers is an observer that tells several, in their order.
func Observers(list ...Observer) Observer { return observers(list) }

type observers []Observer

// Request implements [Observer].
func (l observers) Request(ctx context.Context, o *Observed) (context.Context, func()) {
	var ends []func()
	for _, one := range l {
		var end func()
		if ctx, end = one.Request(ctx, o); end != nil {
			ends = append(ends, end)
		}
	}
	return ctx, func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}
}

// Session implements [SessionObserver].
func (l observers) Session(s *Session) {
	for _, one := range l {
		if to, ok := one.(SessionObserver); ok {
			to.Session(s)
		}
	}
}

// observation is a request under observation. A nil one observes nothing.
type observation struct {
	Observed
	over func()
}

// observed begins the observation of a request.
func (g *Gateway) observed(ctx context.Context, o Observed) (context.Context, *observation) {
	seen := &observation{Observed: o}
	seen.Began = time.Now()
	ctx, seen.over = g.observer.Request(ctx, &seen.Observed)
	return ctx, seen
}

// end tells the observer what became of the request.
func (o *observation) end(failure, code string) {
	if o == nil {
		return
	}
	o.Ended, o.Failure, o.Code = time.Now(), failure, code
	if o.over != nil {
		o.over()
	}
}

// sent notes where a request goes, and under which id of ours.
func (o *observation) sent(l link.Link, id jsonrpc.ID, version string) {
	if o == nil {
		return
	}
	o.ID, o.Version = string(id), version
	if p, ok := l.(link.Placed); ok {
		at := p.Place()
		o.Transport, o.Protocol, o.Address, o.Session = at.Transport, at.Protocol, at.Address, at.Session
	}
}

// trace names the trace in a message to a server: the client's own name of it gives way.
func (o *observation) trace(e *jsonrpc.Edits, params jsonstream.Value) {
	if o == nil || o.Traceparent == "" || params.Kind() != jsonstream.Object {
		return
	}
	parent := jsonstream.AppendQuote(nil, o.Traceparent)
	meta, ok := params.Get("_meta")
	switch {
	case !ok:
		text := append([]byte(`{"traceparent":`), parent...)
		if o.Tracestate != "" {
			text = jsonstream.AppendQuote(append(text, `,"tracestate":`...), o.Tracestate)
		}
		e.Add(params, "_meta", append(text, '}'))
		return
	case meta.Kind() != jsonstream.Object:
		return
	}
	e.Set(meta, "traceparent", parent)
	if o.Tracestate != "" {
		e.Set(meta, "tracestate", jsonstream.AppendQuote(nil, o.Tracestate))
		return
	}
	e.Remove(meta, func(name string) bool { return name == "tracestate" })
}

// served is the observation of a client's request.
func (p *peer) served(m *jsonrpc.Message, x *exchange) Observed {
	o := Observed{Method: m.Method, ID: plainID(m.ID), Version: x.meta.version, Session: p.session, Transport: "tcp", Protocol: "http", Traced: x.meta.traceparent != ""}
	if p.stdio {
		o.Transport, o.Protocol = "pipe", ""
	}
	if p.stdio || p.owner.Principal != Local {
		o.Traceparent, o.Tracestate = x.meta.traceparent, x.meta.tracestate
	}
	o.of(m, textOf(m.Params, "name"))
	if args, ok := m.Params.Get("arguments"); ok && m.Method == "tools/call" {
		o.Arguments = args.Raw()
	}
	if p.mu.Lock(); o.Version == "" {
		o.Version = p.version
	}
	p.mu.Unlock()
	return o
}

// of notes what a request is about.
func (o *Observed) of(m *jsonrpc.Message, name string) {
	switch m.Method {
	case "tools/call":
		o.Tool = stopgate.ToolName(name)
	case "prompts/get":
		o.Prompt = name
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		o.Resource = textOf(m.Params, "uri")
	}
}

// plainID is an id as text: request-7 for the JSON text "request-7".
func plainID(id jsonrpc.ID) string {
	if v, err := jsonstream.Parse([]byte(id), jsonstream.Options{}); err == nil && v.Kind() == jsonstream.String {
		return v.Text()
	}
	return string(id)
}

// answered ends the observation of a client's request with the answer that it gets.
func (o *observation) answered(answer []byte) {
	if o == nil {
		return
	}
	v, err := jsonstream.Parse(answer, jsonstream.Options{MaxBytes: jsonrpc.MaxBytes, MaxDepth: 160, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		o.end("", "") // no answer at all: the client gave the request up
		return
	}
	fault, _ := v.Get("error")
	result, _ := v.Get("result")
	o.ended(fault, result)
}

// ended is end for what an answer says.
func (o *observation) ended(fault, result jsonstream.Value) {
	if code, ok := fault.Get("code"); ok {
		o.end(string(code.Raw()), string(code.Raw()))
		return
	}
	if o.Method == "tools/call" && result.IsValid() {
		o.Result = result.Raw()
	}
	if is, _ := result.Get("isError"); is.Kind() == jsonstream.True {
		o.end("tool_error", "")
		return
	}
	o.end("", "")
}

// replied ends the observation of a request to a server.
func (o *observation) replied(r link.Reply, err error) {
	switch {
	case o == nil:
	case errors.Is(err, errSilent):
		o.end("timeout", "")
	case err != nil || r.Message == nil:
		o.end("unreachable", "")
	default:
		o.ended(r.Message.Error, r.Message.Result)
	}
}
