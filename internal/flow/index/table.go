package index

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
	maxOrdinals = ordinalMask // slots hold ordinal+1
)

// tag is the part of a hash that a slot repeats. The lowest bits choose the slot.
func tag(h uint64) uint32 { return uint32(h>>(64-(32-ordinalBits))) << ordinalBits }

// find returns the number of a hash.
func (t *table) find(h uint64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	want := tag(h)
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			return 0, false
		}
		if s&^ordinalMask == want {
			if o := s&ordinalMask - 1; t.hashes[o] == h {
				return o, true
			}
		}
	}
}

// add returns the number of a hash, which it gives to a new one.
func (t *table) add(h uint64) (ordinal uint32, added bool) {
	if len(t.hashes)+len(t.hashes)/7 >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	want := tag(h)
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			t.hashes = append(t.hashes, h)
			t.slots[i] = want | uint32(len(t.hashes))
			return uint32(len(t.hashes) - 1), true
		}
		if s&^ordinalMask == want {
			if o := s&ordinalMask - 1; t.hashes[o] == h {
				return o, false
			}
		}
	}
}

// grow doubles the slots, which are then between 7/16 and 7/8 full.
func (t *table) grow() {
	t.slots = make([]uint32, max(16, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for o, h := range t.hashes {
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = tag(h) | uint32(o+1)
	}
}

// reset empties the table and keeps its memory.
func (t *table) reset() {
	t.hashes = t.hashes[:0]
	clear(t.slots)
}

func (t *table) size() int64 { return int64(8*cap(t.hashes) + 4*cap(t.slots)) }
