package gateway

import (
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
	if len(s.out) == 0 && !s.unflushed && s.broken == nil {
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

// maxChunk is the size that net/http writes as one chunk in one system call: chunk and frame fit
// into its buffer of 4 KiB. Larger chunks take three.
const (
	maxChunk  = 4<<10 - 16
	fewChunks = 3 * maxChunk
)

// put writes a part of a release. The rest follows before mu is unlocked, and its end is flushed.
// mu must be locked.
func (x *exchange) put(p []byte) error {
	if x.broken != nil || len(p) == 0 {
		return x.broken
	}
	x.renew(time.Now())
	x.unflushed = true
	_, x.broken = x.w.Write(p)
	return x.broken
}

// write writes complete events and everything that was put before. mu must be locked.
func (x *exchange) write(p []byte, now time.Time) error {
	if x.broken != nil || len(p) == 0 && !x.unflushed {
		return x.broken
	}
	x.renew(now)
	var err error
	for len(p) > 0 && err == nil {
		n := len(p)
		if n <= fewChunks {
			n = min(n, maxChunk)
		}
		_, err = x.w.Write(p[:n])
		p = p[n:]
	}
	if err == nil {
		err = x.rc.Flush()
	}
	x.unflushed = false
	x.watch.wrote, x.watch.awake = now, false
	x.broken = err
	return err
}

// renew extends the write deadline, but not for every write, because that costs more than a small
// write.
func (x *exchange) renew(now time.Time) {
	limit := x.settings.Timeouts.Write
	if x.deadline.Sub(now) > limit-limit/16 {
		return
	}
	x.deadline = now.Add(limit)
	// A writer without deadlines is not a network connection.
	_ = x.rc.SetWriteDeadline(x.deadline)
}
