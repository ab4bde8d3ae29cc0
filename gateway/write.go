package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// output is a buffer for output to the client. A stream holds one only while it works, because most
// streams are waiting.
type output struct {
	p     []byte
	batch []byte // batch of arguments, see calls
}

// The usual size of an output buffer, and the size above which it is not pooled: one read, inserted
// text, and the output of a large call.
const (
	usualOutput = readBuffer + readBuffer/2
	keptOutput  = 2 * provider.FlushSize
)

// flush writes the pending output to the client.
func (s *stream) flush() {
	if len(s.out) == 0 && !s.client.unflushed && s.client.broken == nil {
		return
	}
	err := s.client.events(s.out, time.Now())
	s.out = s.out[:0]
	if err != nil {
		s.over = true
		s.fault = stopgate.CodeClientGone
		s.cancel(errClientGone)
	}
}

// maxChunk is the size that net/http writes as one chunk in one system call: chunk and frame fit
// into its buffer of 4 KiB. Larger chunks take three.
const (
	maxChunk  = 4<<10 - 16
	fewChunks = 3 * maxChunk
)

// clientWriter writes the response to the client. The exchange's mutex must be locked.
type clientWriter struct {
	http.ResponseWriter
	rc        *http.ResponseController
	limit     time.Duration // of one write
	deadline  time.Time
	started   bool  // the response header is written
	broken    error // of a write
	unflushed bool  // bytes were written after the last flush
	wrote     time.Time
	keepalive bool // the last write was a keepalive
}

// start writes the response header.
func (w *clientWriter) start(status int) {
	w.started = true
	w.renew(time.Now())
	w.WriteHeader(status)
}

// whole writes a response that is not streamed.
func (w *clientWriter) whole(status int, upstreamID string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Stopgate-Upstream", upstreamID)
	w.start(status)
	if _, err := w.Write(body); err != nil {
		w.broken = err
	}
}

// put writes a part of a release. The rest follows before the mutex is unlocked, and its end is
// flushed.
func (w *clientWriter) put(p []byte) error {
	if w.broken != nil || len(p) == 0 {
		return w.broken
	}
	w.renew(time.Now())
	w.unflushed = true
	_, w.broken = w.Write(p)
	return w.broken
}

// events writes complete events and everything that was put before.
func (w *clientWriter) events(p []byte, now time.Time) error {
	if w.broken != nil || len(p) == 0 && !w.unflushed {
		return w.broken
	}
	w.renew(now)
	var err error
	for len(p) > 0 && err == nil {
		n := len(p)
		if n <= fewChunks {
			n = min(n, maxChunk)
		}
		_, err = w.Write(p[:n])
		p = p[n:]
	}
	if err == nil {
		err = w.rc.Flush()
	}
	w.unflushed = false
	w.wrote, w.keepalive = now, false
	w.broken = err
	return err
}

// renew extends the write deadline, but not for every write, because that costs more than a small
// write.
func (w *clientWriter) renew(now time.Time) {
	if w.deadline.Sub(now) > w.limit-w.limit/16 {
		return
	}
	w.deadline = now.Add(w.limit)
	// A writer without deadlines is not a network connection.
	_ = w.rc.SetWriteDeadline(w.deadline)
}
