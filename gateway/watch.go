package gateway

import (
	"time"
)

// watch enforces an exchange's deadlines and sends keepalives. One timer serves all of them. Its
// function locks the exchange's mutex, so its output is between two events. While the handler's
// goroutine writes, the timer waits: a write has its own deadline.
type watch struct {
	x             *exchange
	timer         *time.Timer
	over          bool
	reading       bool      // the handler waits for the upstream
	resolving     bool      // the handler waits for the gate
	read          time.Time // time of the upstream's last byte
	bufferedSince time.Time // since when something is buffered, or zero
	events        int       // number of events with data
	drainBy       time.Time // deadline of draining, or zero
	due           time.Time // next run of the timer
}

// begin starts the watch.
func (c *watch) begin(x *exchange) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	*c = watch{x: x, read: now}
	x.client.wrote, x.client.keepalive = now, false
	d := c.next(now)
	c.due = now.Add(d)
	c.timer = time.AfterFunc(d, c.look)
}

// end stops the watch. Afterwards the timer's function has no effect.
func (c *watch) end() {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	c.over = true
	c.timer.Stop()
}

// awaitUpstream marks the start of a wait for the upstream. mu must be locked.
func (c *watch) awaitUpstream() {
	c.reading, c.read = true, time.Now()
	c.arm(c.read)
}

// awaitGate marks the start of a wait for the gate. mu must be locked.
func (c *watch) awaitGate() {
	c.resolving = true
	c.arm(time.Now())
}

// arm schedules the timer for the earliest deadline if it is scheduled later. An extended deadline
// needs no rescheduling: the timer checks it when it fires.
func (c *watch) arm(now time.Time) {
	if d := c.next(now); now.Add(d).Before(c.due) {
		c.soon(d)
	}
}

// headEvents is the number of events before the first content of a response: its head, and a ping
// or the start of its first block. Until then a reasoning model may be silent for long.
const headEvents = 2

func (c *watch) idleLimit() time.Duration {
	t := &c.x.upstream.Timeouts
	if c.events > headEvents {
		return t.Idle
	}
	return t.IdleFirst
}

// holding reports whether output for the client is buffered.
func (c *watch) holding() bool {
	return c.x.stream != nil && c.x.client.started && c.x.enforced && (c.resolving || c.x.rounds.waiting || c.x.stream.Pending() > 0 || c.x.policies.Working())
}

func (c *watch) keepaliveAt() time.Time {
	t := &c.x.settings.Timeouts
	if c.x.client.keepalive {
		return c.x.client.wrote.Add(t.Keepalive)
	}
	return c.x.client.wrote.Add(t.KeepaliveFirst)
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
		c.read = now // the handler is not waiting for the upstream
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

// longHeld is the time after which comment lines are not a sufficient keepalive (S17).
const longHeld = time.Minute

func (c *watch) keepAwake(now time.Time) {
	if !c.holding() {
		c.bufferedSince = time.Time{}
		return
	}
	if c.bufferedSince.IsZero() {
		c.bufferedSince = c.x.client.wrote
	}
	if now.Before(c.keepaliveAt()) || c.x.client.broken != nil {
		return
	}
	out := c.x.stream.Keepalive(nil, now.Sub(c.bufferedSince) >= longHeld)
	if err := c.x.client.events(out, now); err != nil {
		c.x.cancel(errClientGone)
	}
	c.x.client.keepalive = true
}

// next returns the time until the first deadline, at most the keepalive interval, because buffering
// may start in between.
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

// endBy limits the reading of the upstream to d from now, unless an earlier limit is set. mu must
// be locked.
func (c *watch) endBy(d time.Duration) {
	if c.drainBy.IsZero() {
		c.drainBy = time.Now().Add(d)
		c.soon(d)
	}
}

// soon schedules the timer in d. mu must be locked.
func (c *watch) soon(d time.Duration) {
	c.due = time.Now().Add(d)
	c.timer.Reset(d)
}
