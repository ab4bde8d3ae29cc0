package texts

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/session"
)

// save writes to the store what it does not have: that texts are lost, the segments that were added
// to the index, or, where texts are not kept, that there are some. It returns [flow.ErrMoved] if
// another process changed the log.
func (c *conversation) save(ctx context.Context) error {
	switch {
	case !c.shared():
		c.pending, c.texts, c.replace, c.unmarked = nil, nil, false, false
		return nil
	case c.lost:
		return c.mark(ctx)
	case !c.durable:
		c.pending, c.texts = nil, nil
		return c.announce(ctx)
	case len(c.pending) == 0 && !c.replace:
		return nil
	}
	err := c.keeper.Append(ctx, c.name, c.change())
	switch {
	case err == nil:
		c.saved()
	case errors.Is(err, flow.ErrFull):
		c.lose(TooLong, err)
		return errors.Join(err, c.mark(ctx))
	case !errors.Is(err, flow.ErrMoved) && size(c.pending)+size(c.texts) > maxPending:
		c.lose(NotStored, err)
	}
	return err
}

// change returns the change of the log that adds the pending segments.
func (c *conversation) change() flow.Change {
	change := flow.Change{Key: c.key, Meaning: c.meaning, After: c.position, Segments: c.pending, Replace: c.replace}
	if size(c.texts) > 0 {
		change.Texts = c.texts
	}
	return change
}

// saved notes that the store made the change.
func (c *conversation) saved() {
	c.position += uint64(len(c.pending))
	c.kept += int64(size(c.texts))
	c.stored, c.pending, c.texts, c.replace = true, nil, nil, false
}

// shared reports whether a store can have texts of the conversation. A part of a session that was
// guessed has a name that only this process knows: the store has it only where it keeps texts for
// replay.
func (c *conversation) shared() bool {
	return c.keeper.Load != nil && (c.whole || c.name.Session != "" && (c.name.ID == "" || !session.Weak(c.name.Session)))
}

// mark writes to the store that texts are lost.
func (c *conversation) mark(ctx context.Context) error {
	if !c.unmarked {
		return nil
	}
	key := c.key
	if key == nil {
		key = newKey()
	}
	err := c.keeper.Append(ctx, c.name, flow.Change{Key: key, Meaning: c.meaning, Lost: true})
	c.unmarked = err != nil
	return err
}

// announce writes to the store that there are texts that it does not keep: to other processes, and
// to this one after a restart, they are lost.
func (c *conversation) announce(ctx context.Context) error {
	if c.stored || !c.added && !c.replace {
		return nil
	}
	err := c.keeper.Append(ctx, c.name, flow.Change{Key: c.key, Meaning: c.meaning, Lost: true, Replace: c.replace})
	switch {
	case err == nil:
		c.stored, c.replace = true, false
	case errors.Is(err, flow.ErrMoved): // another process has texts of the conversation
		c.lose(NotKept, err)
		return ErrLost
	}
	return err
}

// merge builds the index from a log that another process changed, followed by the segments that the
// log does not have.
func (c *conversation) merge(ctx context.Context, r flow.Reader) error {
	log, err := c.keeper.Load(ctx, c.name, 0)
	if err != nil {
		return err
	}
	if !bytes.Equal(log.Key, c.key) || log.Lost || log.Meaning != c.meaning {
		c.lose(NotStored, flow.ErrMoved)
		return errors.Join(ErrLost, c.mark(ctx))
	}
	c.index, c.position = r.NewIndex(c.key), 0
	if err := c.restore(&log); err != nil {
		return err
	}
	if contains(log.Segments, c.pending) { // an append that seemed to fail
		c.pending, c.texts = nil, nil
		return nil
	}
	for _, segment := range c.pending {
		if err := c.index.Restore(segment); err != nil {
			c.lose(NotStored, err)
			return errors.Join(ErrLost, c.mark(ctx))
		}
	}
	return c.save(ctx)
}

// contains reports whether a log has some segments in a row.
func contains(log, some [][]byte) bool {
	for i := 0; i+len(some) <= len(log); i++ {
		if slices.EqualFunc(log[i:i+len(some)], some, bytes.Equal) {
			return true
		}
	}
	return false
}

func size(segments [][]byte) (n int) {
	for _, s := range segments {
		n += len(s)
	}
	return n
}
