package gateway

import (
	"context"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

// A provider that stores a response stores what it had said when it is cut off, or nothing:
// nobody could continue the response then. So the client of a stored response gets its end
// where that of another one is cut off, and the gateway reads the provider's to its end
// behind the client's back, into the ledger.

// stored reports whether the provider keeps the response that is asked for, so that it can
// be continued by its id.
func (x *exchange) stored() bool {
	_, remembers := x.dialect.(wire.Rememberer)
	return remembers && x.enforced && x.req.Stream && x.req.Conversational && !x.req.Hints.Unstored
}

// reach is the context of a request to the provider. That for a response that is stored
// does not end with the client: it is cancelled with the exchange, until it is let go.
func (x *exchange) reach() (ctx context.Context) {
	if !x.stored() {
		ctx, x.stop = context.WithCancel(x.ctx)
		return ctx
	}
	ctx, x.stop = context.WithCancel(x.records)
	x.letGo = context.AfterFunc(x.ctx, x.stop)
	return ctx
}

// reading is a provider's answer that is read on after its exchange.
type reading struct {
	*stream
	codec wire.Follower
}

// readsOn reports whether the provider of a response that is being cut is to be read on. A
// model that will be answered needs no stored response: it gets everything back.
func (s *stream) readsOn() bool {
	_, ok := s.stream.(wire.Follower)
	return ok && s.letGo != nil && (s.err == nil || s.err == io.EOF) && s.letGo()
}

// readOn keeps the upstream for the time after the exchange.
func (s *stream) readOn() {
	codec, _ := s.stream.(wire.Follower)
	s.later = &reading{s, codec}
	s.past.Reading(time.Now().Add(s.settings.Timeouts.ReadOn + storing))
}

// storing is how long it may take to store what was read.
const storing = 2 * time.Second

// run reads the answer to its end, at most for a time and some bytes, and keeps what it
// says. Nothing of the exchange is used any more but what it never changes.
func (r *reading) run() {
	defer r.g.exchanges.Add(-1)
	defer r.free()
	defer r.body.Close()
	defer r.stop()
	late := time.AfterFunc(r.settings.Timeouts.ReadOn, r.stop)
	defer late.Stop()
	defer context.AfterFunc(r.g.stopped, r.stop)()
	whole := r.read()
	r.past.KeepRest(r.records, r.req, r.codec)
	for _, c := range r.codec.Followed() {
		r.decline(c)
	}
	r.notes = r.stream.stream.Notes()
	cause := ""
	if !whole {
		cause = "the stored response was not read to its end"
	}
	r.noteStopped(cause)
}

// read reads the events. It reports whether the last of them came.
func (r *reading) read() bool {
	d, ev := &r.buf.decoder, &r.buf.event
	if r.raw != r.content { // policies had read ahead: the next whole event counts
		d.Reset(r.buf.in[:], sse.Limits{MaxEvent: r.settings.Limits.Event, Lent: &r.g.lent})
	}
	for left := r.settings.Limits.ReadOn; ; {
		for {
			ok, err := d.Next(ev)
			if err != nil {
				return false
			}
			if !ok {
				break
			}
			if r.codec.Follow(ev) {
				return true
			}
		}
		n, err := r.raw.Read(d.Space())
		d.Filled(n)
		if left -= int64(n); err != nil && n == 0 || left < 0 {
			return false
		}
	}
}

// decline records a call that came after the client had the end of its response.
func (r *reading) decline(c wire.Followed) {
	p, err := r.calls.open1(c.Tool, c.Call, r.req.Tool(c.Tool))
	if err != nil {
		return
	}
	p.Feed(c.Args)
	p.Refuse(stopgate.CodeCancelled)
	p.Cancel(r.records)
}

// free gives the buffers of a stream back.
func (s *stream) free() {
	s.buf.decoder.Close()
	s.g.buffers.Put(s.buf)
}

// noteStopped records that the provider was stopped, and what its answer had cost.
func (x *exchange) noteStopped(cause string) {
	t := x.notes.Answer.Tokens
	x.note(stopgate.Record{Event: stopgate.AuditAnswerStopped, Cause: cause, Usage: &stopgate.Usage{Input: t.Input, Output: t.Output, Estimated: x.notes.UsageEstimated}})
}
