package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// version is the version of segments.
const version = 1

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
)

const (
	isTrusted = 1 << iota
	isOpaque
	isDropped
	sameCall    // as the text before
	samePointer // likewise
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
	e.byte(flag(r.person, hasPerson) | flag(r.result, hasResult) | flag(r.batch != 0, hasBatch))
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
		flags |= flag(t.sameCall(last), sameCall) | flag(t.pointer == last.pointer, samePointer)
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
		encodeNumbers(e, t.plain)
		encodeNumbers(e, t.loose)
		encodeNumbers(e, t.atoms)
		last = t
	}
}

// decode returns the records of segments in a row.
func (h *hasher) decode(segments []byte) (records []*record, err error) {
	for len(segments) > 0 || len(records) == 0 {
		if len(segments) < headLen || segments[0] != version {
			return nil, errVersion
		}
		length := uint64(binary.LittleEndian.Uint32(segments[1:])) + headLen
		if uint64(len(segments)) < length+macLen {
			return nil, errForeign
		}
		body := segments[:length]
		if h.sum(classSegment, body) != binary.LittleEndian.Uint64(segments[length:]) {
			return nil, errForeign
		}
		d := &decoder{buf: body[headLen:]}
		r := d.record()
		if d.err == nil && len(d.buf) > 0 {
			d.fail("it has bytes after its end")
		}
		if d.err != nil {
			return nil, d.err
		}
		records = append(records, r)
		segments = segments[length+macLen:]
	}
	return records, nil
}

// decoder reads a record. After an error every method returns zero values.
type decoder struct {
	buf  []byte
	wide bool
	err  error
}

func (d *decoder) fail(cause string) {
	if d.err == nil {
		d.err = fmt.Errorf("index: restore a segment: %s; the texts of the session must be added again", cause)
	}
	d.buf = nil
}

func (d *decoder) byte() byte {
	if len(d.buf) == 0 {
		d.fail("it ends too early")
		return 0
	}
	b := d.buf[0]
	d.buf = d.buf[1:]
	return b
}

func (d *decoder) uint(limit uint64) uint64 {
	n, size := binary.Uvarint(d.buf)
	if size <= 0 || n > limit {
		d.fail("a number is invalid")
		return 0
	}
	d.buf = d.buf[size:]
	return n
}

// count reads the length of a list whose elements have at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uint(uint64(len(d.buf)))
	if n > uint64(len(d.buf)/size) {
		d.fail("it ends too early")
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count(1)
	s := string(d.buf[:n])
	d.buf = d.buf[n:]
	return s
}

func (d *decoder) strings() (out []string) {
	for range d.count(1) {
		out = append(out, d.string())
	}
	return out
}

func (d *decoder) hash() uint64 {
	if len(d.buf) < 8 {
		d.fail("it ends too early")
		return 0
	}
	h := binary.LittleEndian.Uint64(d.buf)
	d.buf = d.buf[8:]
	return h
}

func (d *decoder) hashes() []uint64 {
	out := make([]uint64, d.count(8))
	for i := range out {
		out[i] = d.hash()
	}
	return out
}

// decodeNumbers reads codes or numbers below a limit.
func decodeNumbers[T code | uint32](d *decoder, limit uint32) []T {
	size := 2
	if d.wide {
		size = 4
	}
	out := make([]T, d.count(size))
	for i := range out {
		n := uint32(binary.LittleEndian.Uint16(d.buf[size*i:]))
		if d.wide {
			n = binary.LittleEndian.Uint32(d.buf[size*i:])
		}
		if n >= limit {
			d.fail("a number is too large")
			return nil
		}
		out[i] = T(n)
	}
	d.buf = d.buf[size*len(out):]
	return out
}

func (d *decoder) record() *record {
	r := &record{}
	flags := d.byte()
	r.person, r.result = flags&hasPerson != 0, flags&hasResult != 0
	r.know = flow.Knowledge(d.byte())
	if flags&hasBatch != 0 {
		r.batch = d.hash()
	}
	r.said, r.anywhere, r.tool = d.strings(), d.strings(), d.string()
	r.keys, r.words, r.atoms = d.hashes(), d.hashes(), d.hashes()
	if len(r.words) > maxOrdinals/2 || len(r.atoms) > maxOrdinals/2 {
		d.fail("it has too many words")
	}
	d.wide = r.wide()
	codes := uint32(wordCode(uint32(len(r.words))))
	r.marks, r.echo, r.echoes = decodeNumbers[uint32](d, uint32(len(r.words))), decodeNumbers[code](d, codes), decodeNumbers[code](d, codes)
	for range d.count(1) {
		var set []flow.Source
		for range d.count(1) {
			set = append(set, flow.Source(d.string()))
		}
		r.sets = append(r.sets, set)
	}
	r.texts = d.entries(r, len(r.sets))
	r.written = d.entries(r, 1)
	return r
}

func (d *decoder) entries(r *record, sets int) []entry {
	codes := uint32(wordCode(uint32(len(r.words))))
	out := make([]entry, d.count(6))
	last := &entry{}
	for i := range out {
		t := &out[i]
		flags := d.byte()
		t.trusted, t.opaque, t.dropped = flags&isTrusted != 0, flags&isOpaque != 0, flags&isDropped != 0
		t.set = uint32(d.uint(uint64(max(sets, 1) - 1)))
		t.length = int64(d.uint(1 << 40))
		t.tool, t.call, t.proposal, t.pointer = last.tool, last.call, last.proposal, last.pointer
		if flags&sameCall == 0 {
			t.tool, t.call, t.proposal = stopgate.ToolName(d.string()), stopgate.CallID(d.string()), stopgate.ProposalID(d.string())
		}
		if flags&samePointer == 0 {
			t.pointer = clip(d.string())
		}
		t.plain, t.loose, t.atoms = decodeNumbers[code](d, codes), decodeNumbers[code](d, codes), decodeNumbers[uint32](d, uint32(len(r.atoms)))
		last = t
	}
	if len(out) > 0 && sets == 0 {
		d.fail("its texts have no sources")
	}
	return out
}
