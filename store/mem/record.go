package mem

import (
	"cmp"
	"slices"
	"time"

	"github.com/stopgate/stopgate/session"
)

// Bounds of what a session keeps of single calls and facts. Times are those of the
// facts: a session in which nothing happens forgets nothing.
const (
	// MaxCalls is how many calls can wait for their results.
	MaxCalls = 1 << 14
	maxFacts = 1 << 17
	maxAge   = int64(24 * time.Hour / time.Millisecond)
)

// cells are the cells of one owner. Zero cells are not kept.
type cells map[session.Key]*place

// place is where a cell is kept: an update changes it without looking for it again.
type place struct {
	cell  *session.Cell
	spare *session.Cell // the one before, if nobody looks at it; memory for the next
	lent  bool          // somebody may look at cell
}

// put replaces the cell.
func (p *place) put(next *session.Cell) {
	if next == p.cell { // the update asked for it twice
		return
	}
	p.spare, p.cell = p.cell, next
	if p.lent {
		p.spare, p.lent = nil, false
	}
}

// record is what one session has of its own.
type record struct {
	cells  cells
	issued map[string]*session.Cell // the cells of calls by their proposals, not zero
	calls  queue[call]              // the same, by the time they were written
	log    log
}

// issue keeps the cell of a call.
func (r *record) issue(id string, c *session.Cell) {
	if c.IsZero() {
		delete(r.issued, id)
		return
	}
	r.issued[id] = c
	r.calls.add(call{id, c})
}

// call is a cell of SpaceCall as it was written.
type call struct {
	id   string
	cell *session.Cell
}

// forget drops what is too old, or too much. A call whose cell was written anew
// since has a newer place in the queue.
func (r *record) forget(now int64) {
	for r.calls.len() > 0 {
		c := r.calls.first()
		if r.calls.len() <= 2*MaxCalls && c.cell.At >= now-maxAge {
			break
		}
		if r.issued[c.id] == c.cell {
			delete(r.issued, c.id)
			r.unname(c)
		}
		r.calls.drop()
	}
	for r.log.len() > 1 && (r.log.len() > maxFacts || r.log.first().At < now-maxAge) {
		r.log.drop()
	}
}

// unname takes a call that is forgotten out of the cell that finds it by its id.
func (r *record) unname(c call) {
	if c.cell.Call == nil {
		return
	}
	k := session.OpenKey(c.cell.Call.Fact.CallID, c.cell.Call.Fact.Tool)
	at := r.cells[k]
	if at == nil {
		return
	}
	if at.put(at.cell.Without(c.cell.Call.Fact.Proposal)); at.cell.IsZero() {
		delete(r.cells, k)
	}
}

// log is the newest facts of a session, never empty once there was one.
type log struct{ queue[*session.Fact] }

// read returns up to limit facts behind a position.
func (l *log) read(after uint64, limit int) []session.Fact {
	from, _ := slices.BinarySearchFunc(l.items, after+1, func(f *session.Fact, seq uint64) int {
		if f == nil { // dropped
			return -1
		}
		return cmp.Compare(f.Seq, seq)
	})
	from = max(from, l.start)
	var facts []session.Fact
	for _, f := range l.items[from:min(len(l.items), from+limit)] {
		facts = append(facts, *f)
	}
	return facts
}

func (l *log) ends() (first, last *session.Fact) { return l.first(), l.items[len(l.items)-1] }

// queue is a list that grows at its end and is dropped from its start.
type queue[T any] struct {
	items []T
	start int // items before are dropped
}

func (q *queue[T]) len() int { return len(q.items) - q.start }

func (q *queue[T]) first() T { return q.items[q.start] }

func (q *queue[T]) add(item T) { q.items = append(q.items, item) }

func (q *queue[T]) drop() {
	var none T
	q.items[q.start] = none
	if q.start++; q.start > len(q.items)/2 { // each item is moved once at most, on average
		kept := copy(q.items, q.items[q.start:])
		clear(q.items[kept:])
		q.items, q.start = q.items[:kept], 0
	}
}
