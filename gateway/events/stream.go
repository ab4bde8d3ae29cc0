package events

import "errors"

// Errors of a stream.
var (
	// ErrFinished: the policy has ended its output.
	ErrFinished = errors.New("events: the output is finished")
	// ErrNotAllowed: a hook for calls can only send its own call, and only OnToolCallComplete can send
	// text instead of it. Where a policy has both hooks, OnToolCallDelta sends nothing.
	ErrNotAllowed = errors.New("events: the running hook cannot send this")
	// ErrAlreadySent: a call is either sent or replaced by text, once.
	ErrAlreadySent = errors.New("events: the call was already sent or replaced")
)

// Stream is the output of one policy in one exchange. Only the running hook may use it. The gateway
// implements it; a test of a policy can bring its own.
type Stream interface {
	// Send sends a chunk to the next policy or to the client. It returns an error after the end of
	// the output.
	Send(Chunk) error
	// SendText sends text. If finish is true, it also ends the output.
	SendText(text string, finish bool) error
	// MarkOutputFinished ends the output of the policy. Its hooks are still called, so that it
	// observes the whole response, but later text and calls are dropped.
	MarkOutputFinished()
	// IsOutputFinished reports whether the output has ended.
	IsOutputFinished() bool
	// DropSilently drops the call that the hook decides about. The client reads nothing in its place;
	// without it, a notice. The record of the call is the same.
	DropSilently() error
	// Await runs work, such as a request to a reviewer, outside of the order of hooks: meanwhile
	// OnToolCallComplete of other calls may run. When Await returns, the hooks of earlier calls have
	// returned. work must use neither the stream nor the exchange. In other hooks it only runs work.
	Await(work func())
	// Stop ends the response after the output of the hook, and cancels the provider: nothing else is
	// sent, and no call of the response that is not released runs.
	Stop()
	// Dropped returns the number of text chunks and calls that were dropped after the end of the
	// output.
	Dropped() int
}
