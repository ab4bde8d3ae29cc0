package chain

import (
	"strings"

	"github.com/stopgate/stopgate/gateway/events"
)

// stream implements [events.Stream].
type stream struct {
	finished bool
	first    string          // output of the running hook
	out      strings.Builder // the same, after more than one send
	call     *events.Call    // call that OnToolCallComplete decides about
	sent     bool            // call was sent
	readOnly bool            // the running hook cannot send
	dropped  int             // number of chunks after the end of the output
}

// Send implements [events.Stream].
func (s *stream) Send(c events.Chunk) error {
	if c.Call == nil {
		return s.SendText(c.Text, false)
	}
	switch {
	case s.finished:
		return events.ErrFinished
	case c.Call != s.call:
		return events.ErrNotAllowed
	case s.sent || s.first != "":
		return events.ErrAlreadySent
	}
	s.sent = true
	return nil
}

// SendText implements [events.Stream].
func (s *stream) SendText(text string, finish bool) error {
	switch {
	case s.finished:
		return events.ErrFinished
	case s.readOnly:
		return events.ErrNotAllowed
	case s.sent && text != "":
		return events.ErrAlreadySent
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

// MarkOutputFinished implements [events.Stream].
func (s *stream) MarkOutputFinished() { s.finished = true }

// IsOutputFinished implements [events.Stream].
func (s *stream) IsOutputFinished() bool { return s.finished }

// Dropped implements [events.Stream].
func (s *stream) Dropped() int { return s.dropped }

// takeOutput returns the output of the hook.
func (s *stream) takeOutput() string {
	text := s.first
	if s.out.Len() > 0 {
		text = s.out.String()
		s.out.Reset()
	}
	s.first = ""
	return text
}
