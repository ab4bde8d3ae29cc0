package gateway

import (
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// observe forwards a response unchanged, even if it is malformed, and evaluates it concurrently.
// The codec's output is discarded, and every row has enforced = false (K38).
func (s *stream) observe() {
	judging := true
	for s.err == nil && s.client.broken == nil {
		s.read()
		if err := s.client.events(s.fresh, time.Now()); err != nil {
			s.fault = stopgate.CodeClientGone
			s.cancel(errClientGone)
		}
		judging = judging && s.judge()
		s.showUnseen()
		s.account()
	}
	switch {
	case s.client.broken != nil:
	case s.err != io.EOF:
		s.fault, _ = s.provider.why(s.err)
		s.out = s.stream.Abort(s.out[:0], s.fault, "")
	case judging:
		var need provider.Need
		if s.out, need, _ = s.stream.EOF(s.out[:0], s.buf.decoder.Tail()); need == provider.Resolve {
			s.settle()
		}
	}
	s.out = s.out[:0]
	s.cancel(errOver)
	s.body.Close()
}

// judge evaluates the complete events that were read. It reports whether the rest of the stream can
// be evaluated.
func (s *stream) judge() bool {
	ev := &s.buf.event
	for {
		ok, err := s.buf.decoder.Next(ev)
		if err != nil {
			s.out = s.stream.Abort(s.out[:0], stopgate.CodeLimitExceeded, "")
			return false
		}
		if !ok {
			s.calls.Feed()
			return true
		}
		out, need, err := s.stream.Event(s.out[:0], ev)
		s.out = out
		switch {
		case err != nil:
			s.out = s.stream.Abort(s.out[:0], stopgate.CodeProtocolViolation, "")
			return false
		case need == provider.Resolve:
			s.settle()
		case need == provider.Finished:
			s.keep(s.stream, nil)
		}
	}
}

// settle resolves the calls of a turn. Their outcomes have no effect.
func (s *stream) settle() {
	due := s.calls.Due()
	s.unlocked(func() { s.calls.ResolveAll(s.ctx, due) })
	s.out, _ = s.stream.Release(s.out[:0], s.calls.Releases(due), nil)
	s.keep(s.stream, nil)
}
