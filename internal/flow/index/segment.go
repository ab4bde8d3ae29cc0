package index

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// version is the version of segments.
const version = 2

// Errors of [Index.Restore].
var (
	errVersion = errors.New("index: restore a segment: its version is unknown; the texts of the session must be added again")
	errForeign = errors.New("index: restore a segment: it is damaged or belongs to another session; the texts of the session must be added again")
)

const (
	headLen = 1 + 4 // the version and the length
	macLen  = 8
)

// The bits of the first byte of a record, and of a text.
const (
	hasPerson = 1 << iota
	hasResult
	hasBatch
	hasRepeats
)

const (
	isTrusted = 1 << iota
	isOpaque
	isDropped
	sameCall    // as the text before
	samePointer // likewise
	inObject
)

// encode returns the segment of a record: a version, the length of the record, the record, and a keyed
// hash of all of it.
func (h *hasher) encode(r *record) []byte {
	e := &encoder{buf: make([]byte, headLen, r.encodedSize()), wide: r.wide()}
	e.record(r)
	e.buf[0] = version
	binary.LittleEndian.PutUint32(e.buf[1:], uint32(len(e.buf)-headLen))
	return binary.LittleEndian.AppendUint64(e.buf, h.sum(classSegment, e.buf))
}

// wide reports whether codes or the numbers of atoms need 4 bytes, not 2.
func (r *record) wide() bool {
	return wordCode(uint32(len(r.words))) > math.MaxUint16 || len(r.atoms) > math.MaxUint16
}

// encodedSize estimates the length of a record's segment.
func (r *record) encodedSize() int {
	n := len(r.echo) + len(r.echoes)
	for _, entries := range [][]entry{r.texts, r.written} {
		for i := range entries {
			n += len(entries[i].plain) + len(entries[i].loose) + len(entries[i].atoms) + 16
		}
	}
	if r.wide() {
		n *= 2
	}
	return 256 + 8*(len(r.words)+len(r.atoms)+len(r.keys)) + 2*n
}

type encoder struct {
	buf  []byte
	wide bool
}

func (e *encoder) byte(b byte)     { e.buf = append(e.buf, b) }
func (e *encoder) uint(n uint64)   { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); e.buf = append(e.buf, s...) }
func (e *encoder) hash(h uint64)   { e.buf = binary.LittleEndian.AppendUint64(e.buf, h) }
func (e *encoder) strings(s []string) {
	e.uint(uint64(len(s)))
	for _, s := range s {
		e.string(s)
	}
}

func (e *encoder) hashes(hashes []uint64) {
	e.uint(uint64(len(hashes)))
	for _, h := range hashes {
		e.hash(h)
	}
}

// encodeNumbers appends codes or numbers in 2 or 4 bytes each.
func encodeNumbers[T code | uint32](e *encoder, numbers []T) {
	e.uint(uint64(len(numbers)))
	size := 2
	if e.wide {
		size = 4
	}
	start := len(e.buf)
	e.buf = slices.Grow(e.buf, size*len(numbers))[:start+size*len(numbers)]
	to := e.buf[start:]
	if e.wide {
		for i, n := range numbers {
			binary.LittleEndian.PutUint32(to[4*i:], uint32(n))
		}
		return
	}
	for i, n := range numbers {
		binary.LittleEndian.PutUint16(to[2*i:], uint16(n))
	}
}

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

func (e *encoder) record(r *record) {
	e.byte(flag(r.person, hasPerson) | flag(r.result, hasResult) | flag(r.batch != 0, hasBatch) | flag(r.repeats, hasRepeats))
	e.byte(byte(r.know))
	if r.batch != 0 {
		e.hash(r.batch)
	}
	e.strings(r.said)
	e.strings(r.anywhere)
	e.string(r.tool)
	e.hashes(r.keys)
	e.hashes(r.words)
	e.hashes(r.atoms)
	encodeNumbers(e, r.marks)
	encodeNumbers(e, r.echo)
	encodeNumbers(e, r.echoes)
	e.uint(uint64(len(r.sets)))
	for _, sources := range r.sets {
		e.uint(uint64(len(sources)))
		for _, s := range sources {
			e.string(string(s))
		}
	}
	e.entries(r.texts)
	e.entries(r.written)
}

func (e *encoder) entries(entries []entry) {
	e.uint(uint64(len(entries)))
	last := &entry{}
	for i := range entries {
		t := &entries[i]
		flags := flag(t.trusted, isTrusted) | flag(t.opaque, isOpaque) | flag(t.dropped, isDropped)
		flags |= flag(t.sameCall(last), sameCall) | flag(t.pointer == last.pointer, samePointer) | flag(t.object != 0, inObject)
		e.byte(flags)
		e.uint(uint64(t.set))
		e.uint(uint64(t.length))
		if flags&sameCall == 0 {
			e.string(string(t.tool))
			e.string(string(t.call))
			e.string(string(t.proposal))
		}
		if flags&samePointer == 0 {
			e.string(t.pointer)
		}
		if flags&inObject != 0 {
			e.uint(uint64(t.object))
		}
		encodeNumbers(e, t.plain)
		encodeNumbers(e, t.loose)
		encodeNumbers(e, t.atoms)
		last = t
	}
}
