package gateway

import (
	"time"
)

// watch keeps an exchange's deadlines and its client awake. One timer serves all
// of them; its function runs under the exchange's mutex, so what it writes stands
// between two events. While the handler's goroutine writes, the timer waits: a
// write has its own deadline.
type watch struct {
	x         *exchange
	timer     *time.Timer
	over      bool
	reading   bool      // the handler waits for the upstream
	resolving bool      // the handler waits for the gate
	read      time.Time // when the upstream was last heard
	wrote     time.Time // when the client last got something
	awake     bool      // the last thing it got was a keepalive
	held      time.Time // since when something is held; zero if nothing is
	events    int       // events with data so far
	drainBy   time.Time // when reading on without a purpose ends; zero: no limit
	due       time.Time // when the timer looks next
}

// begin starts the watch.
func (c *watch) begin(x *exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	*c = watch{x: x, read: now, wrote: now}
	d := c.next(now)
	c.due = now.Add(d)
	c.timer = time.AfterFunc(d, c.look)
}

// end stops it. Afterwards the timer's function does nothing.
func (c *watch) end() {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// awaitUpstream says that the handler begins to wait for the upstream. Called with mu held.
func (c *watch) awaitUpstream() {
	c.reading, c.read = true, time.Now()
	c.arm(c.read)
}

// awaitGate says that it begins to wait for the gate. Called with mu held.
func (c *watch) awaitGate() {
	c.resolving = true
	c.arm(time.Now())
}

// arm makes the timer look when the first deadline is due, if it would look later.
// A deadline that is put off needs no new time: the timer finds out when it looks.
func (c *watch) arm(now time.Time) {
	if d := c.next(now); now.Add(d).Before(c.due) {
		c.soon(d)
	}
}

// A response has begun when more events than these have come: its head, and a
// ping or the frame of its first block. Before that a reasoning model may be
// silent for long.
const headEvents = 2

func (c *watch) idleLimit() time.Duration {
	t := &c.x.upstream.Timeouts
	if c.events > headEvents {
		return t.Idle
	}
	return t.IdleFirst
}

// holding reports whether the client waits for something that is here.
func (c *watch) holding() bool {
	return c.x.stream != nil && c.x.headed && c.x.enforced && (c.resolving || c.x.rounds.waiting || c.x.stream.Pending() > 0 || c.x.policies.Working())
}

func (c *watch) keepaliveAt() time.Time {
	t := &c.x.settings.Timeouts
	if c.awake {
		return c.wrote.Add(t.Keepalive)
	}
	return c.wrote.Add(t.KeepaliveFirst)
}

// look is the timer's function.
func (c *watch) look() {
	x := c.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if c.over {
		return
	}
	now := time.Now()
	switch t := &x.settings.Timeouts; {
	case now.Sub(x.start) >= t.Exchange:
		x.cancel(errTotal)
		return
	case c.x.policies.Working():
		c.read = now // the upstream is not waited for
	case c.reading && now.Sub(c.read) >= c.idleLimit():
		x.cancel(errIdle)
		return
	case c.reading && !c.drainBy.IsZero() && !now.Before(c.drainBy):
		c.drainBy = time.Time{}
		x.interrupt()
	}
	c.keepAwake(now)
	c.soon(c.next(now))
}

// longHeld is when comment lines are no sign of life enough (DECISIONS S17).
const longHeld = time.Minute

func (c *watch) keepAwake(now time.Time) {
	if !c.holding() {
		c.held = time.Time{}
		return
	}
	if c.held.IsZero() {
		c.held = c.wrote
	}
	if now.Before(c.keepaliveAt()) || c.x.broken != nil {
		return
	}
	out := c.x.stream.Keepalive(nil, now.Sub(c.held) >= longHeld)
	if err := c.x.write(out, now); err != nil {
		c.x.cancel(errClientGone)
	}
	c.awake = true
}

// next is how long the timer sleeps: to the first deadline, or as long as it takes
// a keepalive to become due, because what is held may change in between.
func (c *watch) next(now time.Time) time.Duration {
	t := &c.x.settings.Timeouts
	at := now.Add(t.KeepaliveFirst)
	if c.holding() {
		at = earlier(at, c.keepaliveAt())
	}
	at = earlier(at, c.x.start.Add(t.Exchange))
	if c.reading {
		at = earlier(at, c.read.Add(c.idleLimit()))
		if !c.drainBy.IsZero() {
			at = earlier(at, c.drainBy)
		}
	}
	return max(at.Sub(now), time.Millisecond)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// endBy gives the reading of the upstream d from now, unless it has less already.
// Called with mu held.
func (c *watch) endBy(d time.Duration) {
	if c.drainBy.IsZero() {
		c.drainBy = time.Now().Add(d)
		c.soon(d)
	}
}

// soon makes the timer look again in d. Called with mu held.
func (c *watch) soon(d time.Duration) {
	c.due = time.Now().Add(d)
	c.timer.Reset(d)
}
