package gateway

import (
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/header"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// readBuffer is the size of the upstream connection's buffer, which one read returns.
const readBuffer = upstream.ReadBuffer

// waitBuffer is the size of a stream's own buffer, in which it waits for the next event: most events
// are smaller. A stream whose reads fill it borrows a larger one while they do.
const waitBuffer = 2 << 10

// buffers are the buffers of a waiting stream, pooled.
type buffers struct {
	in      [waitBuffer]byte
	decoder sse.Decoder
	event   sse.Event
}

// serveStream serves an event stream. The stack frames of the functions in which it blocks are kept
// small: they are part of the memory of an idle stream.
func (x *exchange) serveStream(answer *http.Response, content io.Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.openStream(answer, content)
	defer func() {
		if x.later == nil {
			s.free()
		}
	}()
	if x.enforced {
		s.run()
	} else {
		s.observe()
	}
	x.rememberStream()
	if (x.notes.UsageEstimated || x.sum.estimated) && x.enforced {
		x.client.Header().Set(http.TrailerPrefix+"X-Stopgate-Usage-Estimated", "true")
	}
	if x.fault != "" || x.client.broken != nil {
		// The only end that no client treats as a complete response.
		panic(http.ErrAbortHandler)
	}
}

// rememberStream stores the notes of a stream. It is not inlined because notes are large and would
// stay on the stack of every waiting stream.
//
//go:noinline
func (x *exchange) rememberStream() { x.remember(x.stream.Notes()) }

// openStream writes the response header and creates the codec.
func (x *exchange) openStream(answer *http.Response, content io.Reader) *stream {
	g := x.g
	buf := g.buffers.Get().(*buffers)
	buf.decoder.Reset(buf.in[:], sse.Limits{MaxEvent: x.settings.Limits.Event, Pool: &g.lent})
	h := x.client.Header()
	header.Answer(h, answer.Header)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Stopgate-Upstream", x.upstream.ID)
	x.client.start(answer.StatusCode)
	if err := x.client.rc.Flush(); err != nil {
		x.client.broken = err
	}
	x.stream = x.dialect.Stream(x.req, &x.calls, x.options(x.settings.Limits.Event))
	return &stream{exchange: x, body: answer.Body, raw: content, content: x.texts(content), buf: buf}
}

// options returns the codec's options with a limit for one unit.
func (x *exchange) options(maxBytes int) provider.Options {
	o := provider.Options{
		ObjectArguments: x.upstream.ObjectArguments, PassItems: x.settings.PassItems, MaxCalls: x.settings.Limits.Calls,
		MaxBuffered: int(x.settings.Limits.HeldResponse), MaxBytes: maxBytes,
	}
	if x.sources != nil {
		o.Result, o.Message = x.sources.Result, x.sources.Message
	}
	return o
}

// stream is a streamed response. Its methods require the exchange's mutex to be locked, and unlock
// it only while they wait for the upstream or the gate.
type stream struct {
	*exchange
	body    io.Closer // closes the response
	raw     io.Reader // decoded body
	content io.Reader // raw after the event policies
	buf     *buffers
	fresh   []byte // bytes of the last read
	out     []byte // output that is not written yet
	err     error  // error of the last read
	over    bool   // the end of the response is written
	spoken  int    // watch.events when the stream last drained the provider
}

// run processes the response to its end: one read, all its events, one write, one flush.
func (s *stream) run() {
	for !s.over {
		s.read()
		spare := s.g.outputs.Get().(*output)
		s.out, s.calls.Batch = spare.p[:0], spare.batch[:0]
		s.events()
		if !s.over {
			s.afterRead()
		}
		s.account()
		s.flush()
		spare.p, spare.batch = s.out, s.calls.Batch
		s.out, s.calls.Batch = nil, nil
		if cap(spare.p) <= keptOutput {
			s.g.outputs.Put(spare)
		}
	}
	s.finish()
}

// afterRead acts on the events of one read.
func (s *stream) afterRead() {
	s.calls.Feed()
	s.showUnseen()
	s.calls.Refresh()
	switch {
	case s.endsEarly():
		s.cutShort()
	case s.calls.Denied > 0 && s.settings.OnDeny == DenyError:
		s.denyAll()
	case s.err != nil:
		s.endOfInput()
	default:
		s.waste()
	}
}

// showUnseen passes buffered arguments to the event policies.
func (s *stream) showUnseen() {
	if s.calls.Unseen() {
		s.unlocked(s.calls.Show)
	}
}

// read waits for the upstream. It invalidates the decoder's events.
func (s *stream) read() {
	s.fresh = s.buf.decoder.Space()
	s.watch.awaitUpstream()
	s.unlocked(s.readUnlocked)
	s.watch.reading = false
	s.watch.read = time.Now()
	s.observed.first(s.watch.read)
	s.buf.decoder.Filled(len(s.fresh))
}

func (s *stream) readUnlocked() {
	n, err := s.content.Read(s.fresh)
	s.fresh, s.err = s.fresh[:n], err
}

// unlocked unlocks the mutex while f runs. A panic in f finds it locked again.
func (s *stream) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}

