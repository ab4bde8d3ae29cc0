package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/stopgate/stopgate/internal/agent/conversation"
)

var _ conversation.Store = (*Conversations)(nil)

// Conversations stores conversations in memory, for an agent that is never resumed. The
// zero value is ready for use.
type Conversations struct {
	mu   sync.Mutex
	list []*entry // in the order of their latest change
}

type entry struct {
	info    conversation.Info
	entries []conversation.Entry
}

// AppendEntries implements [conversation.Store].
func (c *Conversations) AppendEntries(ctx context.Context, id string, entries ...conversation.Entry) error {
	if err := ctx.Err(); err != nil || len(entries) == 0 {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.find(id)
	if s == nil {
		s = &entry{info: conversation.Info{ID: id}}
	}
	s.info = s.info.Describe(entries...)
	s.entries = append(s.entries, entries...)
	c.list = append(slices.DeleteFunc(c.list, func(other *entry) bool { return other == s }), s)
	return nil
}

func (c *Conversations) find(id string) *entry {
	for _, s := range c.list {
		if s.info.ID == id {
			return s
		}
	}
	return nil
}

// ConversationEntries implements [conversation.Store].
func (c *Conversations) ConversationEntries(_ context.Context, id string) ([]conversation.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.find(id); s != nil {
		return slices.Clone(s.entries), nil
	}
	return nil, conversation.ErrUnknown
}

// Conversations implements [conversation.Store].
func (c *Conversations) Conversations(_ context.Context, dir string, limit int) (infos []conversation.Info, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range slices.Backward(c.list) {
		if (dir == "" || s.info.Dir == dir) && (limit <= 0 || len(infos) < limit) {
			infos = append(infos, s.info)
		}
	}
	return infos, nil
}
