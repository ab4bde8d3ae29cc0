package database

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/system/crowd"
)

// turn lets processes that want to write wait in line: who comes first writes first,
// and the next one wakes with the end of the one before. SQLite's own lock, which can
// only be asked for again and again, leaves it to chance who gets it, and for how long
// somebody does not.
//
// The line is a courtesy. SQLite's lock is what keeps writers apart, and whoever cannot
// stand in line asks for it as before: where there is no file, where the file system has
// no such locks, and where nobody has written for patience, because a process was
// stopped at its head.
type turn struct {
	path     string
	advanced func() uint64 // changes when somebody has written; nil if that is not known

	mu      sync.Mutex
	file    int  // descriptor, -1 before it is needed
	never   bool // it cannot be had
	waits   bool // a goroutine stands in line
	stuck   bool // and has for longer than patience
	wanted  bool // for somebody: else it leaves when it is at the head
	held    bool
	arrived chan struct{} // one signal per head reached
}

// patience is how long one waits in a line that does not move: longer where the machine is
// so crowded that its head may not have had a turn to run.
const (
	patience        = time.Second
	longestPatience = 10 * time.Second
)

// lookAround is how often one who waits in line looks whether the caller still wants to:
// seldom, because hundreds of processes may wait, and the one that writes needs the
// processor.
const lookAround = 50 * time.Millisecond

func (t *turn) now() uint64 {
	if t.advanced == nil {
		return 0
	}
	return t.advanced()
}

func newTurn(path string) *turn {
	return &turn{path: path + "-turn", file: -1, arrived: make(chan struct{}, 1)}
}

// enter waits at most for patience, until ctx ends, or until wanted says that nobody
// waits any more. It never fails: leave is to be called in any case.
func (t *turn) enter(ctx context.Context, wanted func() bool) {
	if !t.stand() {
		return
	}
	over := time.NewTimer(crowd.Stretch(patience, crowd.Share(), longestPatience))
	defer over.Stop()
	look := time.NewTicker(lookAround)
	defer look.Stop()
	before := t.now()
	for {
		select {
		case <-t.arrived:
			return
		case <-look.C:
			if wanted() {
				continue
			}
		case <-over.C:
			if now := t.now(); now != before { // the line moves
				before = now
				over.Reset(crowd.Stretch(patience, crowd.Share(), longestPatience))
				continue
			}
			t.mu.Lock()
			t.stuck = t.waits
			t.mu.Unlock()
		case <-ctx.Done():
		}
		return
	}
}

// stand takes the lock, or reports true if somebody else has it: then t.arrived says
// when it is ours.
func (t *turn) stand() (wait bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waits { // still there from a turn that was given up
		t.wanted = !t.stuck
		return t.wanted
	}
	if t.never {
		return false
	}
	if t.file < 0 {
		var err error
		if t.file, err = openTurn(t.path); err != nil {
			t.never = true
			return false
		}
	}
	free, err := tryTurn(t.file)
	switch {
	case err != nil:
		t.never = true
	case free:
		t.held = true
	default:
		t.waits, t.wanted = true, true
		go t.wait(t.file)
		return true
	}
	return false
}

// wait stands in line. No end of a context reaches a system call, so whoever gives up
// leaves it standing, and it lets the next one pass.
func (t *turn) wait(file int) {
	err := awaitTurn(file)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits, t.stuck = false, false
	switch {
	case t.file < 0: // closed
		closeTurn(file)
		return
	case err != nil:
		t.never = true
	case t.wanted:
		t.held = true
	default:
		passTurn(file)
		return
	}
	t.arrived <- struct{}{}
}

// mark says to who waits that a writer has SQLite's lock, by the time of the file.
func (t *turn) mark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file >= 0 {
		markTurn(t.file)
	}
}

// leave lets the next one pass.
func (t *turn) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = false
	select {
	case <-t.arrived: // nobody waited for it any more
	default:
	}
	if t.held {
		t.held = false
		passTurn(t.file)
	}
}

// close ends the use of the file.
func (t *turn) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file >= 0 && !t.waits {
		closeTurn(t.file)
	}
	t.file, t.never = -1, true
}
