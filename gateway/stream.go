package gateway

import (
	"io"
	"net/http"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// readBuffer is the size of the buffer of one stream, and of the upstream
// connection's: one read takes everything that the connection has. Larger ones
// would break the memory budget (DESIGN 8); a stream whose reads fill it is lent
// one while they do.
const readBuffer = 8 << 10

// buffers are what a stream keeps while it waits, used again by later streams.
type buffers struct {
	in      [readBuffer]byte
	decoder sse.Decoder
	event   sse.Event
}

// serveStream serves an event stream. The frames of the functions in which it
// waits are kept small: their stack is a part of what an idle stream costs.
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
		x.w.Header().Set(http.TrailerPrefix+"X-Stopgate-Usage-Estimated", "true")
	}
	if x.fault != "" || x.broken != nil {
		// The only end that no client takes for a complete answer (WIRE 9.6).
		panic(http.ErrAbortHandler)
	}
}

// rememberStream keeps what a stream showed. Notes are large: inlined they would stay
// on the stack of every stream that waits.
//
//go:noinline
func (x *exchange) rememberStream() { x.remember(x.stream.Notes()) }

// openStream sends the response's header and prepares the codec.
func (x *exchange) openStream(answer *http.Response, content io.Reader) *stream {
	g := x.g
	buf := g.buffers.Get().(*buffers)
	buf.decoder.Reset(buf.in[:], sse.Limits{MaxEvent: x.settings.Limits.Event, Lent: &g.lent})
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
	x.stream = x.dialect.Stream(x.req, &x.calls, x.options(x.settings.Limits.Event))
	return &stream{exchange: x, body: answer.Body, raw: content, content: x.texts(content), buf: buf}
}

// options are the codec's, with a limit on what is read at once.
func (x *exchange) options(maxBytes int) wire.Options {
	return wire.Options{
		ObjectArguments: x.upstream.ObjectArguments, PassItems: x.settings.PassItems, MaxCalls: x.settings.Limits.Calls,
		MaxHeld: int(x.settings.Limits.HeldResponse), MaxBytes: maxBytes,
	}
}

// stream is a response that is being served. Its methods are called with the
// exchange's mutex held, and give it up only while they wait for the upstream or
// for the gate.
type stream struct {
	*exchange
	body    io.Closer // to stop the answer
	raw     io.Reader // what is in it
	content io.Reader // the same, as the event policies leave it
	buf     *buffers
	fresh   []byte // what the last read brought
	out     []byte // for the client, not written yet
	err     error  // of the last read
	over    bool   // the response has its end
	spoken  int    // watch.events when the provider was last waited for without a purpose
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
	s.showUnseen()
	s.calls.refresh()
	switch {
	case s.calls.denied > 0 && s.settings.OnDeny == DenyError:
		s.denyAll()
	case s.err != nil:
		s.endOfInput()
	default:
		s.waste()
	}
}

// showUnseen shows the event policies the arguments that they have not seen.
func (s *stream) showUnseen() {
	if len(s.calls.unseen) > 0 {
		s.unlocked(s.calls.show)
	}
}

// read waits for the upstream. The decoder's events end their life here.
func (s *stream) read() {
	s.fresh = s.buf.decoder.Space()
	s.watch.awaitUpstream()
	s.unlocked(s.readUnlocked)
	s.watch.reading = false
	s.watch.read = time.Now()
	s.seen.first(s.watch.read)
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
		if !s.over && s.calls.allDenied() && s.cuttable() {
			s.showUnseen()
			s.cut()
		}
	}
}

// repeats handles at once the events that only repeat the last one, where nobody wants
// to see each of them.
func (s *stream) repeats() {
	to, ok := s.stream.(wire.Repeater)
	if !ok || s.calls.watched || s.rounds.hears() && !s.rounds.apart {
		return
	}
	for {
		out, size, n := to.Repeats(s.out, s.buf.decoder.Rest())
		if s.out = out; size == 0 {
			return
		}
		s.buf.decoder.Skip(size)
		s.watch.events += n
	}
}

func (s *stream) event(ev *sse.Event) {
	if ev.Dispatched && !s.rounds.apart {
		s.rounds.hear(ev.Data)
	}
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
		s.keep(s.stream, nil)
		s.over = true
	}
}

// release ends the choices that have ended.
func (s *stream) release() {
	due := s.calls.due()
	s.resolve(due)
	if s.calls.denied > 0 && s.settings.OnDeny == DenyError {
		s.denyAll()
		return
	}
	if s.again(due) || !s.lastWord() {
		return
	}
	outcomes := s.calls.releases(due)
	out, err := s.stream.Release(s.out, outcomes, s.put)
	s.out = out
	s.keep(s.stream, nil)
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
	s.watch.awaitGate()
	s.unlocked(func() { s.calls.resolveAll(s.ctx, due) })
	s.watch.resolving = false
	s.watch.read = time.Now()
}
