package mem

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Limits of the calls and facts that a session stores. Times are those of the facts: an
// idle session does not drop any.
const (
	// MaxCalls limits the calls that wait for their results.
	MaxCalls = 1 << 14
	maxFacts = 1 << 17
	maxAge   = int64(24 * time.Hour / time.Millisecond)
	// Excess calls are dropped in batches: old calls are not in the processor's caches, and
	// it fetches many faster than one after the other.
	batch = 128
)

// cells are the cells of one owner. Zero cells are not stored, except for [session.Self].
type cells struct {
	all    map[session.Key]*cellEntry
	recent [32]*cellEntry // recently requested entries, each in its only possible slot
}

// cellEntry contains a cell, so that an update can change it without a second lookup.
type cellEntry struct {
	key    session.Key
	cell   *session.Cell
	shared bool // a reader may refer to the cell
}

// put replaces the cell, unless it was changed in place.
func (p *cellEntry) put(next *session.Cell) {
	if next != p.cell {
		p.cell, p.shared = next, false
	}
}

// find returns the entry of a cell, nil if there is none.
func (c *cells) find(k *session.Key) *cellEntry {
	near := &c.recent[recentSlot(k)]
	if at := *near; at != nil && at.key.Value == k.Value && at.key.Name == k.Name && at.key.Space == k.Space && at.key.Scope == k.Scope {
		return at
	}
	at := c.all[*k]
	if at != nil {
		*near = at
	}
	return at
}

// recentSlot returns the slot of a key in cells.recent, computed without a hash.
func recentSlot(k *session.Key) uint32 {
	n := uint32(k.Space)<<16 + uint32(len(k.Name))<<8 + uint32(len(k.Value))
	if at := len(k.Value) - 1; at >= 0 {
		n += uint32(k.Value[at])<<24 + uint32(k.Value[at/2])<<12
	} else if at = len(k.Name) - 1; at >= 0 {
		n += uint32(k.Name[at])<<24 + uint32(k.Name[at/2])<<12
	}
	return n * 0x9e3779b1 >> 27
}

// add creates the entry of a cell.
func (c *cells) add(k session.Key, cell *session.Cell) {
	if c.all == nil {
		c.all = map[session.Key]*cellEntry{}
	}
	c.all[k] = &cellEntry{key: k, cell: cell}
}

func (c *cells) remove(k *session.Key) {
	c.recent[recentSlot(k)] = nil
	delete(c.all, *k)
}

// record is the state of one session.
type record struct {
	id    stopgate.SessionID
	cells cells
	calls calls
	log   log
}

// newRecord returns a record with the session's own cell, which every update requests.
func newRecord(id stopgate.SessionID) *record {
	r := &record{id: id}
	r.cells.add(session.Self, new(session.Cell))
	return r
}

// expire drops calls and facts that are too old or too many.
func (r *record) expire(now int64) {
	limit := 2*MaxCalls + batch
	if r.calls.list.len() > limit {
		limit = 2 * MaxCalls
	}
	for r.calls.list.len() > 0 {
		c := r.calls.list.at(r.calls.list.first)
		if c.fact != nil {
			if r.calls.list.len() <= limit && c.at >= now-maxAge {
				break
			}
			r.removeOpenKey(c.fact)
		}
		r.calls.dropFirst()
	}
	if limit = maxFacts + batch; r.log.n > limit {
		limit = maxFacts
	}
	for r.log.n > 1 && (r.log.n > limit || r.log.first().At < now-maxAge) {
		r.log.drop()
	}
}

// removeOpenKey removes a dropped call from the cell that finds it by its id.
func (r *record) removeOpenKey(released *session.Fact) {
	k := session.OpenKey(released.CallID, released.Tool)
	at := r.cells.find(&k)
	if at == nil {
		return
	}
	if at.put(at.cell.Without(released)); at.cell.IsZero() {
		r.cells.remove(&k)
	}
}
