package events

import (
	"errors"
	"strings"
)

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

// Stream is the output of one policy in one exchange. Only the running hook may use it.
type Stream struct {
	finished bool
	first    string          // output of the running hook
	out      strings.Builder // the same, after more than one send
	call     *Call           // call that OnToolCallComplete decides about
	sent     bool            // call was sent
	readOnly bool            // the running hook cannot send
	dropped  int             // number of chunks after the end of the output
}

// Send sends a chunk to the next policy or to the client. It returns an error after the end of the
// output.
func (s *Stream) Send(c Chunk) error {
	if c.call == nil {
		return s.SendText(c.text, false)
	}
	switch {
	case s.finished:
		return ErrFinished
	case c.call != s.call:
		return ErrNotAllowed
	case s.sent || s.first != "":
		return ErrAlreadySent
	}
	s.sent = true
	return nil
}

// SendText sends text. If finish is true, it also ends the output.
func (s *Stream) SendText(text string, finish bool) error {
	switch {
	case s.finished:
		return ErrFinished
	case s.readOnly:
		return ErrNotAllowed
	case s.sent && text != "":
		return ErrAlreadySent
	}
	switch {
	case s.first == "":
		s.first = text
	case s.out.Len() == 0:
		s.out.WriteString(s.first)
		fallthrough
	default:
		s.out.WriteString(text)
	}
	s.finished = finish
	return nil
}

// MarkOutputFinished ends the output of the policy. Its hooks are still called, so that it observes
// the whole response, but later text and calls are dropped.
func (s *Stream) MarkOutputFinished() { s.finished = true }

// IsOutputFinished reports whether the output has ended.
func (s *Stream) IsOutputFinished() bool { return s.finished }

// Dropped returns the number of text chunks and calls that were dropped after the end of the
// output.
func (s *Stream) Dropped() int { return s.dropped }

// takeOutput returns the output of the hook.
func (s *Stream) takeOutput() string {
	text := s.first
	if s.out.Len() > 0 {
		text = s.out.String()
		s.out.Reset()
	}
	s.first = ""
	return text
}
