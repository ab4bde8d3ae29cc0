package sse

import (
	"errors"
	"math/bits"
	"sync"
)

// The limits of WIRE 1.2.
const (
	DefaultMaxEvent  = 32 << 20 // bytes of one event, all its lines
	DefaultMaxFiller = 64 << 10 // bytes that are no event between two events
)

// minBuffer is the least size of a buffer.
const minBuffer = 512

// keep is the largest buffer that a decoder keeps between two events; one huge
// event does not make a stream expensive for the rest of its life.
const keep = 16 << 10

// Errors of Next. Both end the stream with limit_exceeded (WIRE 1.2, F13).
var (
	ErrEventTooLarge = errors.New("sse: an event exceeds the size limit")
	ErrTooMuchFiller = errors.New("sse: too many comment or unknown bytes between two events")
)

// Limits bounds what a stream may cost. Zero means the default.
type Limits struct {
	MaxEvent  int
	MaxFiller int

	// Lent lends a larger buffer to a stream while its reads fill its own, and one
	// that holds it to a stream with a large event: a fast stream is read, and
	// written on, in fewer steps, and a slow one costs no more for it. Nil: a large
	// event gets memory of its own. Use Close with it.
	Lent *Buffers
}

// Buffers are what decoders lend each other. The zero Buffers is ready, for many
// decoders at a time.
type Buffers struct{ pools [lentSizes]sync.Pool }

// WideBuffer is the size of the smallest buffer that is lent; each size is twice
// the one before it.
const WideBuffer = 32 << 10

const lentSizes = 6 // up to 1 MiB

// buffer is one that is lent, or memory of its own if no pool has such a size.
type buffer struct {
	p    []byte
	pool *sync.Pool
}

// get returns a buffer of WideBuffer bytes times a power of two.
func (b *Buffers) get(size int) *buffer {
	i := bits.TrailingZeros(uint(size / WideBuffer))
	if b == nil || size < WideBuffer || i >= lentSizes {
		return &buffer{p: make([]byte, size)}
	}
	if p, ok := b.pools[i].Get().(*buffer); ok {
		return p
	}
	return &buffer{make([]byte, size), &b.pools[i]}
}

// put takes it back. Nil is none.
func (b *buffer) put() {
	if b != nil && b.pool != nil {
		b.pool.Put(b)
	}
}

// NewDecoder returns a decoder that reads into buf and grows beyond it only for
// an event that does not fit.
func NewDecoder(buf []byte, limits Limits) *Decoder {
	d := new(Decoder)
	d.Reset(buf, limits)
	return d
}

// Reset makes the decoder ready for another stream.
func (d *Decoder) Reset(buf []byte, limits Limits) {
	if len(buf) < minBuffer {
		buf = make([]byte, minBuffer)
	}
	if limits.MaxEvent <= 0 {
		limits.MaxEvent = DefaultMaxEvent
	}
	if limits.MaxFiller <= 0 {
		limits.MaxFiller = DefaultMaxFiller
	}
	join := d.unit.join[:0]
	if cap(join) > keep {
		join = nil
	}
	*d = Decoder{limits: limits, home: buf, buf: buf, lf: -1, cr: -1, unit: unit{join: join}}
}

// Space returns the free part of the buffer, never empty. It ends the life of
// every Event that Next has filled in.
func (d *Decoder) Space() []byte {
	old, lent := d.buf, d.lent
	switch n := d.end - d.start; {
	case n == len(d.buf) && (d.limits.Lent == nil || 2*n < WideBuffer):
		d.lent = &buffer{p: make([]byte, 2*n)}
	case n == len(d.buf):
		d.lent = d.limits.Lent.get(WideBuffer << bits.Len(uint(n/WideBuffer)))
	case len(d.buf) > keep && d.last < len(d.home) && n < len(d.home)/2:
		d.lent = nil
	case d.limits.Lent != nil && d.end == len(d.buf) && d.last >= len(d.home)/2 && len(d.buf) < WideBuffer:
		d.lent = d.limits.Lent.get(WideBuffer)
	}
	if d.buf = d.home; d.lent != nil {
		d.buf = d.lent.p
	}
	if d.start > 0 || len(d.buf) != len(old) {
		copy(d.buf, old[d.start:d.end])
		d.end -= d.start
		d.line -= d.start
		d.scan -= d.start
		d.lf = max(d.lf-d.start, -1)
		d.cr = max(d.cr-d.start, -1)
		d.start = 0
	}
	if lent != d.lent {
		lent.put()
	}
	return d.buf[d.end:]
}

// Close ends the use of the decoder, up to the next Reset, and of every Event: it
// gives back what was lent.
func (d *Decoder) Close() {
	d.lent.put()
	d.buf, d.lent, d.start, d.end = d.home, nil, 0, 0
}

// Filled says that n bytes were read into what Space returned.
func (d *Decoder) Filled(n int) {
	d.end += n
	d.last = n
}

// Feed copies p into the buffer. It is for callers that hold the bytes already.
func (d *Decoder) Feed(p []byte) {
	for len(p) > 0 {
		n := copy(d.Space(), p)
		d.Filled(n)
		p = p[n:]
	}
}
