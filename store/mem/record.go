package mem

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Bounds of what a session keeps of single calls and facts. Times are those of the
// facts: a session in which nothing happens forgets nothing.
const (
	// MaxCalls is how many calls can wait for their results.
	MaxCalls = 1 << 14
	maxFacts = 1 << 17
	maxAge   = int64(24 * time.Hour / time.Millisecond)
	// What is too much is dropped by so many at a time: old calls are not in the
	// processor's caches, and it fetches many sooner than one after the other.
	batch = 128
)

// cells are the cells of one owner. Zero cells are not kept, but for [session.Self].
type cells struct {
	all  map[session.Key]*place
	near [32]*place // those that were asked for lately, each in its one place
}

// place is where a cell is kept: an update changes it without looking for it again.
type place struct {
	key  session.Key
	cell *session.Cell
	lent bool // somebody may look at the cell
}

// put replaces the cell, unless it was changed where it stands.
func (p *place) put(next *session.Cell) {
	if next != p.cell {
		p.cell, p.lent = next, false
	}
}

// find returns the place of a cell, nil if there is none.
func (c *cells) find(k *session.Key) *place {
	near := &c.near[nearness(k)]
	if at := *near; at != nil && at.key.Value == k.Value && at.key.Name == k.Name && at.key.Space == k.Space && at.key.Scope == k.Scope {
		return at
	}
	at := c.all[*k]
	if at != nil {
		*near = at
	}
	return at
}

// nearness is where a key is remembered: one of few places, found without a hash.
func nearness(k *session.Key) uint32 {
	n := uint32(k.Space)<<16 + uint32(len(k.Name))<<8 + uint32(len(k.Value))
	if at := len(k.Value) - 1; at >= 0 {
		n += uint32(k.Value[at])<<24 + uint32(k.Value[at/2])<<12
	} else if at = len(k.Name) - 1; at >= 0 {
		n += uint32(k.Name[at])<<24 + uint32(k.Name[at/2])<<12
	}
	return n * 0x9e3779b1 >> 27
}

// add makes the place of a cell that had none.
func (c *cells) add(k session.Key, cell *session.Cell) {
	if c.all == nil {
		c.all = map[session.Key]*place{}
	}
	c.all[k] = &place{key: k, cell: cell}
}

func (c *cells) remove(k *session.Key) {
	c.near[nearness(k)] = nil
	delete(c.all, *k)
}

// record is what one session has of its own.
type record struct {
	id    stopgate.SessionID
	cells cells
	calls calls
	log   log
}

// newRecord has a place for the session's own cell, which every update asks for.
func newRecord(id stopgate.SessionID) *record {
	r := &record{id: id}
	r.cells.add(session.Self, new(session.Cell))
	return r
}

// forget drops what is too old, or too much.
func (r *record) forget(now int64) {
	most := 2*MaxCalls + batch
	if r.calls.list.len() > most {
		most = 2 * MaxCalls
	}
	for r.calls.list.len() > 0 {
		c := r.calls.list.at(r.calls.list.first)
		if c.fact != nil {
			if r.calls.list.len() <= most && c.at >= now-maxAge {
				break
			}
			r.unname(c.fact)
		}
		r.calls.dropFirst()
	}
	if most = maxFacts + batch; r.log.n > most {
		most = maxFacts
	}
	for r.log.n > 1 && (r.log.n > most || r.log.first().At < now-maxAge) {
		r.log.drop()
	}
}

// unname takes a call that is forgotten out of the cell that finds it by its id.
func (r *record) unname(released *session.Fact) {
	k := session.OpenKey(released.CallID, released.Tool)
	at := r.cells.find(&k)
	if at == nil {
		return
	}
	if at.put(at.cell.Without(released)); at.cell.IsZero() {
		r.cells.remove(&k)
	}
}
