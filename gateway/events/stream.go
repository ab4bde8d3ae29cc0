package events

import "errors"

// Errors of a stream.
var (
	// ErrFinished: the policy has ended its output.
	ErrFinished = errors.New("events: the output is finished")
	// ErrNotAllowed: only OnToolCallComplete can send a call, and only its own; OnToolCallDelta cannot
	// send anything.
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
	// Dropped returns the number of text chunks and calls that were dropped after the end of the
	// output.
	Dropped() int
}
