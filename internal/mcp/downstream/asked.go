package downstream

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// Server is where a request to the client came from.
type Server interface {
	Send(ctx context.Context, method string, text []byte)
}

// Asked is a request to the client that waits for its response.
type Asked struct {
	Server Server     // nil if the gateway sent the request
	ID     jsonrpc.ID // id of the server
	Token  jsonrpc.ID // progress token of the server, "" for none
	// Response receives the response to a request of the gateway. It has a buffer of one.
	Response chan *jsonrpc.Message
	// Answered is called with the response to a request of a server, before the server receives it;
	// nil for none.
	Answered func(ctx context.Context, m *jsonrpc.Message)
}

// Ask registers a request to the client and returns its id.
func (p *Client) Ask(a *Asked) jsonrpc.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.newID()
	p.asked[id] = a
	return id
}

// Withdraw removes and returns a request to the client, nil if it is not open.
func (p *Client) Withdraw(id jsonrpc.ID) *Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.asked[id]
	delete(p.asked, id)
	return a
}

// Respond passes the client's response to the sender of the request. It returns false if no such
// request is open.
func (p *Client) Respond(ctx context.Context, m *jsonrpc.Message) bool {
	a := p.Withdraw(m.ID)
	switch {
	case a == nil:
		return false
	case a.Server == nil:
		a.Response <- m
	default:
		if a.Answered != nil {
			a.Answered(ctx, m)
		}
		if text, err := m.Edit().ID(a.ID).Text(); err == nil {
			a.Server.Send(ctx, "", text)
		}
	}
	return true
}

// CancelAsked forwards a server's cancellation of its request.
func (p *Client) CancelAsked(from Server, m *jsonrpc.Message) {
	theirs, ok := m.Params.Get("requestId")
	if !ok {
		return
	}
	p.mu.Lock()
	var ours jsonrpc.ID
	for id, a := range p.asked {
		if a.Server == from && a.ID == jsonrpc.ParseID(theirs) {
			ours = id
			delete(p.asked, id)
		}
	}
	p.mu.Unlock()
	if ours == "" {
		return
	}
	if text, err := m.Edit().Replace(theirs, []byte(ours)).Text(); err == nil && !p.SendToNewest(text) {
		p.Send(text)
	}
}

// Progress forwards the client's progress to the server of the request.
func (p *Client) Progress(ctx context.Context, m *jsonrpc.Message) {
	v, _ := m.Params.Get("progressToken")
	token := jsonrpc.ParseID(v)
	if token == "" {
		return
	}
	p.mu.Lock()
	var to Server
	for _, a := range p.asked {
		if a.Server != nil && a.Token == token {
			to = a.Server
		}
	}
	p.mu.Unlock()
	if to != nil {
		to.Send(ctx, m.Method, jsonrpc.SingleLine(slices.Clone(m.Text)))
	}
}

// Request sends a request of the gateway to the client, on the stream of x if it is open, and waits
// for the response. If ctx ends first, the request is cancelled. ok is false without a response.
func (p *Client) Request(ctx context.Context, x *Request, method string, params []byte) (m *jsonrpc.Message, ok bool) {
	a := &Asked{Response: make(chan *jsonrpc.Message, 1)}
	id := p.Ask(a)
	defer p.Withdraw(id)
	text := jsonrpc.AppendRequest(nil, id, method, params)
	if !x.Send(text) && !p.Send(text) {
		return nil, false
	}
	select {
	case m = <-a.Response:
		return m, true
	case <-ctx.Done():
		var o jsonrpc.Object
		o.Raw("requestId", []byte(id)).Text("reason", "the question is over")
		x.Send(jsonrpc.AppendRequest(nil, "", "notifications/cancelled", o.End()))
		return nil, false
	}
}
