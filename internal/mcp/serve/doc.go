// Package serve serves MCP clients over streamable HTTP and over standard input and output. It
// authenticates clients, keeps their sessions and frames messages; a [Gateway] handles the messages.
//
//	h := serve.NewHandler(gateway, serve.Options{Path: "/mcp", Hosts: []string{"127.0.0.1"}})
//	h.SetTokens(tokens)
//	...
//	err := serve.Stdio(ctx, gateway, owner, os.Stdin, os.Stdout, log)
//
// A client of HTTP needs a token, and its Host and Origin headers must be known (G9). A session is
// valid for the principal that opened it.
package serve

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/session"
)

// Gateway handles the messages of clients.
type Gateway interface {
	// NewClient returns a new client. The caller must close it.
	NewClient(o session.Owner, c Connection) Client
	// RefuseText returns the response to a text that is not a valid message, nil for none. A tool
	// call in it is recorded (G8).
	RefuseText(ctx context.Context, o session.Owner, err error) []byte
	// RefuseCall records a tools/call that is refused before it is evaluated.
	RefuseCall(ctx context.Context, o session.Owner, m *jsonrpc.Message, code stopgate.Code)
	// Wait waits for work that outlives its request.
	Wait()
}

// Connection is the way to a client.
type Connection struct {
	Stdio       bool   // standard input and output
	Sessionless bool   // all requests of an owner in the revision without sessions
	Session     string // id of an HTTP session, "" otherwise
	// Send sends a message that belongs to no request of the client. It reports whether there is a
	// way to the client, and may be nil.
	Send func(text []byte) bool
}

// Client is one client: the process at the other end of standard input, an HTTP session, or all
// requests of an owner in the revision without sessions. It is safe for concurrent use.
type Client interface {
	// Begin registers a request and returns the function that handles it. send writes messages
	// on the request's stream; header returns headers that mirror the body, and is nil if there are
	// none. ok is false if the id is in use or too many requests are open.
	Begin(ctx context.Context, m *jsonrpc.Message, send func(text []byte) bool, header func(name string) (string, bool)) (handle func() Reply, ok bool)
	// HandleMessage handles a notification or a response.
	HandleMessage(ctx context.Context, m *jsonrpc.Message)
	// Initialized reports whether the client has initialized its session.
	Initialized() bool
	// Handshake returns how the client initialized its session, and Resume goes on with a session
	// that was initialized so at another gate.
	Handshake() []byte
	Resume(handshake []byte) error
	// ExpectsPrimer reports whether the client expects an event without data at the start of a
	// stream.
	ExpectsPrimer() bool
	// Busy reports whether a request is open.
	Busy() bool
	// SendToNewest sends a message on the stream of the newest request. It reports whether there
	// is one.
	SendToNewest(text []byte) bool
	// Missed records that the client may have missed messages.
	Missed()
	// Close closes the connections to servers.
	Close()
}
