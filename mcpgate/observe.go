package mcpgate

import (
	"context"
	"errors"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
	"github.com/stopgate/stopgate/internal/mcp/upstream"
	"github.com/stopgate/stopgate/jsonstream"
)

// Observed describes a request of a client or to a server. Fields about the response are
// set when the request has ended.
type Observed struct {
	Outgoing bool // the gateway sent it to a server
	Method   string
	Tool     stopgate.ToolName // of tools/call, as the policy names it; untrusted
	Prompt   string            // of prompts/get; untrusted
	Server   string            // of an outgoing request
	Version  string            // protocol version; "" before it is negotiated
	ID       string            // request id as text
	Session  string            // session id in revisions with sessions; it is a credential
	// Transport is "pipe" or "tcp", Protocol "http" or "", Address HOST:PORT of a server.
	Transport, Protocol, Address string
	Began, Ended                 time.Time
	// Failure is "" for success, or a JSON-RPC code, "tool_error", "timeout" or
	// "unreachable". Code is the JSON-RPC code alone.
	Failure, Code string
	// Arguments and Result of tools/call, and Resource, are content. Observers publish them
	// only if configured to.
	Arguments, Result []byte
	Resource          string
	// Traceparent and Tracestate identify the trace of the request. For a client's request
	// they are the client's values if the client is trusted. For a request to a server the
	// observer sets them when the request starts, and the gateway sends them. Traced
	// reports whether the client's message contains a trace.
	Traceparent, Tracestate string
	Traced                  bool
}

// Observer receives requests for traces and metrics. It must not block.
type Observer interface {
	// Request is called when a request starts. It returns the context for the request and a
	// function that is called once, when the request has ended and o is complete. The
	// function may be nil.
	Request(ctx context.Context, o *Observed) (_ context.Context, end func())
}

// Session is an ended session: of a client with the gateway or, if Outgoing, of the gateway
// with a server.
type Session struct {
	Outgoing  bool
	Version   string // protocol version; "" if none was negotiated
	Transport string // "pipe" or "tcp"
	Began     time.Time
	Ended     time.Time
	Failure   string // "unreachable" if the server failed, "" otherwise
}

// SessionObserver is an [Observer] that also receives ended sessions.
type SessionObserver interface {
	Observer
	Session(s *Session)
}

// reportSession reports an ended session to the observer.
func (g *Gateway) reportSession(s Session) {
	to, ok := g.observer.(SessionObserver)
	if !ok || s.Began.IsZero() {
		return
	}
	s.Ended = time.Now()
	to.Session(&s)
}

// Observers returns an observer that calls the given observers in order.
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

// observation is the observation of one request. Methods of a nil observation have no effect.
type observation struct {
	Observed
	endFunc func()
}

// observe starts the observation of a request.
func (g *Gateway) observe(ctx context.Context, o Observed) (context.Context, *observation) {
	seen := &observation{Observed: o}
	seen.Began = time.Now()
	ctx, seen.endFunc = g.observer.Request(ctx, &seen.Observed)
	return ctx, seen
}

// end ends the observation.
func (o *observation) end(failure, code string) {
	if o == nil {
		return
	}
	o.Ended, o.Failure, o.Code = time.Now(), failure, code
	if o.endFunc != nil {
		o.endFunc()
	}
}

// sent records the connection and the request id of an outgoing request.
func (o *observation) sent(l link.Link, id jsonrpc.ID, version string) {
	if o == nil {
		return
	}
	o.ID, o.Version = string(id), version
	if p, ok := l.(link.Traced); ok {
		at := p.ConnInfo()
		o.Transport, o.Protocol, o.Address, o.Session = at.Transport, at.Protocol, at.Address, at.Session
	}
}

// setTrace replaces the trace context in a message to a server by the gateway's.
func (o *observation) setTrace(e *jsonrpc.Edits, params jsonstream.Value) {
	if o != nil && o.Traceparent != "" {
		protocol.SetTrace(e, params, o.Traceparent, o.Tracestate)
	}
}

// observedRequest returns the observation attributes of a client's request.
func (x *request) observedRequest() Observed {
	o := Observed{Method: x.Message.Method, ID: plainID(x.Message.ID), Version: x.Meta.Version, Session: x.client.via.Session, Transport: "tcp", Protocol: "http", Traced: x.Meta.Traceparent != ""}
	if x.client.via.Stdio {
		o.Transport, o.Protocol = "pipe", ""
	}
	if x.client.via.Stdio || x.client.owner.Principal != Local {
		o.Traceparent, o.Tracestate = x.Meta.Traceparent, x.Meta.Tracestate
	}
	o.setTarget(x.Message, jsonrpc.TextOf(x.Message.Params, "name"))
	if args, ok := x.Message.Params.Get("arguments"); ok && x.Message.Method == "tools/call" {
		o.Arguments = args.Raw()
	}
	if x.client.mu.Lock(); o.Version == "" {
		o.Version = x.client.version
	}
	x.client.mu.Unlock()
	return o
}

// setTarget sets the tool, prompt or resource of a request.
func (o *Observed) setTarget(m *jsonrpc.Message, name string) {
	switch m.Method {
	case "tools/call":
		o.Tool = stopgate.ToolName(name)
	case "prompts/get":
		o.Prompt = name
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		o.Resource = jsonrpc.TextOf(m.Params, "uri")
	}
}

// plainID returns an id as text: request-7 for the JSON text "request-7".
func plainID(id jsonrpc.ID) string {
	if v, err := jsonstream.Parse([]byte(id), jsonstream.Options{}); err == nil && v.Kind() == jsonstream.String {
		return v.Text()
	}
	return string(id)
}

// endWithResponse ends the observation of a client's request with the response that the
// client receives.
func (o *observation) endWithResponse(answer []byte) {
	if o == nil {
		return
	}
	v, err := jsonstream.Parse(answer, jsonstream.Options{MaxBytes: jsonrpc.MaxBytes, MaxDepth: 160, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		o.end("", "") // no response: the client cancelled the request
		return
	}
	fault, _ := v.Get("error")
	result, _ := v.Get("result")
	o.endWith(fault, result)
}

// endWith ends the observation with an error or a result.
func (o *observation) endWith(fault, result jsonstream.Value) {
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

// endWithReply ends the observation of a request to a server.
func (o *observation) endWithReply(r link.Reply, err error) {
	switch {
	case o == nil:
	case errors.Is(err, upstream.ErrNoResponse):
		o.end("timeout", "")
	case err != nil || r.Message == nil:
		o.end("unreachable", "")
	default:
		o.endWith(r.Message.Error, r.Message.Result)
	}
}
