package resident

import (
	"sync"
	"time"
)

// Limits of what is done at once.
const (
	maxAtOnce = 64  // questions that are read and decided
	maxHeld   = 256 // and those about which a person is asked, or another hook decides
	// patience is how long a question waits for its turn. Asked about so many calls at once,
	// the askers would take longer: they would wait for each other at the store.
	patience = 1500 * time.Millisecond
)

// turns are the places of questions that are decided, and of those that are held.
type turns struct {
	deciding, holding chan struct{}
}

func newTurns() turns {
	return turns{make(chan struct{}, maxAtOnce), make(chan struct{}, maxHeld)}
}

// turn is the place of one question.
type turn struct {
	all turns
	mu  sync.Mutex
	in  chan struct{} // nil once it is over
}

// take waits until a question can be decided; nil if that takes too long.
func (all turns) take() *turn {
	t := &turn{all: all, in: all.deciding}
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

// hold lets another question be decided while somebody else decides about this one, which may
// take minutes. Where too many are held already, it keeps its place. The gate may still be
// at work when the question is over.
func (t *turn) hold() {
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

// end gives the place to another question.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	<-t.in
	t.in = nil
}
