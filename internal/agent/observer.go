package agent

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/provider"
	codec "github.com/stopgate/stopgate/internal/provider"
)

// Observer receives the start and end of operations, for traces and metrics. It must not
// block. Each method is called at the start; it returns the context for the operation and a
// function that is called once at the end, when the argument is complete. The function may
// be nil.
type Observer interface {
	// Message is called when the agent starts to process a prompt.
	Message(ctx context.Context, m *Message) (_ context.Context, end func())
	// Model is called for a request to a model.
	Model(ctx context.Context, m *ModelCall) (_ context.Context, end func())
	// Tool is called when a call runs.
	Tool(ctx context.Context, t *ToolCall) (_ context.Context, end func())
}

// Message is the processing of one prompt.
type Message struct {
	Session      stopgate.SessionID
	Model        string
	Began, Ended time.Time
	Failure      string // why the agent failed; "" for success
}

// ModelCall is one request to a model and its response.
type ModelCall struct {
	Session             stopgate.SessionID
	API                 provider.API
	Address             string // HOST:PORT
	Model               string
	Began, First, Ended time.Time // First is zero if no byte was received
	Answer              codec.ResponseInfo
	Stopped             bool   // cancelled by the gate: all calls were refused
	Failure             string // an HTTP status, a code, "cancelled" or "_OTHER"; "" for success
	// Body is the body of the request, which is content. It must not be changed.
	Body []byte
	// Copy receives the bytes of the response if the observer sets it at the start.
	Copy io.Writer
}

// ToolCall is a call that runs.
type ToolCall struct {
	Session      stopgate.SessionID
	Tool         stopgate.ToolName
	ID           stopgate.CallID
	Server       stopgate.ServerID // "" for the agent's own tools
	Transport    string            // "pipe" or "tcp"
	Began, Ended time.Time
	Failed       bool
	// Arguments and Result, as the model receives it, are content.
	Arguments, Result string
}

// Observers returns an observer that calls the given observers in order.
func Observers(list ...Observer) Observer { return observers(list) }

type observers []Observer

// Message implements [Observer].
func (l observers) Message(ctx context.Context, m *Message) (context.Context, func()) {
	return l.all(ctx, func(o Observer, ctx context.Context) (context.Context, func()) { return o.Message(ctx, m) })
}

// Model implements [Observer].
func (l observers) Model(ctx context.Context, m *ModelCall) (context.Context, func()) {
	return l.all(ctx, func(o Observer, ctx context.Context) (context.Context, func()) { return o.Model(ctx, m) })
}

// Tool implements [Observer].
func (l observers) Tool(ctx context.Context, t *ToolCall) (context.Context, func()) {
	return l.all(ctx, func(o Observer, ctx context.Context) (context.Context, func()) { return o.Tool(ctx, t) })
}

func (l observers) all(ctx context.Context, begin func(Observer, context.Context) (context.Context, func())) (context.Context, func()) {
	var ends []func()
	for _, o := range l {
		var end func()
		if ctx, end = begin(o, ctx); end != nil {
			ends = append(ends, end)
		}
	}
	return ctx, func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}
}

// observedMessage starts the observation of a prompt; end ends it.
func (a *Agent) observedMessage(ctx context.Context) (_ context.Context, end func(error)) {
	if a.Observer == nil {
		return ctx, func(error) {}
	}
	m := &Message{Session: a.Owner.Session, Model: a.Endpoint.Model, Began: a.Now()}
	ctx, over := a.Observer.Message(ctx, m)
	return ctx, func(err error) {
		m.Ended, m.Failure = a.Now(), failureOf(err)
		if over != nil {
			over()
		}
	}
}

// observation observes a request to a model. The methods of a nil observation have no effect.
type observation struct {
	ModelCall
	now  func() time.Time
	over func()
}

// observedModel starts the observation of requests. The endpoint calls begin for each
// request.
func (a *Agent) observedModel(ctx context.Context, r *provider.Request) *observation {
	if a.Observer == nil {
		return nil
	}
	o := &observation{now: a.Now}
	r.Sent = func(body []byte) io.Writer {
		o.ModelCall = ModelCall{
			Session: a.Owner.Session, API: a.Endpoint.API, Address: a.Endpoint.Address(), Model: a.Endpoint.Model,
			Began: a.Now(), Body: body,
		}
		_, o.over = a.Observer.Model(ctx, &o.ModelCall)
		return o
	}
	return o
}

// Write implements [io.Writer]. It receives the response.
func (o *observation) Write(p []byte) (int, error) {
	if o.First.IsZero() {
		o.First = o.now()
	}
	if o.Copy != nil {
		return o.Copy.Write(p)
	}
	return len(p), nil
}

// end ends the observation of one request.
func (o *observation) end(s *provider.Stream, stopped bool, err error) {
	if o == nil || o.Began.IsZero() {
		return
	}
	if s != nil {
		o.Answer = s.Info()
	}
	o.Ended, o.Stopped, o.Failure = o.now(), stopped, failureOf(err)
	if o.over != nil {
		o.over()
	}
	o.ModelCall = ModelCall{}
}

// failureOf returns the class of an error.
func failureOf(err error) string {
	var status *provider.StatusError
	var stream *codec.StreamError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.As(err, &status):
		return strconv.Itoa(status.Status)
	case errors.As(err, &stream):
		return string(stream.Code)
	}
	return "_OTHER"
}

// observedTool starts the observation of a call that runs; end ends it.
func (a *Agent) observedTool(ctx context.Context, c *call, args string) (_ context.Context, end func(at time.Time, result string, failed bool)) {
	if a.Observer == nil {
		return ctx, func(time.Time, string, bool) {}
	}
	t := &ToolCall{
		Session: a.Owner.Session, Tool: c.tool, ID: c.id, Server: c.at.Server, Transport: c.at.Transport, Began: a.Now(), Arguments: args,
	}
	ctx, over := a.Observer.Tool(ctx, t)
	return ctx, func(at time.Time, result string, failed bool) {
		t.Ended, t.Result, t.Failed = at, result, failed
		if over != nil {
			over()
		}
	}
}
