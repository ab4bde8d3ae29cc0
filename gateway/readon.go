package gateway

import (
	"context"
	"io"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// A provider that is cancelled stores either a truncated response or none, which no client could
// continue. If the provider stores the response, the client receives its end where other responses
// are cancelled, and the gateway reads the rest in the background and writes it to the response
// log.

// reading is a provider response that is read after its exchange.
type reading struct {
	*stream
	codec provider.BackgroundReader
}

// readsOn reports whether the rest of a cancelled response should be read. A model that will be
// answered needs no stored response, because the next request contains everything.
func (s *stream) readsOn() bool {
	_, ok := s.stream.(provider.BackgroundReader)
	return ok && s.provider.letGo != nil && (s.err == nil || s.err == io.EOF) && s.provider.letGo()
}

// readOn keeps the upstream response for the time after the exchange.
func (s *stream) readOn() {
	codec, _ := s.stream.(provider.BackgroundReader)
	s.later = &reading{s, codec}
	s.conversation.SetReadUntil(time.Now().Add(s.settings.Timeouts.ReadOn + storing))
}

// storing is the time allowed for storing the result.
const storing = 2 * time.Second

// run reads the response to its end, within limits of time and size, and saves the result. It uses
// only immutable fields of the exchange.
func (r *reading) run() {
	defer r.g.exchanges.Add(-1)
	defer r.free()
	defer r.body.Close()
	defer r.provider.stop()
	late := time.AfterFunc(r.settings.Timeouts.ReadOn, r.provider.stop)
	defer late.Stop()
	defer context.AfterFunc(r.g.stopped, r.provider.stop)()
	whole := r.read()
	r.conversation.SaveRest(r.records, r.req, r.codec)
	for _, c := range r.codec.LateCalls() {
		r.decline(c)
	}
	r.notes = r.stream.stream.Notes()
	cause := ""
	if !whole {
		cause = "the stored response was not read to its end"
	}
	r.noteStopped(cause)
}

// read reads the events. It reports whether the last one arrived.
func (r *reading) read() bool {
	d, ev := &r.buf.decoder, &r.buf.event
	if r.raw != r.content { // policies had read ahead: start with the next complete event
		d.Reset(r.buf.in[:], sse.Limits{MaxEvent: r.settings.Limits.Event, Pool: &r.g.lent})
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
			if r.codec.ReadOn(ev) {
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

// decline records a call that arrived after the client received the end of its response.
func (r *reading) decline(c provider.LateCall) {
	p, err := r.calls.Open(c.Tool, c.Call, r.req.Tool(c.Tool))
	if err != nil {
		return
	}
	p.Feed(c.Args)
	p.Refuse(stopgate.CodeCancelled)
	p.Cancel(r.records)
}

// free returns the buffers of a stream to their pools.
func (s *stream) free() {
	s.buf.decoder.Close()
	s.g.buffers.Put(s.buf)
}

// noteStopped records that the provider was cancelled, and the cost of its response.
func (x *exchange) noteStopped(cause string) {
	t := x.notes.Response.Tokens
	x.note(stopgate.Record{Event: stopgate.AuditAnswerStopped, Cause: cause, Usage: &stopgate.Usage{Input: t.Input, Output: t.Output, Estimated: x.notes.UsageEstimated}})
}
