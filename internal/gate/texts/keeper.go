package texts

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// ErrUnknown is the error of a conversation of which there are no texts.
var ErrUnknown = errors.New("no texts of the conversation are known")

// ErrLost is the error of a conversation whose texts are not all known.
var ErrLost = errors.New("texts of the conversation are missing")

// ErrUnsaved is the error of an addition that is not in the store, where texts are not marked as
// missing either: other processes, and this one after a restart, do not know of it.
var ErrUnsaved = errors.New("the store has not stored texts of the conversation")

// Reason is why texts of a conversation are missing, for records.
type Reason string

// The reasons.
const (
	NotStored Reason = "the store did not take texts"
	Panicked  Reason = "the reader of texts panicked"
	Damaged   Reason = "stored texts cannot be read"
	TooLong   Reason = "more texts than the store keeps"
	NotKept   Reason = "texts that are not kept are in another process"
)

// maxMoves is how often an addition is tried if other processes come first.
const maxMoves = 16

// Config configures a [Keeper].
type Config struct {
	// Load and Append call the store ([flow.Store]), under deadlines; nil without one.
	Load   func(context.Context, flow.Conversation, uint64) (flow.Log, error)
	Append func(context.Context, flow.Conversation, flow.Change) error
	// Report, if set, is called when texts of a conversation are missing from then on.
	Report func(flow.Conversation, Reason, error)
	// Memory limits the indexes in memory, in bytes.
	Memory int64
}

// Keeper keeps indexes. It is safe for concurrent use.
type Keeper struct {
	Config

	mu      sync.Mutex
	all     map[flow.Conversation]*conversation
	recent  list.List // of *conversation, the one used last in front
	size    int64
	evicted evictions
}

// New returns a keeper without indexes.
func New(c Config) *Keeper {
	return &Keeper{Config: c, all: map[flow.Conversation]*conversation{}}
}

// Access is the use of a conversation under a policy.
type Access struct {
	Of     flow.Conversation
	Reader flow.Reader
	// Keep stores the texts as keyed hashes; otherwise the store only has that there are some. Text
	// also stores the texts themselves.
	Keep, Text bool
}

// Position is how many texts a view has. Number is that of the last one in the stored log with the
// id Log; both are zero if the store has no texts of the conversation.
type Position struct {
	Log    string
	Number uint64
}

// View returns the texts of a conversation. After an error they are not known.
func (k *Keeper) View(ctx context.Context, a Access) (v flow.View, at Position, err error) {
	if !k.has(a.Of) {
		return nil, at, ErrUnknown
	}
	c := k.find(a.Of)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer k.account(c)
	err = c.protect(func() error {
		if err := c.sync(ctx, a); err != nil {
			return err
		}
		if c.lost {
			return ErrLost
		}
		v, at = c.index.View(), c.at()
		return nil
	})
	if err != nil {
		return nil, Position{}, err
	}
	return v, at, nil
}

// Add adds texts to a conversation, and stores the segments of its index. whole is set if the list
// has all texts of the conversation from its first one. After an error the texts of the
// conversation may not be known.
//
// Add may keep the arguments of calls, which nothing may change. Calls, which change no view, wait for the next messages or results where no store has the texts: a
// call is released without waiting for its index.
func (k *Keeper) Add(ctx context.Context, a Access, whole bool, list []kept.Addition) error {
	c := k.find(a.Of)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer k.account(c)
	err := c.protect(func() error {
		if !whole && c.postpone(a, list) {
			return nil
		}
		for range maxMoves {
			err := c.add(ctx, a, whole, list)
			if !errors.Is(err, flow.ErrMoved) {
				return err
			}
		}
		c.lose(NotStored, flow.ErrMoved)
		return errors.Join(ErrLost, c.mark(ctx))
	})
	if err != nil {
		if c.shared() && (c.unmarked || len(c.pending) > 0) {
			err = errors.Join(err, ErrUnsaved)
		}
		return fmt.Errorf("add texts: %w", err)
	}
	return nil
}

// Lose gives up the texts of a conversation, of which some are missing, and writes that to the store.
func (k *Keeper) Lose(ctx context.Context, a Access) error {
	c := k.find(a.Of)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer k.account(c)
	c.meaning = a.Reader.Meaning()
	c.lose(NotStored, nil)
	if !c.shared() {
		return nil
	}
	if err := c.mark(ctx); err != nil {
		return fmt.Errorf("mark texts as missing: %w", err)
	}
	return nil
}

// Conversations returns how many conversations are in memory.
func (k *Keeper) Conversations() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

// Missing returns how many of the conversations in memory have missing texts.
func (k *Keeper) Missing() (n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.all {
		if c.missing.Load() {
			n++
		}
	}
	return n
}

// has reports whether there can be texts of a conversation.
func (k *Keeper) has(name flow.Conversation) bool {
	if k.Load != nil && name.Session != "" {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.all[name] != nil
}

// find returns a conversation, and makes it the one that was used last.
func (k *Keeper) find(name flow.Conversation) *conversation {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.all[name]; c != nil {
		k.recent.MoveToFront(c.element)
		return c
	}
	c := &conversation{name: name, keeper: k}
	if k.evicted.has(name) {
		c.lost, c.unmarked = true, true
	}
	c.element = k.recent.PushFront(c)
	k.all[name] = c
	return c
}

// account updates the size of a conversation, and evicts those that were not used lately while all
// are too large; c.mu is held.
func (k *Keeper) account(c *conversation) {
	size := c.measure()
	c.missing.Store(c.lost)
	c.volatile.Store(!c.durable && (c.added || c.lost) || len(c.pending) > 0 || c.unmarked || c.replace)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all[c.name] != c { // evicted meanwhile
		if c.volatile.Load() {
			k.evicted.add(c.name)
		}
		return
	}
	k.size += size - c.size
	c.size = size
	for k.size > k.Memory && k.recent.Len() > 1 {
		k.evict(k.recent.Back().Value.(*conversation))
	}
}

// evict removes a conversation from memory. One that the store does not have is remembered.
func (k *Keeper) evict(c *conversation) {
	k.recent.Remove(c.element)
	delete(k.all, c.name)
	k.size -= c.size
	if c.volatile.Load() {
		k.evicted.add(c.name)
	}
}
