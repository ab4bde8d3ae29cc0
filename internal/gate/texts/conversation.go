package texts

import (
	"bytes"
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// overhead is the memory of a conversation next to its index.
const overhead = 1024

// maxPending limits the segments that wait for a store that fails, in bytes.
const maxPending = 16 << 20

// errPanic is the error of a panic of a reader or an index.
var errPanic = errors.New("panic")

// conversation is the texts of one conversation in memory.
type conversation struct {
	name    flow.Conversation
	keeper  *Keeper
	element *list.Element // guarded by the mu of the keeper, as is size
	size    int64

	missing  atomic.Bool // lost
	volatile atomic.Bool // memory has what the store does not have

	mu       sync.Mutex
	index    flow.Index // nil before the first use, and if it is lost
	begun    bool
	meaning  string
	durable  bool     // the store has the texts
	whole    bool     // and keeps the texts themselves
	key      []byte   // of the index
	stored   bool     // the store has a log with this key
	position uint64   // of the log in the index
	kept     int64    // the length of the texts that the log keeps
	full     bool     // the log keeps no more
	pending  [][]byte // segments that the store does not have
	texts    [][]byte // the kept text of each, nil if it is not kept
	replace  bool     // the store has a log with another key
	added    bool     // there are texts
	waiting  waiting  // calls that are not in the index yet
	lost     bool
	unmarked bool // lost, and the store does not have that
}

// sync brings the index to the state of the store. Afterwards there is an index, or texts are lost.
func (c *conversation) sync(ctx context.Context, a Access) error {
	c.whole = a.Keep && a.Text
	meaning, durable := a.Reader.Meaning(), c.shared() && a.Keep
	if c.begun && (c.meaning != meaning || c.durable != durable) {
		lost := c.lost || !c.durable && c.added || len(c.pending) > 0
		c.forget()
		c.lost = lost
	}
	c.begun, c.meaning, c.durable = true, meaning, durable
	err := c.save(ctx)
	if errors.Is(err, flow.ErrMoved) {
		err = c.merge(ctx, a.Reader)
	}
	if err != nil {
		return err
	}
	switch {
	case durable:
		return c.catchUp(ctx, a.Reader)
	case c.index != nil || c.lost:
		return nil
	case c.shared():
		log, err := c.keeper.Load(ctx, c.name, 0)
		if err != nil {
			return err
		}
		if c.lost = log.Key != nil; c.lost {
			return nil
		}
	}
	c.begin(a.Reader)
	return nil
}

// add adds texts once. It returns [flow.ErrMoved] if another process changed the log meanwhile; the
// texts are then to be added again.
func (c *conversation) add(ctx context.Context, a Access, whole bool, list []kept.Addition) error {
	behind := c.sync(ctx, a)
	switch {
	case c.lost && whole:
		c.rebuild(a.Reader)
	case c.lost:
		return ErrLost
	case c.index == nil && whole: // they come again
		return behind
	case c.index == nil:
		c.lose(NotStored, behind)
		return behind
	}
	c.extend(a.Reader, list)
	err := c.save(ctx)
	if errors.Is(err, flow.ErrMoved) {
		if behind != nil { // segments of before would be lost
			return behind
		}
		c.forget()
	}
	return err
}

// extend adds texts to the index; their segments are to be saved.
func (c *conversation) extend(r flow.Reader, list []kept.Addition) {
	c.waiting.addTo(r, c.index)
	for i := range list {
		if segment := list[i].Add(r, c.index); segment != nil {
			c.added = true
			c.pending, c.texts = append(c.pending, segment), append(c.texts, c.keep(&list[i]))
		}
	}
}

// keep returns the stored form of a text, nil if it is not kept. Without one text no later call can
// be judged again, so none is kept after the first that the log has no room for.
func (c *conversation) keep(a *kept.Addition) []byte {
	if !c.whole || !c.durable || c.full {
		return nil
	}
	text := a.Append(nil)
	if c.full = c.kept+int64(size(c.texts)+len(text)) > kept.MaxLog; c.full {
		return nil
	}
	return text
}

// at returns the position of the view in the log.
func (c *conversation) at() Position {
	if !c.durable {
		return Position{}
	}
	return Position{Log: kept.LogID(c.key), Number: c.position + uint64(len(c.pending))}
}

// begin makes an empty index with a key of its own.
func (c *conversation) begin(r flow.Reader) {
	c.forget()
	c.key = newKey()
	c.index = r.NewIndex(c.key)
}

func newKey() []byte {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return key
}

// forget gives up the index.
func (c *conversation) forget() {
	c.index, c.key, c.stored, c.position, c.replace, c.added = nil, nil, false, 0, false, false
	c.pending, c.texts, c.kept, c.full = nil, nil, 0, false
	c.waiting = waiting{}
}

// rebuild begins the texts of the conversation anew.
func (c *conversation) rebuild(r flow.Reader) {
	c.begin(r)
	c.lost, c.unmarked, c.replace = false, false, c.shared()
}

// lose gives up the index because texts are missing.
func (c *conversation) lose(why Reason, err error) {
	known := c.lost
	c.forget()
	c.lost, c.unmarked = true, true
	if !known && c.keeper.Report != nil {
		c.keeper.Report(c.name, why, err)
	}
}

// protect calls f. After a panic the texts are lost.
func (c *conversation) protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
			c.lose(Panicked, err)
		}
	}()
	return f()
}

// catchUp adds the segments that other processes appended to the log.
func (c *conversation) catchUp(ctx context.Context, r flow.Reader) error {
	log, err := c.keeper.Load(ctx, c.name, c.position)
	if err != nil {
		return err
	}
	if log.Key == nil {
		if c.stored { // the session was deleted
			c.forget()
			c.lost = false
		}
		if c.index == nil && !c.lost {
			c.begin(r)
		}
		return nil
	}
	if !bytes.Equal(log.Key, c.key) { // another process began a log
		if c.position > 0 {
			if log, err = c.keeper.Load(ctx, c.name, 0); err != nil {
				return err
			}
		}
		c.forget()
		c.key, c.lost = log.Key, false
	}
	c.stored = true
	if c.lost = c.lost || log.Lost || log.Meaning != c.meaning; c.lost {
		c.index, c.position = nil, log.Position
		return nil
	}
	if c.index == nil {
		c.index = r.NewIndex(c.key)
	}
	return c.restore(&log)
}

// restore adds the segments of a log after the position of the index.
func (c *conversation) restore(log *flow.Log) error {
	if log.Position-c.position != uint64(len(log.Segments)) {
		c.damaged(fmt.Errorf("%d of %d segments", len(log.Segments), log.Position-c.position))
		return ErrLost
	}
	for _, segment := range log.Segments {
		if err := c.index.Restore(segment); err != nil {
			c.damaged(err)
			return ErrLost
		}
	}
	c.added = c.added || len(log.Segments) > 0
	c.position, c.kept = log.Position, log.Kept
	return nil
}

// damaged gives up an index because the log cannot be read. Other processes will find that too.
func (c *conversation) damaged(err error) {
	key := c.key
	c.lose(Damaged, err)
	c.key, c.unmarked = key, false
}

// measure returns the memory of the conversation.
func (c *conversation) measure() int64 {
	n := int64(overhead)
	if c.index != nil {
		_ = c.protect(func() error {
			index, _ := c.index.Size()
			n += index
			return nil
		})
	}
	return n + int64(size(c.pending)+size(c.texts)+c.waiting.size)
}
