package mcpgate

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/provider/sse"
)

// responder writes the response to one HTTP request: one JSON text or, if another message
// precedes the response, a stream.
type responder struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	modern bool
	log    *eventLog // nil if the stream cannot be resumed

	mu      sync.Mutex
	started bool
	closed  bool
}

func newResponder(w http.ResponseWriter, modern bool) *responder {
	return &responder{w: w, rc: http.NewResponseController(w), modern: modern}
}

// writeTimeout limits the write of one message to a client.
const writeTimeout = 30 * time.Second

// keepaliveInterval is the interval of keepalive comments on a silent stream.
const keepaliveInterval = 15 * time.Second

// send writes a message on the stream. It returns false if the stream is closed.
func (o *responder) send(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.log.add(text, false)
	o.start()
	return o.write(o.log.event(n, text)) || o.log != nil
}

// open starts the stream.
func (o *responder) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	if o.log.primer() == nil {
		o.write([]byte(": open\n\n"))
	}
}

// start writes the header of a stream; o.mu is locked.
func (o *responder) start() {
	if o.started || o.closed {
		return
	}
	o.started = true
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	o.log.register()
	if primer := o.log.primer(); primer != nil {
		o.write(primer)
	}
}

// write writes and flushes; o.mu is locked.
func (o *responder) write(text []byte) bool {
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

// serve runs work. If it takes longer than keepaliveInterval, serve starts a stream and
// sends keepalives.
func (o *responder) serve(work func() reply) reply {
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { o.sendKeepalives(done) })
	defer ticking.Wait()
	defer close(done)
	return work()
}

func (o *responder) sendKeepalives(done <-chan struct{}) {
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

// waitWithKeepalives keeps a stream open until the client disconnects or gone is closed.
func (o *responder) waitWithKeepalives(ctx context.Context, gone <-chan struct{}) {
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

// close prevents further writes: the request's handler returns.
func (o *responder) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// finish writes the response.
func (o *responder) finish(r reply) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.closed = true }()
	switch {
	case (o.started || r.stream) && r.text != nil:
		n := o.log.add(r.text, true)
		o.start()
		o.write(o.log.event(n, r.text))
	case o.closed, o.started:
	case r.text == nil:
		// The client cancelled the request and expects no response.
		o.start()
	default:
		status := r.status
		if status < 200 || status > 599 {
			status = http.StatusOK
		}
		if !o.modern && status == http.StatusNotFound {
			// In revisions with sessions, 404 means that the session has ended.
			status = http.StatusOK
		}
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(status)
		o.write(r.text)
	}
}
