package index

import "math/bits"

// table numbers distinct hashes in the order in which they come: open addressing with linear
// probing. A slot has the number plus 1 in its low bits and bits of the hash above, so that nearly
// every probe that fails stays in the slots.
type table struct {
	hashes []uint64
	slots  []uint32
}

const (
	ordinalBits = 23
	ordinalMask = 1<<ordinalBits - 1
	maxOrdinals = ordinalMask // slots hold the ordinal plus 1
)

// tag is the part of a hash that a slot repeats: its low bits. The high ones choose the slot.
func tag(h uint64) uint32 { return uint32(h) << ordinalBits }

func (t *table) slot(h uint64) int {
	high, _ := bits.Mul64(h, uint64(len(t.slots)))
	return int(high)
}

// find returns the number of a hash.
func (t *table) find(h uint64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	want := tag(h)
	for i := t.slot(h); ; {
		s := t.slots[i]
		if s == 0 {
			return 0, false
		}
		if s&^ordinalMask == want {
			if o := s&ordinalMask - 1; t.hashes[o] == h {
				return o, true
			}
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
}

// add returns the number of a hash, which it gives to a new one.
func (t *table) add(h uint64) (ordinal uint32, added bool) {
	if len(t.hashes)+len(t.hashes)/5+2 > len(t.slots) { // a slot stays empty
		t.grow(16 + len(t.slots) + len(t.slots)/4)
	}
	want := tag(h)
	for i := t.slot(h); ; {
		s := t.slots[i]
		if s == 0 {
			o := len(t.hashes)
			t.hashes = room(t.hashes, 1)
			t.hashes[o] = h
			t.slots[i] = want | uint32(o+1)
			return uint32(o), true
		}
		if s&^ordinalMask == want {
			if o := s&ordinalMask - 1; t.hashes[o] == h {
				return o, false
			}
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
}

// grow makes n slots, of which at most 5 in 6 are used: 4 in 6 after it has grown.
func (t *table) grow(n int) {
	t.slots = make([]uint32, n)
	for o, h := range t.hashes {
		i := t.slot(h)
		for t.slots[i] != 0 {
			if i++; i == len(t.slots) {
				i = 0
			}
		}
		t.slots[i] = tag(h) | uint32(o+1)
	}
}

// reset empties the table, and makes room for n hashes. It does not keep much memory.
func (t *table) reset(n int) {
	t.hashes = empty(t.hashes)
	switch slots := n + n/2; {
	case slots > len(t.slots):
		t.slots = make([]uint32, slots)
	case len(t.slots) > 2*maxScratch:
		t.slots = nil
	default:
		clear(t.slots)
	}
}

func (t *table) size() int64 { return int64(8*cap(t.hashes) + 4*cap(t.slots)) }
