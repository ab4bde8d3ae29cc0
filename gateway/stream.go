package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// readBuffer is the size of the buffer of one stream, and of the upstream
// connection's: one read takes everything that the connection has. Larger ones
// gain nothing and break the memory budget (DESIGN 8).
const readBuffer = 8 << 10

// buffers are what a stream keeps while it waits, used again by later streams.
type buffers struct {
	in      [readBuffer]byte
	decoder sse.Decoder
	event   sse.Event
}

// output is a buffer for what goes to the client. A stream has one only while it
// works: most streams wait most of the time.
type output struct {
	p     []byte
	batch []byte // of arguments, see calls
}

// The usual size of an output buffer, and the size up to which it is kept: what
// was read, with what is added to it, and what a codec collects of a large call.
const (
	usualOutput = readBuffer + readBuffer/2
	keptOutput  = 2 * wire.SpillSize
)

func itoa(n int) string { return strconv.Itoa(n) }

// serveStream serves an event stream. The frames of the functions in which it
// waits are kept small: their stack is a part of what an idle stream costs.
func (x *exchange) serveStream(answer *http.Response, content io.Reader) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.openStream(answer, content)
	defer x.g.buffers.Put(s.buf)
	if x.enforced {
		s.run()
	} else {
		s.observe()
	}
	s.notes()
	if x.fault != "" || x.broken != nil {
		// The only end that no client takes for a complete answer (WIRE 9.6).
		panic(http.ErrAbortHandler)
	}
}

// openStream sends the response's header and prepares the codec.
func (x *exchange) openStream(answer *http.Response, content io.Reader) *stream {
	g := x.g
	buf := g.buffers.Get().(*buffers)
	buf.decoder.Reset(buf.in[:], sse.Limits{MaxEvent: g.settings.Limits.Event})
	h := x.w.Header()
	answerHeader(h, answer.Header)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Stopgate-Upstream", x.upstream.ID)
	x.renew(time.Now())
	x.w.WriteHeader(answer.StatusCode)
	x.headed = true
	if err := x.rc.Flush(); err != nil {
		x.broken = err
	}
	x.stream = x.dialect.Stream(x.req, &x.calls, wire.Options{
		ObjectArguments: x.upstream.ObjectArguments, MaxCalls: g.settings.Limits.Calls,
		MaxHeld: int(g.settings.Limits.HeldResponse), MaxBytes: g.settings.Limits.Event,
	})
	return &stream{exchange: x, body: answer.Body, content: content, buf: buf}
}

// stream is a response that is being served. Its methods are called with the
// exchange's mutex held, and give it up only while they wait for the upstream or
// for the gate.
type stream struct {
	*exchange
	body    io.Closer // to stop the answer
	content io.Reader // what is in it
	buf     *buffers
	fresh   []byte // what the last read brought
	out     []byte // for the client, not written yet
	err     error  // of the last read
	over    bool   // the response has its end
}

// run reads to the end of the response: one read, all events in it, one write,
// one flush.
func (s *stream) run() {
	for !s.over {
		s.read()
		spare := s.g.outputs.Get().(*output)
		s.out, s.calls.batch = spare.p[:0], spare.batch[:0]
		s.events()
		if !s.over {
			s.afterRead()
		}
		s.account()
		s.flush()
		spare.p, spare.batch = s.out, s.calls.batch
		s.out, s.calls.batch = nil, nil
		if cap(spare.p) <= keptOutput {
			s.g.outputs.Put(spare)
		}
	}
	s.finish()
}

// afterRead looks at what the events of one read have brought.
func (s *stream) afterRead() {
	s.calls.feed()
	switch {
	case s.calls.denied > 0 && s.g.settings.OnDeny == DenyError:
		s.denyAll()
	case s.err != nil:
		s.endOfInput()
	default:
		s.waste()
	}
}

// read waits for the upstream. The decoder's events end their life here.
func (s *stream) read() {
	s.fresh = s.buf.decoder.Space()
	s.watch.reading = true
	s.unlocked(s.readUnlocked)
	s.watch.reading = false
	s.watch.read = time.Now()
	s.buf.decoder.Filled(len(s.fresh))
}

func (s *stream) readUnlocked() {
	n, err := s.content.Read(s.fresh)
	s.fresh, s.err = s.fresh[:n], err
}

// unlocked gives the mutex up while f waits. A panic in f finds it locked again.
func (s *stream) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}

// events handles every complete event that was read.
func (s *stream) events() {
	ev := &s.buf.event
	for !s.over {
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
	}
}

func (s *stream) event(ev *sse.Event) {
	out, need, err := s.stream.Event(s.out, ev)
	s.out = out
	switch {
	case err != nil:
		s.abortFor(err)
	case s.calls.err != nil:
		s.abort(stopgate.CodePolicyError, "")
	case need == wire.Resolve:
		s.release()
	case need == wire.Finished:
		s.over = true
	}
}

