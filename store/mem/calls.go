package mem

import (
	"hash/maphash"

	"github.com/stopgate/stopgate/session"
)

// calls are the single calls of a session: in the order in which they were written, and
// found by their proposals. What is kept of one is what its cell says and no more.
type calls struct {
	list  queue[issued] // of one that was written anew since, the older is empty
	slots []slot        // a hash table with linear probing, half empty
	used  int
	seed  maphash.Seed
}

// issued is a call as it was written.
type issued struct {
	fact, end *session.Fact
	at        int64
	hash      uint32
}

// slot says where a call stands in the list: its hash above, and below its number
// there. 0 is free.
type slot uint64

func newSlot(hash uint32, number int) slot { return slot(hash)<<32 | slot(uint32(number)) }

func (s slot) hash() uint32 { return uint32(s >> 32) }

// hash is never 0.
func (c *calls) hash(id string) uint32 { return uint32(maphash.String(c.seed, id)) | 1 }

// find returns the slot of a call, -1 if there is none.
func (c *calls) find(id string, hash uint32) int {
	if len(c.slots) == 0 {
		return -1
	}
	for i := c.home(hash); c.slots[i] != 0; i = c.after(i) {
		if c.slots[i].hash() == hash && string(c.at(c.slots[i]).fact.Proposal) == id {
			return i
		}
	}
	return -1
}

func (c *calls) home(hash uint32) int { return int(hash>>1) & (len(c.slots) - 1) }

func (c *calls) after(i int) int { return (i + 1) & (len(c.slots) - 1) }

// at is the call of a slot.
func (c *calls) at(s slot) *issued {
	first := c.list.first
	return c.list.at(first + int(uint32(s)-uint32(first)))
}

// cell writes the cell of a call; the zero cell if it is not known.
func (c *calls) cell(id string, to *session.Cell) {
	*to = session.Cell{}
	if c == nil || len(c.slots) == 0 {
		return
	}
	i := c.find(id, c.hash(id))
	if i < 0 {
		return
	}
	call := c.at(c.slots[i])
	to.Call.Fact, to.Seq, to.At = call.fact, call.fact.Seq, call.fact.At
	if end := call.end; end != nil {
		to.Call.Done, to.Call.End, to.Seq, to.At = end.Kind, end, end.Seq, end.At
	}
}

// put keeps the cell of a call, as the newest.
func (c *calls) put(cell *session.Cell) {
	if c.used*2 >= len(c.slots) {
		c.grow()
	}
	id := string(cell.Call.Fact.Proposal)
	h := c.hash(id)
	i := c.find(id, h)
	if i >= 0 {
		*c.at(c.slots[i]) = issued{}
	} else {
		for i = c.home(h); c.slots[i] != 0; i = c.after(i) {
		}
		c.used++
	}
	c.slots[i] = newSlot(h, c.list.next)
	c.list.add(issued{cell.Call.Fact, cell.Call.End, cell.At, h})
}

func (c *calls) grow() {
	old := c.slots
	if c.slots = make([]slot, max(16, 2*len(old))); len(old) == 0 {
		c.seed = maphash.MakeSeed()
	}
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := c.home(s.hash())
		for c.slots[i] != 0 {
			i = c.after(i)
		}
		c.slots[i] = s
	}
}

// dropFirst forgets the oldest call.
func (c *calls) dropFirst() {
	if first := c.list.at(c.list.first); first.fact != nil {
		c.free(newSlot(first.hash, c.list.first))
	}
	c.list.drop()
}

// free empties a slot, and moves those behind it up that belong before.
func (c *calls) free(s slot) {
	i := c.home(s.hash())
	for c.slots[i] != s {
		i = c.after(i)
	}
	for next := c.after(i); c.slots[next] != 0; next = c.after(next) {
		home := c.home(c.slots[next].hash())
		if (next-home)&(len(c.slots)-1) >= (next-i)&(len(c.slots)-1) {
			c.slots[i], i = c.slots[next], next
		}
	}
	c.slots[i] = 0
	c.used--
}
