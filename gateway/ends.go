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

// waste ends a response in which nothing can run any more and whose provider goes on
// with a denied call. A denied call that is shorter than cancel_after is read to its
// end, however slowly it comes: calls may follow it.
func (s *stream) waste() {
	drain := s.settings.AfterDeny == DrainUpstream
	switch {
	case drain && s.rounds.left > 0: // the model is answered, and all that it says is heard
	case !s.calls.allDenied() || !s.stream.CanCancel():
		s.watch.drainBy = time.Time{}
	case drain:
		s.watch.endBy(s.settings.Timeouts.DrainUpstream)
	case s.cuttable():
		s.cut()
	default: // comments are no sign that it goes on
		if s.watch.events != s.spoken {
			s.spoken, s.watch.drainBy = s.watch.events, time.Time{}
		}
		s.watch.endBy(s.settings.Timeouts.DrainUpstream)
	}
}

// cuttable reports whether one denied call of a response in which nothing else may run went
// on for cancel_after bytes behind its denial, by a verdict or by the codec. It is asked
// behind every event: which calls are made then does not depend on how the events arrive.
func (x *exchange) cuttable() bool {
	limit := x.settings.CancelAfter
	return x.settings.AfterDeny == CancelUpstream && x.stream.CanCancel() && (x.calls.overdue(limit) || x.stream.Vain() >= max(limit, 1))
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
		case !x.calls.allDenied() || !x.stream.CanCancel():
		case x.cuttable():
			x.interrupt()
		default:
			x.watch.endBy(x.settings.Timeouts.DrainUpstream)
		}
	})
}

// interrupt ends the reading of the upstream, which becomes a cut. Called with mu held.
func (x *exchange) interrupt() {
	if x.rounds.left > 0 && x.stop != nil { // the client may hear of more
		x.rounds.cut = true
		x.stop()
		return
	}
	x.cancel(errDenied)
}

// cut stops the upstream. The model is answered with what it had said so far (DECISIONS
// S7), or else the legal end of the response is written.
func (s *stream) cut() {
	can := s.stream.CanCancel()
	s.stopped = true
	on := can && s.readsOn()
	if !on {
		s.stop()
		s.body.Close()
	}
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
	if on {
		s.readOn()
	}
	if !can { // something began after the decision to stop: it has no end
		s.abort(stopgate.CodeStreamTruncated, "")
		return
	}
	outcomes := s.calls.releases(all)
	if n := len(outcomes); n > 0 {
		outcomes[n-1].Text += " " + wire.StoppedText
	}
	out, err := s.stream.Release(s.out, outcomes, nil)
	s.out = out
	s.keep(s.stream, nil)
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
	if s.later == nil {
		s.body.Close()
	}
}

// maxLinger is how much of an answer is read after its end.
const maxLinger = 64 << 10
