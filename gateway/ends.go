package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/wire"
)

// This file holds the ways in which a streamed response ends, beside the proper
// one. Each writes a legal end in the dialect's form (WIRE L6, L10).

// A denied call that nothing follows yet cancels the upstream (WIRE 2.7, 4.6), but
// not at once: a call next to it that is on its way already shall not be lost for
// the sake of a few bytes. So long, or so many bytes of arguments for nothing, and
// no further call: then the provider is stopped.
const (
	graceTime  = 50 * time.Millisecond
	graceBytes = 256
)

// waste ends, in time, a response in which nothing can run any more.
func (s *stream) waste() {
	if s.rounds.left > 0 && s.settings.AfterDeny == DrainUpstream { // the model is answered, and all that it says is heard
		return
	}
	if !s.calls.allDenied() || !s.stream.CanCancel() {
		s.watch.drainBy = time.Time{}
		return
	}
	if s.settings.AfterDeny != DrainUpstream && s.calls.wasted >= graceBytes {
		s.cut()
		return
	}
	s.watch.endBy(s.patience())
}

// patience is how long a provider may go on for nothing.
func (x *exchange) patience() time.Duration {
	if x.settings.AfterDeny == DrainUpstream {
		return x.settings.Timeouts.DrainUpstream
	}
	return graceTime
}

// await watches a call that somebody is asked about while its response streams on:
// a no that comes while the provider is silent ends what waits for it (S1). A
// stream that works sees it by itself.
func (x *exchange) await(p *gate.Pending) {
	if x.stream == nil {
		return
	}
	x.asked.Go(func() {
		select {
		case <-x.ctx.Done():
			return
		case <-p.Done():
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if !x.watch.reading || x.stream.Pending() == 0 {
			return
		}
		x.calls.refresh()
		switch {
		case x.calls.denied > 0 && x.settings.OnDeny == DenyError:
			x.cancel(errDenied)
		case x.calls.allDenied() && x.stream.CanCancel():
			x.watch.endBy(x.patience())
		}
	})
}

// cut stops the upstream. The model is answered with what it had said so far (DECISIONS
// S7), or else the legal end of the response is written.
func (s *stream) cut() {
	can := s.stream.CanCancel()
	s.stopped = true
	s.stop()
	s.body.Close()
	s.stream.Cancel()
	s.calls.ended = s.calls.ended[:0]
	all := s.calls.unresolved()
	write := func() { s.calls.resolveAll(s.records, all) } // denied already: this only writes the rows
	if s.calls.watched {
		s.unlocked(write) // and tells the event policies, which may take their time
	} else {
		write()
	}
	if s.again(all) {
		return
	}
	s.over = true
	s.cancel(errDenied)
	if !can { // something began after the decision to stop: it has no end
		s.abort(stopgate.CodeStreamTruncated, "")
		return
	}
	out, err := s.stream.Release(s.out, s.calls.releases(all), nil)
	s.out = out
	if err != nil {
		s.abortFor(err)
	}
}

// cancelUpstream stops the provider: it generates no further token.
func (s *stream) cancelUpstream() {
	s.stopped = true
	s.cancel(errDenied)
	s.body.Close()
}

// denyAll ends the response because one call was denied and the form of a denial
// is an error: calls that are not released are given up with it (DECISIONS S42).
func (s *stream) denyAll() {
	s.cancelUpstream()
	code, message := s.calls.giveUp(s.records)
	s.abort(code, message)
}

// abortFor ends the response because the codec cannot go on.
func (s *stream) abortFor(err error) {
	code, message := stopgate.CodeProtocolViolation, ""
	var bad *wire.StreamError
	if errors.As(err, &bad) {
		code, message = bad.Code, bad.Message
	}
	s.abort(code, message)
}

// abort ends the response with the dialect's error event.
func (s *stream) abort(code stopgate.Code, message string) {
	s.over = true
	s.fault = code
	s.out = s.stream.Abort(s.out, code, message)
}

// endOfInput handles the end of the upstream's body, or what kept it from being
// read.
func (s *stream) endOfInput() {
	if s.err == io.EOF && context.Cause(s.ctx) == nil {
		out, need, err := s.stream.EOF(s.out, s.buf.decoder.Tail())
		s.out = out
		s.over = true
		switch {
		case err != nil:
			s.abortFor(err)
		case need == wire.Resolve:
			s.release()
		}
		return
	}
	if s.rounds.cut || errors.Is(context.Cause(s.ctx), errDenied) {
		s.cut() // the drain took too long
		return
	}
	code, message := s.why(s.err)
	s.abort(code, message)
}

// finish reads on for a moment after the response's end, so that the connection
// can be used again, and closes the answer.
func (s *stream) finish() {
	if s.err == nil && s.fault == "" && context.Cause(s.ctx) == nil {
		s.watch.drainBy = time.Now().Add(s.settings.Timeouts.Linger)
		s.watch.soon(s.settings.Timeouts.Linger)
		s.watch.reading = true
		s.unlocked(func() { _, _ = io.CopyN(io.Discard, s.content, maxLinger) })
		s.watch.reading = false
	}
	s.cancel(errOver)
	s.body.Close()
}

// maxLinger is how much of an answer is read after its end.
const maxLinger = 64 << 10
