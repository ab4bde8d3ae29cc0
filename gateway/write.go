package gateway

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/wire"
)

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

// flush writes what there is for the client, at once.
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

// maxChunk is what net/http writes as one chunk without an extra system call: its
// buffer of 4 KiB holds the chunk with its frame. A chunk of any size takes three.
const (
	maxChunk  = 4<<10 - 16
	fewChunks = 3 * maxChunk
)

// put gives the client a part of a release; the rest of it follows before mu is
// given up, and the end of it is flushed. Called with mu held.
func (x *exchange) put(p []byte) error {
	if x.broken != nil || len(p) == 0 {
		return x.broken
	}
	x.renew(time.Now())
	x.unflushed = true
	_, x.broken = x.w.Write(p)
	return x.broken
}

// write gives bytes to the client, whole events only, and all that was put before.
// Called with mu held.
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

// renew puts the write deadline off; not at every write, because that costs more
// than a small write itself.
func (x *exchange) renew(now time.Time) {
	limit := x.settings.Timeouts.Write
	if x.deadline.Sub(now) > limit-limit/16 {
		return
	}
	x.deadline = now.Add(limit)
	// A writer without deadlines is not a network connection.
	_ = x.rc.SetWriteDeadline(x.deadline)
}
