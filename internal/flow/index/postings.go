package index

import "encoding/binary"

// postings are, for every ordinal, the units in which it occurs, in ascending order: blocks of
// words, or texts. One or two units of an ordinal, as most have, are in head itself; more are lists in
// pool.
//
// A list is a header and a chunk: the offset of its last chunk in 4 bytes, its last unit and its length
// in 2 each, the bytes used in its last chunk and the class of that in 1 each. A chunk is the offset of the next one
// in 4 bytes, and data: the differences between units as varints, 0 where the rest is unused.
type postings struct {
	head   []uint32
	sparse map[uint32]uint32 // in place of head, where few ordinals have units
	pool   []byte
}

const (
	listBit    = 1 << 31 // in head: the rest is the offset of a list
	pairBit    = 1 << 30 // two units; else it is one unit plus 1, or 0
	unitBits   = 15
	maxUnits   = 1<<unitBits - 1
	listHeader = 10
	chunkLink  = 4
)

// chunkSizes are the lengths of the data of chunks by their class.
var chunkSizes = [...]int{6, 14, 28, 60, 124}

// room appends n zero elements to a slice that grows by a sixth.
func room[T any](s []T, n int) []T {
	if need := len(s) + n; need > cap(s) {
		s = append(make([]T, 0, need+need/6), s...)
	}
	return s[:len(s)+n]
}

func (p *postings) headOf(ordinal uint32) uint32 {
	if p.sparse != nil {
		return p.sparse[ordinal]
	}
	if int(ordinal) >= len(p.head) {
		return 0
	}
	return p.head[ordinal]
}

func (p *postings) setHead(ordinal, head uint32) {
	if p.sparse != nil {
		p.sparse[ordinal] = head
		return
	}
	if n := int(ordinal) + 1 - len(p.head); n > 0 {
		p.head = room(p.head, n)
	}
	p.head[ordinal] = head
}

// add adds a unit to those of an ordinal, which are not greater.
func (p *postings) add(ordinal uint32, unit int) {
	switch h := p.headOf(ordinal); {
	case h == 0:
		p.setHead(ordinal, uint32(unit+1))
	case h&listBit != 0:
		p.extend(h&^listBit, unit)
	case h&pairBit == 0:
		if first := int(h - 1); first != unit {
			p.setHead(ordinal, pairBit|uint32(first)<<unitBits|uint32(unit))
		}
	default:
		first, second := pair(h)
		if second == unit {
			return
		}
		at := uint32(len(p.pool))
		p.pool = room(p.pool, listHeader+chunkLink+chunkSizes[0])
		binary.LittleEndian.PutUint32(p.pool[at:], at+listHeader)
		p.put(at, first, uint64(first+1)) // from -1
		p.extend(at, second)
		p.extend(at, unit)
		p.setHead(ordinal, listBit|at)
	}
}

func pair(head uint32) (first, second int) {
	return int(head >> unitBits & maxUnits), int(head & maxUnits)
}

// extend adds a unit to a list.
func (p *postings) extend(list uint32, unit int) {
	last := int(binary.LittleEndian.Uint16(p.pool[list+4:]))
	if last != unit {
		p.put(list, unit, uint64(unit-last))
	}
}

// put appends a unit to a list, as a difference that is not 0.
func (p *postings) put(list uint32, unit int, difference uint64) {
	var code [3]byte
	n := binary.PutUvarint(code[:], difference)
	header := p.pool[list : list+listHeader]
	used, class := int(header[8]), header[9]
	if used+n > chunkSizes[class] {
		class = min(class+1, byte(len(chunkSizes)-1))
		next := uint32(len(p.pool))
		binary.LittleEndian.PutUint32(p.pool[binary.LittleEndian.Uint32(header):], next)
		p.pool = room(p.pool, chunkLink+chunkSizes[class])
		header = p.pool[list : list+listHeader]
		binary.LittleEndian.PutUint32(header, next)
		used = 0
	}
	to := p.pool[int(binary.LittleEndian.Uint32(header))+chunkLink+used:]
	for i := range n {
		to[i] = code[i]
	}
	binary.LittleEndian.PutUint16(header[4:], uint16(unit))
	binary.LittleEndian.PutUint16(header[6:], binary.LittleEndian.Uint16(header[6:])+1)
	header[8], header[9] = byte(used+n), class
}

// count returns the number of units of an ordinal.
func (p *postings) count(ordinal uint32) int {
	switch h := p.headOf(ordinal); {
	case h&listBit != 0:
		return int(binary.LittleEndian.Uint16(p.pool[h&^listBit+6:]))
	case h&pairBit != 0:
		return 2
	case h != 0:
		return 1
	}
	return 0
}

// units yields the units of an ordinal until yield returns false.
func (p *postings) units(ordinal uint32, yield func(unit int) bool) {
	switch h := p.headOf(ordinal); {
	case h&listBit != 0:
		p.list(h&^listBit, yield)
	case h&pairBit != 0:
		if first, second := pair(h); yield(first) {
			yield(second)
		}
	case h != 0:
		yield(int(h - 1))
	}
}

func (p *postings) list(list uint32, yield func(unit int) bool) {
	n := int(binary.LittleEndian.Uint16(p.pool[list+6:]))
	chunk, unit := list+listHeader, -1
	for class := 0; n > 0; class = min(class+1, len(chunkSizes)-1) {
		data := p.pool[chunk+chunkLink:][:chunkSizes[class]]
		for n > 0 && len(data) > 0 && data[0] != 0 {
			difference, size := binary.Uvarint(data)
			data = data[size:]
			unit += int(difference)
			if n--; !yield(unit) {
				return
			}
		}
		chunk = binary.LittleEndian.Uint32(p.pool[chunk:])
	}
}

func (p *postings) size() int64 { return int64(4*cap(p.head) + cap(p.pool) + 24*len(p.sparse)) }
