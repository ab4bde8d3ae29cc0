package mem

import (
	"cmp"
	"slices"

	"github.com/stopgate/stopgate/session"
)

// blockSize is how many items are allocated at a time: many enough that one costs
// nothing, few enough that a session in which little happens has little memory.
const blockSize = 16

// log is the newest facts of a session, never empty once there was one. They stand in
// blocks, each of them where cells point to; a block lives as long as any of its facts.
type log struct {
	blocks [][]session.Fact
	start  int // facts of the first block that are dropped
	n      int
}

// add copies facts to the end of the log and returns them there, side by side.
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

// cut takes back the newest n facts, which were added at once.
func (l *log) cut(n int) {
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

// drop forgets the first fact. Whoever still looks at it may.
func (l *log) drop() {
	l.n--
	if l.start++; l.start == len(l.blocks[0]) && len(l.blocks) > 1 {
		l.blocks[0] = nil
		l.blocks, l.start = l.blocks[1:], 0
	}
}

// read returns up to limit facts behind a position.
func (l *log) read(after uint64, limit int) (facts []session.Fact) {
	behind := func(f *session.Fact) int { return cmp.Compare(f.Seq, after+1) }
	at, _ := slices.BinarySearchFunc(l.blocks, after, func(b []session.Fact, _ uint64) int { return behind(&b[len(b)-1]) })
	for ; at < len(l.blocks) && len(facts) < limit; at++ {
		b := l.blocks[at]
		if at == 0 {
			b = b[l.start:]
		}
		from, _ := slices.BinarySearchFunc(b, after, func(f session.Fact, _ uint64) int { return behind(&f) })
		facts = append(facts, b[from:min(len(b), from+limit-len(facts))]...)
	}
	return facts
}

// queue is a list that grows at its end and is dropped from its start. Its items have
// numbers, counted from the first that there ever was.
type queue[T any] struct {
	blocks []*[blockSize]T
	gone   int // blocks before them
	first  int // number of the first item
	next   int // the number behind the last
}

func (q *queue[T]) len() int { return q.next - q.first }

func (q *queue[T]) at(number int) *T {
	return &q.blocks[number/blockSize-q.gone][number%blockSize]
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
		q.blocks, q.gone = q.blocks[1:], q.gone+1
	}
}
