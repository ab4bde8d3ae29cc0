package index

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

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
	r.person, r.result, r.repeats = flags&hasPerson != 0, flags&hasResult != 0, flags&hasRepeats != 0
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
		if flags&inObject != 0 {
			t.object = uint32(d.uint(math.MaxUint32))
		}
		t.plain, t.loose, t.atoms = decodeNumbers[code](d, codes), decodeNumbers[code](d, codes), decodeNumbers[uint32](d, uint32(len(r.atoms)))
		last = t
	}
	if len(out) > 0 && sets == 0 {
		d.fail("its texts have no sources")
	}
	return out
}