// release ends the choices that have ended.
func (s *stream) release() {
	due := s.calls.due()
	s.resolve(due)
	if s.calls.denied > 0 && s.g.settings.OnDeny == DenyError {
		s.denyAll()
		return
	}
	outcomes := s.calls.releases(due)
	out, err := s.stream.Release(s.out, outcomes, func(p []byte) error { return s.write(p, time.Now()) })
	s.out = out
	if err != nil && s.broken == nil {
		s.abortFor(err)
		return
	}
	s.flush()
	if s.broken == nil {
		s.calls.delivered(outcomes)
	}
}

// resolve waits for the gate: approvals and the audit row of every call. What can
// be written before is written before.
func (s *stream) resolve(due []int) {
	s.flush()
	s.watch.resolving = true
	s.unlocked(func() { s.calls.resolveAll(s.ctx, due) })
	s.watch.resolving = false
	s.watch.read = time.Now()
}

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
	if !s.calls.allDenied() || !s.stream.CanCancel() {
		s.watch.drainBy = time.Time{}
		return
	}
	patience := graceTime
	if s.g.settings.AfterDeny == DrainUpstream {
		patience = s.g.settings.Timeouts.DrainUpstream
	} else if s.calls.wasted >= graceBytes {
		s.cut()
		return
	}
	if s.watch.drainBy.IsZero() {
		s.watch.drainBy = time.Now().Add(patience)
		s.watch.soon(patience)
	}
}

// cut cancels the upstream and writes the legal end of the response.
func (s *stream) cut() {
	s.cancelUpstream()
	s.over = true
	s.stream.Cancel()
	s.calls.ended = s.calls.ended[:0]
	all := s.calls.unresolved()
	s.calls.resolveAll(s.records, all) // denied already: this only writes the rows
	out, err := s.stream.Release(s.out, s.calls.releases(all), nil)
	s.out = out
	if err != nil {
		s.abortFor(err)
	}
}

// cancelUpstream stops the provider: it generates no further token.
func (s *stream) cancelUpstream() {
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
		out, err := s.stream.EOF(s.out, s.buf.decoder.Tail())
		s.out = out
		s.over = true
		if err != nil {
			s.abortFor(err)
		}
		return
	}
	if errors.Is(context.Cause(s.ctx), errDenied) {
		s.cut() // the drain took too long
		return
	}
	code, message := s.why(s.err)
	s.abort(code, message)
}

// flush writes what there is for the client, at once.
func (s *stream) flush() {
	if len(s.out) == 0 && s.broken == nil {
		return
	}
	err := s.write(s.out, time.Now())
	s.out = s.out[:0]
	if err != nil {
		s.over = true
		s.fault = stopgate.CodeClientGone
		s.cancel(errClientGone)
	}
}

// finish reads on for a moment after the response's end, so that the connection
// can be used again, and closes the answer.
func (s *stream) finish() {
	if s.err == nil && s.fault == "" && context.Cause(s.ctx) == nil {
		s.watch.drainBy = time.Now().Add(s.g.settings.Timeouts.Linger)
		s.watch.soon(s.g.settings.Timeouts.Linger)
		s.watch.reading = true
		s.unlocked(func() { _, _ = io.CopyN(io.Discard, s.content, maxLinger) })
		s.watch.reading = false
	}
	s.cancel(errOver)
	s.body.Close()
}

// maxLinger is how much of an answer is read after its end.
const maxLinger = 64 << 10

// notes records what the response showed beside its calls (L10, L12).
func (s *stream) notes() {
	n := s.stream.Notes()
	for _, what := range n.NotEvaluated {
		s.unjudged(stopgate.CodeNotEvaluated, what)
	}
}

// maxChunk is what net/http writes as one chunk without an extra system call: its
// buffer of 4 KiB holds the chunk with its frame.
const maxChunk = 4<<10 - 16

// write gives bytes to the client, whole events only. Called with mu held.
func (x *exchange) write(p []byte, now time.Time) error {
	if x.broken != nil || len(p) == 0 {
		return x.broken
	}
	x.renew(now)
	var err error
	for len(p) > 0 && err == nil {
		n := min(len(p), maxChunk)
		_, err = x.w.Write(p[:n])
		p = p[n:]
	}
	if err == nil {
		err = x.rc.Flush()
	}
	x.watch.wrote, x.watch.awake = now, false
	x.broken = err
	return err
}

// renew puts the write deadline off; not at every write, because that costs more
// than a small write itself.
func (x *exchange) renew(now time.Time) {
	limit := x.g.settings.Timeouts.Write
	if x.deadline.Sub(now) > limit-limit/16 {
		return
	}
	x.deadline = now.Add(limit)
	// A writer without deadlines is not a network connection.
	_ = x.rc.SetWriteDeadline(x.deadline)
}
