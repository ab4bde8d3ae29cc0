package index

import "math"

// postings are, for every ordinal, the units in which it occurs, in ascending order: blocks of
// words, or texts. A unit that is the only one of its ordinal, as of most, is in head itself; others
// are lists of chunks in pool.
type postings struct {
	head []uint32
	pool []uint16
}

const (
	listBit   = 1 << 31
	maxUnits  = math.MaxUint16 // units fit in a uint16
	maxPool   = listBit - 1<<12
	header    = 4 // of a list: the offset of its last chunk, and its length
	chunkHead = 2 // of a chunk: the offset of the next one
)

// chunkLen is the number of units in the chunk of a list with this index.
func chunkLen(i int) int { return 4 << min(i, 4) }

func (p *postings) get32(at uint32) uint32 {
	return uint32(p.pool[at]) | uint32(p.pool[at+1])<<16
}

func (p *postings) put32(at, v uint32) {
	p.pool[at], p.pool[at+1] = uint16(v), uint16(v>>16)
}

// room returns how many units of a list of n are in its last chunk, and how many that can hold.
func room(n int) (used, length int) {
	i := 0
	for n > chunkLen(i) {
		n -= chunkLen(i)
		if i++; i > 4 {
			length = chunkLen(i)
			return (n-1)%length + 1, length
		}
	}
	return n, chunkLen(i)
}

// add adds a unit to those of an ordinal, whose units are not greater.
func (p *postings) add(ordinal uint32, unit int) {
	for int(ordinal) >= len(p.head) {
		p.head = append(p.head, 0)
	}
	h := p.head[ordinal]
	switch {
	case h == 0:
		p.head[ordinal] = uint32(unit + 1)
	case h&listBit == 0:
		first := int(h - 1)
		if first == unit {
			return
		}
		at := uint32(len(p.pool))
		p.pool = append(p.pool, make([]uint16, header+chunkHead+chunkLen(0))...)
		chunk := at + header
		p.put32(at, chunk)
		p.put32(at+2, 2)
		p.pool[chunk+chunkHead], p.pool[chunk+chunkHead+1] = uint16(first), uint16(unit)
		p.head[ordinal] = listBit | at
	default:
		p.extend(h&^listBit, unit)
	}
}

// extend adds a unit to a list.
func (p *postings) extend(at uint32, unit int) {
	chunk, n := p.get32(at), p.get32(at+2)
	used, length := room(int(n))
	if int(p.pool[chunk+chunkHead+uint32(used)-1]) == unit {
		return
	}
	if used == length {
		next := uint32(len(p.pool))
		_, grown := room(int(n) + 1)
		p.pool = append(p.pool, make([]uint16, chunkHead+grown)...)
		p.put32(chunk, next)
		p.put32(at, next)
		chunk, used = next, 0
	}
	p.pool[chunk+chunkHead+uint32(used)] = uint16(unit)
	p.put32(at+2, n+1)
}

// count returns the number of units of an ordinal.
func (p *postings) count(ordinal uint32) int {
	if int(ordinal) >= len(p.head) {
		return 0
	}
	switch h := p.head[ordinal]; {
	case h == 0:
		return 0
	case h&listBit == 0:
		return 1
	default:
		return int(p.get32(h&^listBit + 2))
	}
}

// units yields the units of an ordinal until yield returns false.
func (p *postings) units(ordinal uint32, yield func(unit int) bool) {
	n := p.count(ordinal)
	if n == 0 {
		return
	}
	h := p.head[ordinal]
	if h&listBit == 0 {
		yield(int(h - 1))
		return
	}
	for chunk, i := h&^listBit+header, 0; ; i++ {
		length := min(n, chunkLen(i))
		for _, unit := range p.pool[chunk+chunkHead:][:length] {
			if !yield(int(unit)) {
				return
			}
		}
		if n -= length; n == 0 {
			return
		}
		chunk = p.get32(chunk)
	}
}

func (p *postings) size() int64 { return int64(4*cap(p.head) + 2*cap(p.pool)) }
