package mcpgate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
)

// gatherGrace is how long the response of one server waits for the others. Most clients
// time out after 30 or 60 seconds, which would disable all servers.
const gatherGrace = 20 * time.Second

// serverResult is the result of one of several servers.
type serverResult[T any] struct {
	conn  *conn
	value T
	err   error
}

// errLate is the error of a server that did not respond within gatherGrace.
var errLate = errors.New("mcpgate: the server did not respond in time; the other servers did")

// gather calls ask for all servers concurrently and returns the results in the order of the
// servers. After the first result the others have gatherGrace. A later result is passed to
// late, which may be nil. The gateway owns the goroutines.
func gather[T any](ctx context.Context, p *client, ask func(*conn) (T, error), late func(serverResult[T])) []serverResult[T] {
	list := make([]serverResult[T], len(p.conns))
	var mu sync.Mutex
	over := false
	arrived := make(chan error, len(p.conns))
	for i, c := range p.conns {
		list[i] = serverResult[T]{conn: c, err: errLate}
		p.g.work.Go(func() {
			s := serverResult[T]{conn: c}
			s.value, s.err = withRecover(func() (T, error) { return ask(c) })
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
				enough = time.After(gatherGrace)
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

// withRecover calls f and converts a panic into an error.
func withRecover[T any](f func() (T, error)) (value T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("mcpgate: panic: %v", fault)
		}
	}()
	return f()
}

// firstInitialize initializes a server for the first time. Until it returns, no other
// message is sent to the server. A server that fails is connected again later.
func (c *conn) firstInitialize(ctx context.Context, h *handshake, x *request) (link.Reply, error) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	c.mu.Lock()
	c.cancelInit = cancel
	c.mu.Unlock()
	r, err := withRecover(func() (link.Reply, error) { return c.openAndInitialize(ctx, h, x) })
	if err == nil {
		err = checkInitialize(r)
	}
	c.mu.Lock()
	c.cancelInit = nil
	l := c.link
	if err != nil && l != nil {
		c.markFailedLocked()
	}
	c.mu.Unlock()
	if err != nil && l != nil {
		c.p.g.work.Go(func() { _ = l.Close() })
	}
	return r, err
}

// checkInitialize returns an error if the response to initialize is a refusal or has an
// unknown version.
func checkInitialize(r link.Reply) error {
	switch {
	case r.Message.Kind == jsonrpc.ErrorResponse:
		return errRefused
	case !knownRevision(r):
		return errRevision
	}
	return nil
}

var (
	errRefused  = errors.New("mcpgate: the server refused initialize")
	errRevision = errors.New("mcpgate: the server responded with an unknown protocol version")
)

// addLate adds a server that was initialized after the response to the client, and notifies
// the client that the list of tools changed.
func (p *client) addLate(s serverResult[link.Reply]) {
	if s.err != nil {
		p.logMissing(s.conn, s.err)
		return
	}
	p.g.log.Info("a server is connected now", "server", s.conn.name())
	p.mu.Lock()
	var ready []byte
	if p.handshake != nil {
		ready = p.handshake.notification
	}
	p.mu.Unlock()
	if ready == nil {
		return // the client has not sent notifications/initialized yet
	}
	s.conn.send(context.Background(), "notifications/initialized", ready)
	p.sendUnsolicited(jsonrpc.AppendRequest(nil, "", "notifications/tools/list_changed", nil))
}

// logMissing logs that a response does not include a server.
func (p *client) logMissing(c *conn, err error) {
	if errors.Is(err, errCancelled) {
		return
	}
	p.g.log.Warn("a response omits a server that did not respond", "server", c.name(), "error", err)
}

// succeeded returns the successful results and logs the failed ones. If all failed, it
// returns the first error.
func succeeded[T any](p *client, answers []serverResult[T]) (here []serverResult[T], none error) {
	for _, s := range answers {
		if s.err == nil {
			here = append(here, s)
			continue
		}
		p.logMissing(s.conn, s.err)
		if none == nil {
			none = s.err
		}
	}
	if len(here) > 0 {
		none = nil
	}
	return here, none
}
