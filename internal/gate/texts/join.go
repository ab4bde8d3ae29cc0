package texts

import (
	"errors"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// Join adds released calls in the step of the store that releases them: write stores the change of the
// log together with the release, all of it or none. Join reports whether the calls are in the log then.
//
// The change is nil where calls cannot be added in that step, because memory may not have the log as it
// is: [Keeper.Add] adds them after the release. That includes a second call of write, after
// [flow.ErrMoved] or [flow.ErrFull], with which the first has changed nothing. After any other error the
// release failed, but the store may have the calls, which is the strict side.
func (k *Keeper) Join(a Access, calls []kept.Addition, write func(*flow.Change) error) (joined bool) {
	joined, wrote := k.find(a.Of).join(a, calls, write)
	if !wrote {
		_ = write(nil)
	}
	return joined
}

// join reports wrote unless write is to be called without a change.
func (c *conversation) join(a Access, calls []kept.Addition, write func(*flow.Change) error) (joined, wrote bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.keeper.account(c)
	if !c.current(a) {
		return false, false
	}
	defer func() {
		if !joined { // the index may have what the log does not have: the next use reads the log
			c.forget()
		}
	}()
	if err := c.protect(func() error { c.extend(a.Reader, calls); return nil }); err != nil {
		return false, false
	}
	if len(c.pending) == 0 {
		_ = write(nil)
		return true, true
	}
	change := c.change()
	switch err := write(&change); {
	case err == nil:
		c.saved()
		return true, true
	case errors.Is(err, flow.ErrMoved), errors.Is(err, flow.ErrFull):
		return false, false
	}
	return false, true
}

// current reports whether memory has all texts of a log that the store keeps, as far as is known: the
// store refuses a change of a log that another process changed.
func (c *conversation) current(a Access) bool {
	return c.begun && c.index != nil && !c.lost && c.durable && a.Keep && c.whole == (a.Keep && a.Text) && c.shared() &&
		c.meaning == a.Reader.Meaning() && len(c.pending) == 0 && !c.replace && !c.unmarked
}
