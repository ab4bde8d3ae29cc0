package chain

import (
	"strings"
	"sync/atomic"

	"github.com/stopgate/stopgate/gateway/events"
)

// output is the state of a policy's output in an exchange.
type output struct {
	finished atomic.Bool
	by       atomic.Pointer[call] // whose hook finished it, or nil
	dropped  atomic.Int64         // number of chunks after the end of the output
}

// finish ends the output.
func (o *output) finish(by *call) {
	if !o.finished.Load() {
		o.by.Store(by)
		o.finished.Store(true)
	}
}

// stream is the output of one hook. It implements [events.Stream].
type stream struct {
	*output
	job      *job
	first    string          // output of the running hook
	out      strings.Builder // the same, after more than one send
	call     *events.Call    // call that the hook decides about
	sent     bool            // call was sent
	silent   bool            // call is dropped without a notice
	readOnly bool            // the hook cannot send text
}

// Send implements [events.Stream].
func (s *stream) Send(c events.Chunk) error {
	if c.Call == nil {
		return s.SendText(c.Text, false)
	}
	switch {
	case s.finished.Load():
		return events.ErrFinished
	case c.Call != s.call:
		return events.ErrNotAllowed
	case s.sent || s.first != "" || s.silent:
		return events.ErrAlreadySent
	}
	s.sent = true
	return nil
}

// SendText implements [events.Stream].
func (s *stream) SendText(text string, finish bool) error {
	switch {
	case s.finished.Load():
		return events.ErrFinished
	case s.readOnly:
		return events.ErrNotAllowed
	case (s.sent || s.silent) && text != "":
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
	if finish {
		s.MarkOutputFinished()
	}
	return nil
}

// DropSilently implements [events.Stream].
func (s *stream) DropSilently() error {
	switch {
	case s.call == nil:
		return events.ErrNotAllowed
	case s.sent || s.first != "":
		return events.ErrAlreadySent
	}
	s.silent = true
	return nil
}

// MarkOutputFinished implements [events.Stream].
func (s *stream) MarkOutputFinished() {
	var by *call
	if s.job != nil {
		by = s.job.call
	}
	s.finish(by)
}

// IsOutputFinished implements [events.Stream].
func (s *stream) IsOutputFinished() bool { return s.finished.Load() }

// Dropped implements [events.Stream].
func (s *stream) Dropped() int { return int(s.dropped.Load()) }

// Await implements [events.Stream].
func (s *stream) Await(work func()) {
	if s.job == nil {
		work()
		return
	}
	s.job.await(work)
}

// Stop implements [events.Stream].
func (s *stream) Stop() {
	s.MarkOutputFinished()
	if s.job != nil && s.job.run.stopped.CompareAndSwap(false, true) && s.job.run.stop != nil {
		s.job.run.stop()
	}
}

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
