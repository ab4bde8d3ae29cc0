package resident

import (
	"sync"
	"time"
)

// Limits of concurrency.
const (
	maxAtOnce = 64  // requests that are read and decided
	maxHeld   = 256 // and those that wait for an approval, or for another hook
	// patience is the maximum time a request waits for its ticket. With so many calls at once,
	// clients on their own would take longer: they would wait for each other at the store.
	patience = 1500 * time.Millisecond
)

// limiter has the tickets of requests that are decided, and of those that are held.
type limiter struct {
	deciding, holding chan struct{}
}

func newTurns() limiter {
	return limiter{make(chan struct{}, maxAtOnce), make(chan struct{}, maxHeld)}
}

// ticket is the ticket of one request.
type ticket struct {
	all limiter
	mu  sync.Mutex
	in  chan struct{} // nil after it ended
}

// take waits until a request can be decided; nil if that takes too long.
func (all limiter) take() *ticket {
	t := &ticket{all: all, in: all.deciding}
	select {
	case all.deciding <- struct{}{}:
		return t
	default:
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case all.deciding <- struct{}{}:
		return t
	case <-wait.C:
		return nil
	}
}

// hold lets another request be decided while this one waits for an approval or another hook, which
// may take minutes. If too many are already held, it keeps its ticket. The gate may still be
// working when the request has ended.
func (t *ticket) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != t.all.deciding {
		return
	}
	select {
	case t.all.holding <- struct{}{}:
		<-t.in
		t.in = t.all.holding
	default:
	}
}

// end passes the ticket to another request.
func (t *ticket) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	<-t.in
	t.in = nil
}
