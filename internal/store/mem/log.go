package mem

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/session"
)

// blockSize is the number of items that are allocated at once: enough that the cost of one
// is negligible, and few enough that an idle session needs little memory.
const blockSize = 16

// log contains the latest facts of a session; it is never empty once there was a fact.
// Facts are in blocks, at the addresses to which cells point. A block lives as long as any
// of its facts.
type log struct {
	blocks [][]session.Fact
	start  int // number of dropped facts in the first block
	n      int
}

// add copies facts to the end of the log and returns the copies, which are contiguous.
func (l *log) add(facts []session.Fact) []session.Fact {
	last := len(l.blocks) - 1
	if last < 0 || cap(l.blocks[last])-len(l.blocks[last]) < len(facts) {
		l.blocks = append(l.blocks, make([]session.Fact, 0, max(blockSize, len(facts))))
		last++
	}
	b := append(l.blocks[last], facts...)
	l.blocks[last], l.n = b, l.n+len(facts)
	return b[len(b)-len(facts):]
}

// undo removes the latest n facts, which were added by one add.
func (l *log) undo(n int) {
	last := len(l.blocks) - 1
	b := l.blocks[last]
	clear(b[len(b)-n:])
	l.n -= n
	if l.blocks[last] = b[:len(b)-n]; len(b) == n {
		l.blocks = l.blocks[:last]
	}
}

func (l *log) first() *session.Fact { return &l.blocks[0][l.start] }

func (l *log) last() *session.Fact {
	b := l.blocks[len(l.blocks)-1]
	return &b[len(b)-1]
}

// drop removes the first fact. Readers that still refer to it can continue to do so.
func (l *log) drop() {
	l.n--
	if l.start++; l.start == len(l.blocks[0]) && len(l.blocks) > 1 {
		l.blocks[0] = nil
		l.blocks, l.start = l.blocks[1:], 0
	}
}

// read returns up to limit facts after a position.
func (l *log) read(after uint64, limit int) (facts []session.Fact) {
	compare := func(f *session.Fact) int { return cmp.Compare(f.Seq, after+1) }
	at, _ := slices.BinarySearchFunc(l.blocks, after, func(b []session.Fact, _ uint64) int { return compare(&b[len(b)-1]) })
	for ; at < len(l.blocks) && len(facts) < limit; at++ {
		b := l.blocks[at]
		if at == 0 {
			b = b[l.start:]
		}
		from, _ := slices.BinarySearchFunc(b, after, func(f session.Fact, _ uint64) int { return compare(&f) })
		facts = append(facts, b[from:min(len(b), from+limit-len(facts))]...)
	}
	return facts
}

// queue is a list that grows at its end and is dropped from its start. Its items are
// numbered from the first one ever added.
type queue[T any] struct {
	blocks  []*[blockSize]T
	dropped int // number of blocks dropped before them
	first   int // number of the first item
	next    int // number after that of the last item
}

func (q *queue[T]) len() int { return q.next - q.first }

func (q *queue[T]) at(number int) *T {
	return &q.blocks[number/blockSize-q.dropped][number%blockSize]
}

func (q *queue[T]) add(item T) {
	if q.next%blockSize == 0 {
		q.blocks = append(q.blocks, new([blockSize]T))
	}
	*q.at(q.next) = item
	q.next++
}

func (q *queue[T]) drop() {
	*q.at(q.first) = *new(T)
	if q.first++; q.first%blockSize == 0 {
		q.blocks[0] = nil
		q.blocks, q.dropped = q.blocks[1:], q.dropped+1
	}
}
