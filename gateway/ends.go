package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/provider"
)

// This file implements the early ends of a streamed response. Each writes a legal end in the
// dialect's format (L6, L10).

// waste ends a response in which no call can run any longer and whose provider continues a denied
// call. A denied call shorter than cancel_after is read to its end, however slowly it arrives,
// because other calls may follow it.
func (s *stream) waste() {
	drain := s.settings.AfterDeny == DrainUpstream
	switch {
	case drain && s.rounds.left > 0: // the model will be answered, so its whole response is needed
	case !s.calls.AllDenied() || !s.stream.CanCancel():
		s.watch.drainBy = time.Time{}
	case drain:
		s.watch.endBy(s.settings.Timeouts.DrainUpstream)
	case s.mayCancel():
		s.cutShort()
	default: // comments are not a sign of progress
		if s.watch.events != s.spoken {
			s.spoken, s.watch.drainBy = s.watch.events, time.Time{}
		}
		s.watch.endBy(s.settings.Timeouts.DrainUpstream)
	}
}

// mayCancel reports whether, in a response in which no other call can run, one denied call continued
// for cancel_after bytes after its denial by a verdict or by the codec. It is evaluated after every
// event, so the calls of a response do not depend on how events arrive.
func (x *exchange) mayCancel() bool {
	limit := x.settings.CancelAfter
	return x.settings.AfterDeny == CancelUpstream && x.stream.CanCancel() && (x.calls.Overdue(limit) || x.stream.LateBytes() >= max(limit, 1))
}

// await waits concurrently for the approval of a call while its response is still streaming. A
// denial that arrives while the provider is silent ends the response (S1). A stream that receives
// events notices it by itself.
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
		x.calls.Refresh()
		switch {
		case x.calls.Denied > 0 && x.settings.OnDeny == DenyError:
			x.cancel(errDenied)
		case !x.calls.AllDenied() || !x.stream.CanCancel():
		case x.mayCancel():
			x.interrupt()
		default:
			x.watch.endBy(x.settings.Timeouts.DrainUpstream)
		}
	})
}

// interrupt stops reading the upstream, which leads to cutShort. mu must be locked.
func (x *exchange) interrupt() {
	if x.rounds.left > 0 && x.provider.stop != nil { // the client may receive more
		x.rounds.cancelled = true
		x.provider.stop()
		return
	}
	x.cancel(errDenied)
}

// endsEarly reports whether a policy has stopped the response and it can be ended now.
func (s *stream) endsEarly() bool {
	return s.policies.Stopped() && s.enforced && s.stream.CanStop()
}

// cutShort cancels the upstream. It answers the model with the response so far (S7), or else writes
// the legal end of the response.
func (s *stream) cutShort() {
	can := s.stream.CanCancel() || s.endsEarly()
	s.provider.cancelled = true
	on := can && s.readsOn()
	if !on {
		s.provider.stop()
		s.body.Close()
	}
	if s.policies.Stopped() {
		s.unlocked(func() { s.calls.AskPolicies(s.records, s.calls.Unresolved()) })
	}
	s.stream.Cancel()
	s.calls.DropEnded()
	all := s.calls.Unresolved()
	write := func() { s.calls.ResolveAll(s.records, all) } // already denied: this only writes the rows
	if s.calls.Watched {
		s.unlocked(write) // and notifies the event policies, which may block
	} else {
		write()
	}
	if !s.policies.Stopped() && s.continueRound(all) {
		return
	}
	s.over = true
	s.cancel(errDenied)
	if on {
		s.readOn()
	}
	if !can { // something started after the decision to cancel and has no end
		s.abort(stopgate.CodeStreamTruncated, "")
		return
	}
	outcomes := s.calls.Releases(all)
	if n := len(outcomes); n > 0 && !s.policies.Stopped() {
		outcomes[n-1].Text += " " + provider.StoppedText
	}
	out, err := s.stream.Release(s.out, outcomes, nil)
	s.out = out
	s.keep(s.stream, nil)
	if err != nil {
		s.abortFor(err)
	}
}

// cancelUpstream cancels the upstream request, so that the provider generates no further tokens.
func (s *stream) cancelUpstream() {
	s.provider.cancelled = true
	s.cancel(errDenied)
	s.body.Close()
}

// denyAll ends the response because one call was denied and denials are reported as errors: it
// cancels the calls that are not released (S42).
func (s *stream) denyAll() {
	s.cancelUpstream()
	code, message := s.calls.GiveUp(s.records)
	s.abort(code, message)
}

// abortFor ends the response because the codec cannot continue.
func (s *stream) abortFor(err error) {
	code, message := stopgate.CodeProtocolViolation, ""
	var bad *provider.StreamError
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

// endOfInput handles the end of the upstream's body or a read error.
func (s *stream) endOfInput() {
	// A hook that stops the response cancels the provider, perhaps after its last event.
	stopped := s.policies.Stopped() && errors.Is(s.err, context.Canceled) && !s.stream.CanStop()
	if (s.err == io.EOF || stopped) && context.Cause(s.ctx) == nil {
		out, need, err := s.stream.EOF(s.out, s.buf.decoder.Tail())
		s.out = out
		s.over = true
		switch {
		case err != nil:
			s.abortFor(err)
		case need == provider.Resolve:
			s.release()
		}
		return
	}
	if s.rounds.cancelled || s.policies.Stopped() && s.stream.CanStop() || errors.Is(context.Cause(s.ctx), errDenied) {
		s.cutShort() // draining took too long
		return
	}
	code, message := s.provider.why(s.err)
	s.abort(code, message)
}

// finish reads briefly after the end of the response, so that the connection can be reused, and
// closes the body.
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

// maxLinger limits the bytes that are read after the end of a response.
const maxLinger = 64 << 10
