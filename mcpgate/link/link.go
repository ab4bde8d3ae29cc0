package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Call is one message to a server.
type Call struct {
	Text   []byte     // one line
	ID     jsonrpc.ID // of a request, unique on the link; "" for everything else
	Method string     // of a request or notification
	// Version is the revision in force, "" before it is known. HTTP only.
	Version string
	// Headers are those that mirror the message in revisions that want it. HTTP only.
	Headers map[string]string
	// On is told of every message that the server sends on the request's stream before
	// the response, in order; the message must not be kept.
	On func(*jsonrpc.Message)
}

// Reply is the response to a request.
type Reply struct {
	Message *jsonrpc.Message // a Response or a Failure
	Status  int              // of HTTP, 0 elsewhere
	Stream  bool             // it came as an event of a stream
}

// Link is a connection to one server. It is safe for concurrent use.
type Link interface {
	// Call sends a request and waits for its response. The end of ctx gives it up; what
	// the server is told then is the transport's matter.
	Call(ctx context.Context, c *Call) (Reply, error)
	// Send sends a notification or a response.
	Send(ctx context.Context, c *Call) error
	// Done is closed when the link is dead.
	Done() <-chan struct{}
	// Close ends it and waits until nothing of it is left.
	Close() error
}

// Placed is a [Link] that knows where it leads.
type Placed interface{ Place() Place }

// Place is where a link leads, for traces.
type Place struct {
	Transport string // "pipe" or "tcp"
	Protocol  string // "http", "" for none
	Address   string // HOST:PORT, "" for a process
	Session   string // that the server gave, "" for none
}

// ErrDead is the error of a link that failed or was closed.
var ErrDead = errors.New("link: the server is gone")

// StatusError is an HTTP answer that is no message.
type StatusError struct{ Status int }

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("link: the server answered HTTP %d", e.Status)
}

// Garbage says that a server's answer to a request is no message.
type Garbage struct{ Cause error }

// Error implements error.
func (e *Garbage) Error() string {
	return "link: the server's answer cannot be read: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Garbage) Unwrap() error { return e.Cause }

// Events are what a link tells about outside of requests. Every field may be nil.
type Events struct {
	// Stray is told of messages that belong to no request of the link. The message must
	// not be kept.
	Stray func(*jsonrpc.Message)
	// Noise is told of what was dropped: text that is no message, responses that
	// answer nothing.
	Noise func(what string)
}

func (e *Events) stray(m *jsonrpc.Message) {
	if e.Stray != nil {
		e.Stray(m)
	}
}

func (e *Events) noise(what string) {
	if e.Noise != nil {
		e.Noise(what)
	}
}
