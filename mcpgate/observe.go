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
// server. It holds no content.
type Observed struct {
	Outgoing bool // to a server
	Method   string
	Tool     stopgate.ToolName // of tools/call, as the policy names it; not to be trusted
	Server   string            // of an outgoing request
	Version  string            // of the protocol; "" before it is agreed
	ID       string            // of the request, as JSON
	Began    time.Time
	Ended    time.Time
	// Failure is why it failed: a JSON-RPC code, "tool_error" for a result that says so,
	// "timeout" or "unreachable"; "" if it did not.
	Failure string
}

// Observer is told about requests, for traces and numbers. It decides nothing and must
// not wait for anything.
type Observer interface {
	// Request is told of a request that begins. The context that it returns belongs to
	// it; end is called once, when the request is over, and o is complete then. A nil end
	// is not called.
	Request(ctx context.Context, o *Observed) (_ context.Context, end func())
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

// observed begins the observation of a request. end is given its failure.
func (g *Gateway) observed(ctx context.Context, o Observed) (_ context.Context, end func(failure string)) {
	o.Began = time.Now()
	ctx, over := g.observer.Request(ctx, &o)
	return ctx, func(failure string) {
		o.Ended, o.Failure = time.Now(), failure
		if over != nil {
			over()
		}
	}
}

// served is the observation of a client's request.
func (p *peer) served(m *jsonrpc.Message, x *exchange) Observed {
	o := Observed{Method: m.Method, ID: string(m.ID), Version: x.meta.version}
	if m.Method == "tools/call" {
		o.Tool = stopgate.ToolName(textOf(m.Params, "name"))
	}
	if p.mu.Lock(); o.Version == "" {
		o.Version = p.version
	}
	p.mu.Unlock()
	return o
}

// failureOf is why a request failed, as its answer says it.
func failureOf(answer []byte) string {
	v, err := jsonstream.Parse(answer, jsonstream.Options{MaxBytes: jsonrpc.MaxBytes, MaxDepth: 160, MaxValues: 1 << 20, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return "" // no answer at all: the client gave the request up
	}
	fault, _ := v.Get("error")
	result, _ := v.Get("result")
	return failed(fault, result)
}

func failed(fault, result jsonstream.Value) string {
	if code, ok := fault.Get("code"); ok {
		return string(code.Raw())
	}
	if is, _ := result.Get("isError"); is.Kind() == jsonstream.True {
		return "tool_error"
	}
	return ""
}

// failureOfServer is why a request to a server failed.
func failureOfServer(r link.Reply, err error) string {
	switch {
	case errors.Is(err, errSilent):
		return "timeout"
	case err != nil || r.Message == nil:
		return "unreachable"
	}
	return failed(r.Message.Error, r.Message.Result)
}
