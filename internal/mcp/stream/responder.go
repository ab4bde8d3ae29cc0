// Package stream writes the responses of MCP over streamable HTTP: one JSON text, or a stream of
// events that a disconnected client can resume.
//
//	out := stream.NewResponder(w, false)
//	out.Log = logs.New(true) // the client may resume the stream
//	out.Keepalive(func() { text = work(out.Send) })
//	out.Finish(text, 200, false)
package stream

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/provider/sse"
)

// Responder writes the response to one HTTP request: one JSON text or, if another message
// precedes the response, a stream.
type Responder struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	modern bool
	Log    *Log // nil if the stream cannot be resumed

	mu      sync.Mutex
	started bool
	closed  bool
}

// NewResponder returns a responder; modern is the revision without sessions.
func NewResponder(w http.ResponseWriter, modern bool) *Responder {
	return &Responder{w: w, rc: http.NewResponseController(w), modern: modern}
}

// writeTimeout limits the write of one message to a client.
const writeTimeout = 30 * time.Second

// keepaliveInterval is the interval of keepalive comments on a silent stream.
const keepaliveInterval = 15 * time.Second

// send writes a message on the stream. It returns false if the stream is closed.
func (o *Responder) Send(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.Log.add(text, false)
	o.start()
	return o.write(o.Log.event(n, text)) || o.Log != nil
}

// Open starts the stream.
func (o *Responder) Open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	if o.Log.primer() == nil {
		o.write([]byte(": open\n\n"))
	}
}

// start writes the header of a stream; o.mu is locked.
func (o *Responder) start() {
	if o.started || o.closed {
		return
	}
	o.started = true
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	o.Log.register()
	if primer := o.Log.primer(); primer != nil {
		o.write(primer)
	}
}

// write writes and flushes; o.mu is locked.
func (o *Responder) write(text []byte) bool {
	if o.closed {
		return false
	}
	_ = o.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := o.w.Write(text); err != nil {
		o.closed = true
		return false
	}
	if err := o.rc.Flush(); err != nil {
		o.closed = true
		return false
	}
	_ = o.rc.SetWriteDeadline(time.Time{})
	return true
}

// Keepalive runs work. If it takes longer than keepaliveInterval, Keepalive starts a stream and sends
// keepalives.
func (o *Responder) Keepalive(work func()) {
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { o.sendKeepalives(done) })
	defer ticking.Wait()
	defer close(done)
	work()
}

func (o *Responder) sendKeepalives(done <-chan struct{}) {
	tick := time.NewTicker(keepaliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			o.mu.Lock()
			o.start()
			o.write(sse.AppendKeepalive(nil))
			o.mu.Unlock()
		}
	}
}

// Wait keeps a stream open until the client disconnects or gone is closed.
func (o *Responder) Wait(ctx context.Context, gone <-chan struct{}) {
	tick := time.NewTicker(keepaliveInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-gone:
			return
		case <-tick.C:
			o.mu.Lock()
			alive := o.write(sse.AppendKeepalive(nil))
			o.mu.Unlock()
			if !alive {
				return
			}
		}
	}
}

// Close prevents further writes: the request's handler returns.
func (o *Responder) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// Finish writes the response, as a stream if another message preceded it or streamed is set. Without
// text the client expects no response.
func (o *Responder) Finish(text []byte, status int, streamed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.closed = true }()
	switch {
	case (o.started || streamed) && text != nil:
		n := o.Log.add(text, true)
		o.start()
		o.write(o.Log.event(n, text))
	case o.closed, o.started:
	case text == nil:
		// The client cancelled the request and expects no response.
		o.start()
	default:
		if status < 200 || status > 599 {
			status = http.StatusOK
		}
		if !o.modern && status == http.StatusNotFound {
			// In revisions with sessions, 404 means that the session has ended.
			status = http.StatusOK
		}
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(status)
		o.write(text)
	}
}
