package downstream

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// maxOpen is the maximum number of concurrent requests of one client.
const maxOpen = 256

// Client holds the open requests of one client. It is safe for concurrent use.
type Client struct {
	unsolicited func(text []byte) bool
	sessionless bool

	mu       sync.Mutex
	requests map[jsonrpc.ID]*Request // by the client's id
	order    []*Request              // oldest first
	asked    map[jsonrpc.ID]*Asked   // requests to the client, by the gateway's id
	lastID   int64                   // last request id towards the client
	closed   bool
}

// New returns a client without requests. unsolicited sends a message that belongs to no request;
// it returns false if there is no way to the client, and may be nil. The requests of a sessionless
// client are those of several programs, so that their ids may be equal.
func New(unsolicited func([]byte) bool, sessionless bool) *Client {
	return &Client{unsolicited: unsolicited, sessionless: sessionless, requests: map[jsonrpc.ID]*Request{}, asked: map[jsonrpc.ID]*Asked{}}
}

// Begin registers a request. Its context ends when the client cancels the request. outlives
// detaches its requests to servers from ctx. ok is false if the id is in use, too many requests are
// open, or the client is closed.
func (p *Client) Begin(ctx context.Context, x *Request, outlives bool) (_ context.Context, ok bool) {
	x.ServerCtx = ctx
	if outlives {
		x.ServerCtx = context.WithoutCancel(ctx)
	}
	var ends [2]context.CancelCauseFunc
	ctx, ends[0] = context.WithCancelCause(ctx)
	x.ServerCtx, ends[1] = context.WithCancelCause(x.ServerCtx)
	x.Cancel = func(cause error) {
		ends[0](cause)
		ends[1](cause)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := x.Message.ID
	if p.closed || len(p.order) >= maxOpen || !p.sessionless && p.requests[id] != nil {
		x.Cancel(ErrCancelled)
		return ctx, false
	}
	if !p.sessionless {
		p.requests[id] = x
	}
	p.order = append(p.order, x)
	return ctx, true
}

// Finish removes a request.
func (p *Client) Finish(x *Request) {
	x.end(nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	if id := x.Message.ID; p.requests[id] == x {
		delete(p.requests, id)
	}
	if i := slices.Index(p.order, x); i >= 0 {
		p.order = slices.Delete(p.order, i, i+1)
	}
}

// Cancel cancels the open request with the client's id. initialize cannot be cancelled.
func (p *Client) Cancel(id jsonrpc.ID) {
	p.mu.Lock()
	x := p.requests[id]
	p.mu.Unlock()
	if x != nil && x.Message.Method != "initialize" {
		x.end(ErrCancelled)
	}
}

// Busy reports whether a request is open.
func (p *Client) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.order) > 0
}

// SendToNewest sends a message on the stream of the newest request: the most likely one for a
// message that names none.
func (p *Client) SendToNewest(text []byte) bool {
	p.mu.Lock()
	var x *Request
	if n := len(p.order); n > 0 && !p.sessionless {
		x = p.order[n-1]
	}
	p.mu.Unlock()
	return x != nil && x.Send(text)
}

// Send sends a message that belongs to no request of the client.
func (p *Client) Send(text []byte) bool {
	return p.unsolicited != nil && p.unsolicited(text) || p.SendToNewest(text)
}

// Close cancels all open requests. Later ones are refused.
func (p *Client) Close() {
	p.mu.Lock()
	p.closed = true
	open := slices.Clone(p.order)
	p.mu.Unlock()
	for _, x := range open {
		x.end(ErrCancelled)
	}
}

// newID returns a new id for a request to the client; p.mu is locked.
func (p *Client) newID() jsonrpc.ID {
	p.lastID++
	return jsonrpc.ID(`"stopgate-` + strconv.FormatInt(p.lastID, 10) + `"`)
}