// events processes every complete event that was read.
func (s *stream) events() {
	ev := &s.buf.event
	for !s.over {
		s.repeats()
		ok, err := s.buf.decoder.Next(ev)
		if err != nil {
			s.abort(stopgate.CodeLimitExceeded, "The model's answer exceeds a size limit.")
			return
		}
		if !ok {
			return
		}
		if ev.Dispatched {
			s.watch.events++
		}
		s.event(ev)
		if !s.over && s.calls.AllDenied() && s.mayCancel() {
			s.showUnseen()
			s.cutShort()
		}
	}
}

// repeats processes a batch of events that only repeat the last one with other text, if no
// component needs the individual events.
func (s *stream) repeats() {
	to, ok := s.stream.(provider.BatchStream)
	if !ok || s.calls.Watched || s.rounds.recording() && !s.rounds.apart {
		return
	}
	for {
		out, size, n := to.EventBatch(s.out, s.buf.decoder.Rest())
		if s.out = out; size == 0 {
			return
		}
		s.buf.decoder.Skip(size)
		s.watch.events += n
	}
}

func (s *stream) event(ev *sse.Event) {
	if ev.Dispatched && !s.rounds.apart {
		s.rounds.record(ev.Data)
	}
	out, need, err := s.stream.Event(s.out, ev)
	s.out = out
	switch {
	case err != nil:
		s.abortFor(err)
	case s.calls.Err != nil:
		s.abort(stopgate.CodePolicyError, "")
	case need == provider.Resolve:
		s.release()
	case need == provider.Finished:
		s.keep(s.stream, nil)
		s.over = true
	}
}

// release ends the choices that have ended.
func (s *stream) release() {
	due := s.calls.Due()
	s.resolve(due)
	if s.calls.Denied > 0 && s.settings.OnDeny == DenyError {
		s.denyAll()
		return
	}
	if s.continueRound(due) || !s.reportEnd() {
		return
	}
	outcomes := s.calls.Releases(due)
	out, err := s.stream.Release(s.out, outcomes, s.client.put)
	s.out = out
	s.keep(s.stream, nil)
	if err != nil && s.client.broken == nil {
		s.abortFor(err)
		return
	}
	s.flush()
	if s.client.broken == nil {
		s.calls.Delivered(outcomes)
	}
}

// resolve waits for the gate: approvals and the audit row of every call. Output that is ready is
// written before.
func (s *stream) resolve(due []int) {
	s.flush()
	s.watch.awaitGate()
	s.unlocked(func() { s.calls.ResolveAll(s.ctx, due) })
	s.watch.resolving = false
	s.watch.read = time.Now()
}
