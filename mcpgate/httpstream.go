package mcpgate

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/stopgate/stopgate/wire/sse"
)

// responder answers one HTTP request: with one JSON text, or, from the first message
// on that comes before the response, with a stream.
type responder struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	modern bool
	log    *replay // keeps what is said, nil where nothing can be taken up again

	mu      sync.Mutex
	started bool
	over    bool
}

func newResponder(w http.ResponseWriter, modern bool) *responder {
	return &responder{w: w, rc: http.NewResponseController(w), modern: modern}
}

// patience is how long a client may take to read one message.
const patience = 30 * time.Second

// quiet is how long a client hears nothing before it hears that we live.
const quiet = 15 * time.Second

// send writes a message on the stream; false where there is none any more.
func (o *responder) send(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.log.add(text, false)
	o.start()
	return o.write(o.log.event(n, text)) || o.log != nil
}

// open begins the stream.
func (o *responder) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
	if o.log.primer() == nil {
		o.write([]byte(": open\n\n"))
	}
}

// start writes the head of a stream; o.mu is held.
func (o *responder) start() {
	if o.started || o.over {
		return
	}
	o.started = true
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("X-Accel-Buffering", "no")
	o.w.WriteHeader(http.StatusOK)
	o.log.begin()
	if primer := o.log.primer(); primer != nil {
		o.write(primer)
	}
}

// write writes and flushes; o.mu is held.
func (o *responder) write(text []byte) bool {
	if o.over {
		return false
	}
	_ = o.rc.SetWriteDeadline(time.Now().Add(patience))
	if _, err := o.w.Write(text); err != nil {
		o.over = true
		return false
	}
	if err := o.rc.Flush(); err != nil {
		o.over = true
		return false
	}
	_ = o.rc.SetWriteDeadline(time.Time{})
	return true
}

// alive keeps the client waiting for work: a request that takes longer gets a stream,
// and a sign of life on it.
func (o *responder) alive(work func() reply) reply {
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { o.beat(done) })
	defer ticking.Wait()
	defer close(done)
	return work()
}

func (o *responder) beat(done <-chan struct{}) {
	tick := time.NewTicker(quiet)
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

// idle keeps a stream open until the client goes, or whoever it belongs to.
func (o *responder) idle(ctx context.Context, gone <-chan struct{}) {
	tick := time.NewTicker(quiet)
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

// end lets nothing more be written: the request's handler returns.
func (o *responder) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// finish writes the response.
func (o *responder) finish(r reply) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { o.over = true }()
	switch {
	case (o.started || r.stream) && r.text != nil:
		n := o.log.add(r.text, true)
		o.start()
		o.write(o.log.event(n, r.text))
	case o.over, o.started:
	case r.text == nil:
		// The client cancelled: it wants no response.
		o.start()
	default:
		status := r.status
		if status < 200 || status > 599 {
			status = http.StatusOK
		}
		if !o.modern && status == http.StatusNotFound {
			// It would say that the session is gone.
			status = http.StatusOK
		}
		o.w.Header().Set("Content-Type", "application/json")
		o.w.WriteHeader(status)
		o.write(r.text)
	}
}
