package texts

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// maxWaiting limits the arguments of the calls of one conversation that wait, in bytes: as much as the
// texts that an index keeps. Calls that wait count for the memory of the keeper, and an index of them
// needs about as much: they evict no conversation that their index would not evict.
const maxWaiting = 8 << 20

// waiting are released calls that are not in the index yet, in their order. They change no view, but
// how later messages and results are read ([flow.Reader]), before which they are added. Only memory
// has them, as only memory has the index: both end with the process.
type waiting struct {
	calls []kept.Call
	size  int
}

// addTo adds the calls to an index. After a panic the texts of the conversation are lost.
func (w *waiting) addTo(r flow.Reader, to flow.Index) {
	for _, call := range w.calls {
		r.Call(to, call.Tool, call.Args)
	}
	*w = waiting{}
}

// postpone takes the calls of a list that has no other texts, and reports whether it did. Texts that
// a store has, or of which it has to know, do not wait: another process may need them.
func (c *conversation) postpone(a Access, list []kept.Addition) bool {
	size := 0
	for i := range list {
		if list[i].Call == nil {
			return false
		}
		size += len(list[i].Call.Args) + len(list[i].Call.Tool)
	}
	c.whole = a.Keep && a.Text
	if c.index == nil || c.durable || c.shared() || c.meaning != a.Reader.Meaning() || c.waiting.size+size > maxWaiting {
		return false
	}
	for i := range list {
		call := list[i].Call
		c.waiting.calls = append(c.waiting.calls, *call)
	}
	c.waiting.size += size
	c.added = true
	return true
}
