package texts

import (
	"hash/maphash"

	"github.com/stopgate/stopgate/flow"
)

// generation is how many evicted conversations are remembered at least.
const generation = 1 << 18

// evictions remembers conversations by a hash of their names. A conversation that has the hash of
// another one is taken for evicted, which is the strict side.
type evictions struct {
	seed       maphash.Seed
	young, old map[uint64]struct{}
}

func (e *evictions) add(c flow.Conversation) {
	if e.young == nil {
		e.seed, e.young = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	if len(e.young) >= generation {
		e.young, e.old = map[uint64]struct{}{}, e.young
	}
	e.young[maphash.Comparable(e.seed, c)] = struct{}{}
}

func (e *evictions) has(c flow.Conversation) bool {
	if e.young == nil {
		return false
	}
	h := maphash.Comparable(e.seed, c)
	_, young := e.young[h]
	_, old := e.old[h]
	return young || old
}
