package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
)

// Call is one message to a server.
type Call struct {
	Text   []byte     // without a line feed
	ID     jsonrpc.ID // of a request, unique on the link; "" otherwise
	Method string     // of a request or notification
	// Version is the negotiated protocol revision, "" before it is known. HTTP only.
	Version string
	// Headers are the headers that mirror the message. HTTP only.
	Headers map[string]string
	// OnMessage is called for every message that the server sends on the request's stream
	// before the response, in order. It must not retain the message.
	OnMessage func(*jsonrpc.Message)
}

// Reply is the response to a request.
type Reply struct {
	Message *jsonrpc.Message // a Response or a Failure
	Status  int              // HTTP status, 0 for a process
	Stream  bool             // the response was an event of a stream
}

// Link is a connection to one server. It is safe for concurrent use.
type Link interface {
	// Call sends a request and waits for its response. If ctx ends, Call cancels the
	// request as the transport defines it and returns the cause of ctx.
	Call(ctx context.Context, c *Call) (Reply, error)
	// Send sends a notification or a response.
	Send(ctx context.Context, c *Call) error
	// Done is closed when the link is dead.
	Done() <-chan struct{}
	// Close closes the link and waits until its resources are released.
	Close() error
}

// Traced is a [Link] that describes its connection for traces.
type Traced interface{ ConnInfo() ConnInfo }

// ConnInfo describes the connection of a link.
type ConnInfo struct {
	Transport string // "pipe" or "tcp"
	Protocol  string // "http", "" for none
	Address   string // HOST:PORT, "" for a process
	Session   string // assigned by the server, "" for none
}

// ErrDead is the error of a link that failed or was closed.
var ErrDead = errors.New("link: connection to the server is closed")

// StatusError is an HTTP response that contains no message.
type StatusError struct{ Status int }

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("link: the server answered HTTP %d", e.Status)
}

// InvalidResponseError is a response of a server that is not a valid message.
type InvalidResponseError struct{ Cause error }

// Error implements error.
func (e *InvalidResponseError) Error() string {
	return "link: invalid response from the server: " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *InvalidResponseError) Unwrap() error { return e.Cause }

// Events are callbacks for events outside of requests. Every field may be nil.
type Events struct {
	// Unsolicited is called for messages that belong to no request of the link. It must not
	// retain the message.
	Unsolicited func(*jsonrpc.Message)
	// Dropped is called with a description of input that was dropped: text that is not a
	// message, or a response to an unknown request.
	Dropped func(what string)
}

func (e *Events) unsolicited(m *jsonrpc.Message) {
	if e.Unsolicited != nil {
		e.Unsolicited(m)
	}
}

func (e *Events) dropped(what string) {
	if e.Dropped != nil {
		e.Dropped(what)
	}
}
