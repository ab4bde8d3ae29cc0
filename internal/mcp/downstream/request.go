package downstream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/protocol"
)

// ErrCancelled is the cause of a request that the client cancelled.
var ErrCancelled = errors.New("mcpgate: the client cancelled the request")

// Request is one request of the client.
type Request struct {
	Message       *jsonrpc.Message
	Meta          protocol.Meta
	Modern        bool   // of the revision without sessions
	ProgressToken []byte // the client's progress token as JSON text, nil for none
	// ServerCtx is the context for requests to servers. In the revisions with sessions over HTTP it
	// outlives the client's connection: a disconnect is not a cancellation.
	ServerCtx context.Context
	Cancel    context.CancelCauseFunc

	mu    sync.Mutex
	write func(text []byte) bool // writes to the request's stream; nil after the response
}

// NewRequest returns a request that is not registered yet. write writes to its stream.
func NewRequest(m *jsonrpc.Message, write func([]byte) bool) *Request {
	x := &Request{Message: m, Meta: protocol.ReadMeta(m.Params), write: write}
	x.Modern = x.Meta.Version >= protocol.Modern
	if x.Meta.Token.IsValid() {
		x.ProgressToken = slices.Clone(x.Meta.Token.Raw())
	}
	return x
}

// Send sends a message on the request's stream. It returns false if the stream is closed.
func (x *Request) Send(text []byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.write != nil && x.write(text)
}

// CloseStream closes the request's stream.
func (x *Request) CloseStream() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.write = nil
}

// end closes the stream and cancels the request.
func (x *Request) end(cause error) {
	x.CloseStream()
	x.Cancel(cause)
}

// ReportWaiting sends progress under the client's token until stop is closed.
func (x *Request) ReportWaiting(interval time.Duration, message string, stop <-chan struct{}) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			var o jsonrpc.Object
			o.Raw("progressToken", x.ProgressToken).Int("progress", n).Text("message", message)
			if !x.Send(jsonrpc.AppendRequest(nil, "", "notifications/progress", o.End())) {
				return
			}
		}
	}
}
