package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate/mcpgate/link"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// grace is how long the answer of one server waits for those of the others. Most
// clients give up on a server after half a minute or a whole one, and behind this gate
// that would be on all of them.
const grace = 20 * time.Second

// said is what one of several servers answered.
type said[T any] struct {
	conn  *conn
	value T
	err   error
}

// errLate is why the others are answered for without a server.
var errLate = errors.New("mcpgate: the server takes longer than the others wait")

// gather asks all servers at the same time and returns what they say in their order. Once
// one has answered, the others have the grace; what a server says after that goes to late,
// which may be nil. The goroutines belong to the gateway.
func gather[T any](ctx context.Context, p *peer, ask func(*conn) (T, error), late func(said[T])) []said[T] {
	list := make([]said[T], len(p.conns))
	var mu sync.Mutex
	over := false
	arrived := make(chan error, len(p.conns))
	for i, c := range p.conns {
		list[i] = said[T]{conn: c, err: errLate}
		p.g.work.Go(func() {
			s := said[T]{conn: c}
			s.value, s.err = caught(func() (T, error) { return ask(c) })
			mu.Lock()
			missed := over
			if !missed {
				list[i] = s
			}
			mu.Unlock()
			arrived <- s.err
			if missed && late != nil {
				late(s)
			}
		})
	}
	var enough <-chan time.Time
wait:
	for range p.conns {
		select {
		case err := <-arrived:
			if err == nil && enough == nil {
				enough = time.After(grace)
			}
		case <-enough:
			break wait
		case <-ctx.Done():
			break wait
		}
	}
	mu.Lock()
	defer mu.Unlock()
	over = true
	for i := range list {
		if ctx.Err() != nil && errors.Is(list[i].err, errLate) {
			list[i].err = context.Cause(ctx)
		}
	}
	return list
}

// caught makes an error of a panic: on a goroutine of its own nothing else would.
func caught[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("mcpgate: panic: %v", fault)
		}
	}()
	return f()
}

// enter introduces the client to a server for the first time. Until that is over, no
// other message goes there; a server that cannot be talked to is asked again later, as
// one that failed.
func (c *conn) enter(ctx context.Context, h *hello, x *exchange) (link.Reply, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	c.mu.Lock()
	c.entering = cancel
	c.mu.Unlock()
	r, err := caught(func() (link.Reply, error) { return c.introduce(ctx, h, x) })
	if err == nil {
		err = welcomed(r)
	}
	c.mu.Lock()
	c.entering = nil
	l := c.link
	if err != nil && l != nil {
		c.gone()
	}
	c.mu.Unlock()
	if err != nil && l != nil {
		c.p.g.work.Go(func() { _ = l.Close() })
	}
	return r, err
}

// welcomed is why the answer to initialize does not let the client in.
func welcomed(r link.Reply) error {
	switch {
	case r.Message.Kind == jsonrpc.Failure:
		return errRefused
	case !known(r):
		return errRevision
	}
	return nil
}

var (
	errRefused  = errors.New("mcpgate: the server refuses to be initialized")
	errRevision = errors.New("mcpgate: the server speaks a revision that the gate does not know")
)

// arrive takes in a server that was introduced after the others had answered: the client
// hears that there are more tools.
func (p *peer) arrive(s said[link.Reply]) {
	if s.err != nil {
		p.missing(s.conn, s.err)
		return
	}
	p.g.log.Info("a server is there now", "server", s.conn.name())
	p.mu.Lock()
	var ready []byte
	if p.hello != nil {
		ready = p.hello.initialized
	}
	p.mu.Unlock()
	if ready == nil {
		return // the client asks for its lists when it is ready
	}
	s.conn.send(context.Background(), "notifications/initialized", ready)
	p.out(jsonrpc.AppendRequest(nil, "", "notifications/tools/list_changed", nil))
}

// missing notes that the others are answered for without a server.
func (p *peer) missing(c *conn, err error) {
	if errors.Is(err, errCancelled) {
		return
	}
	p.g.log.Warn("a server is left out until it answers", "server", c.name(), "error", err)
}

// present returns the answers that came, and notes which servers are missing. Where none
// came, the first reason is the error.
func present[T any](p *peer, answers []said[T]) (here []said[T], none error) {
	for _, s := range answers {
		if s.err == nil {
			here = append(here, s)
			continue
		}
		p.missing(s.conn, s.err)
		if none == nil {
			none = s.err
		}
	}
	if len(here) > 0 {
		none = nil
	}
	return here, none
}
