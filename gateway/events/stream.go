package events

import (
	"errors"
	"strings"
)

// What a stream answers to a hook that asks for what cannot be.
var (
	// ErrFinished: the policy has finished its output (V3-06).
	ErrFinished = errors.New("events: the output is finished")
	// ErrNotHere: a call can be sent by OnToolCallComplete alone, and only the one that
	// it is asked about; OnToolCallDelta sends nothing.
	ErrNotHere = errors.New("events: this cannot be sent here")
	// ErrTwice: a call goes on, or text takes its place, not both.
	ErrTwice = errors.New("events: the call was sent on or replaced already")
)

// Stream is the output of one policy in one exchange (V3-05). Hooks cannot reach what
// lies behind it (V3-08). It belongs to the hook that runs.
type Stream struct {
	finished bool
	first    string          // sent by the hook that runs
	out      strings.Builder // the same, where it sent more than once
	call     *Call           // that OnToolCallComplete is asked about
	sent     bool            // it was sent on
	mute     bool            // the hook can only look
	dropped  int             // what came after the end and went nowhere
}

// Send sends a chunk to the policy behind this one, or to the client. After the end of
// the output it is an error.
func (s *Stream) Send(c Chunk) error {
	if c.call == nil {
		return s.SendText(c.text, false)
	}
	switch {
	case s.finished:
		return ErrFinished
	case c.call != s.call:
		return ErrNotHere
	case s.sent || s.first != "":
		return ErrTwice
	}
	s.sent = true
	return nil
}

// SendText sends text. With finish it is the last of this policy's output.
func (s *Stream) SendText(text string, finish bool) error {
	switch {
	case s.finished:
		return ErrFinished
	case s.mute:
		return ErrNotHere
	case s.sent && text != "":
		return ErrTwice
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

// MarkOutputFinished ends the output of the policy. Its hooks are called on, so that it
// sees the whole response (V3-07); texts and calls that come now go no further.
func (s *Stream) MarkOutputFinished() { s.finished = true }

// IsOutputFinished reports whether the output has ended.
func (s *Stream) IsOutputFinished() bool { return s.finished }

// Dropped counts the pieces of text and the calls that would have gone on by themselves
// and came after the end.
func (s *Stream) Dropped() int { return s.dropped }

// take returns what the hook has sent.
func (s *Stream) take() string {
	text := s.first
	if s.out.Len() > 0 {
		text = s.out.String()
		s.out.Reset()
	}
	s.first = ""
	return text
}
