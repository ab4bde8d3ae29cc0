package mem

import (
	"hash/maphash"

	"github.com/stopgate/stopgate/session"
)

// calls are the single calls of a session, in the order in which they were written, and
// indexed by their proposals. Of each call, only the content of its cell is stored.
type calls struct {
	list  queue[callEntry] // if a call was written again, its older entry is empty
	slots []slot           // a hash table with linear probing, half empty
	used  int
	seed  maphash.Seed
}

// callEntry is a call as it was written.
type callEntry struct {
	fact, end *session.Fact
	at        int64
	hash      uint32
}

// slot is the position of a call in the list: its hash in the upper half, its number in the
// lower half. 0 is free.
type slot uint64

func newSlot(hash uint32, number int) slot { return slot(hash)<<32 | slot(uint32(number)) }

func (s slot) hash() uint32 { return uint32(s >> 32) }

// hash returns a hash that is never 0.
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

// at returns the call of a slot.
func (c *calls) at(s slot) *callEntry {
	first := c.list.first
	return c.list.at(first + int(uint32(s)-uint32(first)))
}

// cell writes the cell of a call to to, or the zero cell if the call is unknown.
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

// put stores the cell of a call as the newest.
func (c *calls) put(cell *session.Cell) {
	if c.used*2 >= len(c.slots) {
		c.grow()
	}
	id := string(cell.Call.Fact.Proposal)
	h := c.hash(id)
	i := c.find(id, h)
	if i >= 0 {
		*c.at(c.slots[i]) = callEntry{}
	} else {
		for i = c.home(h); c.slots[i] != 0; i = c.after(i) {
		}
		c.used++
	}
	c.slots[i] = newSlot(h, c.list.next)
	c.list.add(callEntry{cell.Call.Fact, cell.Call.End, cell.At, h})
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

// dropFirst removes the oldest call.
func (c *calls) dropFirst() {
	if first := c.list.at(c.list.first); first.fact != nil {
		c.free(newSlot(first.hash, c.list.first))
	}
	c.list.drop()
}

// free empties a slot, and moves up the following ones that belong before it.
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
