package sse

import (
	"errors"
	"math/bits"
	"sync"
)

// Default limits.
const (
	DefaultMaxEvent  = 32 << 20 // bytes of one event, all its lines
	DefaultMaxFiller = 64 << 10 // bytes between two events that belong to none
)

// minBuffer is the minimum size of a buffer.
const minBuffer = 512

// maxIdleBuffer is the largest buffer that a decoder retains between two events, so that
// one huge event does not make a stream expensive for the rest of its life.
const maxIdleBuffer = 16 << 10

// Errors of Next. Both end the stream with limit_exceeded (F13).
var (
	ErrEventTooLarge = errors.New("sse: an event exceeds the size limit")
	ErrTooMuchFiller = errors.New("sse: too many comment or unknown bytes between two events")
)

// Limits limits the memory of a stream. Zero means the default.
type Limits struct {
	MaxEvent  int
	MaxFiller int

	// Pool provides a larger buffer to a stream while its reads fill its own, and a buffer
	// for a large event. A fast stream is read and written in fewer steps, and a slow one
	// needs no more memory. If Pool is nil, a large event gets memory of its own. Call
	// Close after use.
	Pool *BufferPool
}

// BufferPool is a pool of buffers that decoders share. The zero BufferPool is ready for use
// by concurrent decoders.
type BufferPool struct{ pools [poolSizes]sync.Pool }

// PooledBufferSize is the size of the smallest pooled buffer; each size is twice the one
// before it.
const PooledBufferSize = 32 << 10

const poolSizes = 6 // up to 1 MiB

// buffer is a pooled buffer, or memory of its own if no pool has its size.
type buffer struct {
	p    []byte
	pool *sync.Pool
}

// get returns a buffer of size bytes, which is PooledBufferSize times a power of two.
func (b *BufferPool) get(size int) *buffer {
	i := bits.TrailingZeros(uint(size / PooledBufferSize))
	if b == nil || size < PooledBufferSize || i >= poolSizes {
		return &buffer{p: make([]byte, size)}
	}
	if p, ok := b.pools[i].Get().(*buffer); ok {
		return p
	}
	return &buffer{make([]byte, size), &b.pools[i]}
}

// put returns the buffer to its pool. A nil buffer is ignored.
func (b *buffer) put() {
	if b != nil && b.pool != nil {
		b.pool.Put(b)
	}
}

// NewDecoder returns a decoder that reads into buf. It allocates a larger buffer only for
// an event that does not fit.
func NewDecoder(buf []byte, limits Limits) *Decoder {
	d := new(Decoder)
	d.Reset(buf, limits)
	return d
}

// Reset prepares the decoder for another stream.
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
	if cap(join) > maxIdleBuffer {
		join = nil
	}
	*d = Decoder{limits: limits, base: buf, buf: buf, lf: -1, cr: -1, unit: unit{join: join}}
}

// Space returns the free part of the buffer, which is never empty. It invalidates every
// Event that Next has filled.
func (d *Decoder) Space() []byte {
	old, lent := d.buf, d.pooled
	switch n := d.end - d.start; {
	case n == len(d.buf) && (d.limits.Pool == nil || 2*n < PooledBufferSize):
		d.pooled = &buffer{p: make([]byte, 2*n)}
	case n == len(d.buf):
		d.pooled = d.limits.Pool.get(PooledBufferSize << bits.Len(uint(n/PooledBufferSize)))
	case len(d.buf) > maxIdleBuffer && d.last < len(d.base) && n < len(d.base)/2:
		d.pooled = nil
	case d.limits.Pool != nil && d.end == len(d.buf) && d.last >= len(d.base)/2 && len(d.buf) < PooledBufferSize:
		d.pooled = d.limits.Pool.get(PooledBufferSize)
	}
	if d.buf = d.base; d.pooled != nil {
		d.buf = d.pooled.p
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
	if lent != d.pooled {
		lent.put()
	}
	return d.buf[d.end:]
}

// Close ends the use of the decoder until the next Reset: it returns the pooled buffer and
// invalidates every Event.
func (d *Decoder) Close() {
	d.pooled.put()
	d.buf, d.pooled, d.start, d.end = d.base, nil, 0, 0
}

// Filled records that n bytes were read into the slice that Space returned.
func (d *Decoder) Filled(n int) {
	d.end += n
	d.last = n
}

// Feed copies p into the buffer. It is for callers that have the bytes in memory already.
func (d *Decoder) Feed(p []byte) {
	for len(p) > 0 {
		n := copy(d.Space(), p)
		d.Filled(n)
		p = p[n:]
	}
}
