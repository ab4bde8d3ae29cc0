package database

import (
	"context"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/system/crowd"
)

// lockQueue queues the processes that want to write, in the order in which they arrive, with a lock
// on a file of its own. SQLite's lock can only be polled, so that chance would decide which process
// gets it, and how long another one starves.
//
// The queue only improves fairness: SQLite's lock excludes other writers. A process that
// cannot use the queue polls SQLite's lock: if the file cannot be opened, if the file system has no
// such locks, or if no writer made progress for the patience of the queue, because the process at
// its head is stopped.
type lockQueue struct {
	path     string
	advanced func() uint64 // changes when another process has written; nil if unknown

	mu          sync.Mutex
	file        int  // descriptor, -1 before it is opened
	unavailable bool // the file or its lock cannot be used
	waiting     bool // a goroutine waits for the lock
	stuck       bool // and has for longer than patience
	wanted      bool // a caller wants the lock: otherwise the goroutine unlocks it at once
	held        bool
	acquired    chan struct{} // one signal per lock
}

// patience is how long a process waits while no other one makes progress: longer if the machine is
// so crowded that the process at the head may not have run.
const (
	patience    = time.Second
	maxPatience = 10 * time.Second
)

// checkWanted is the interval at which a waiting process checks that its callers still wait. It is
// long because hundreds of processes may wait, and the writer needs the processor.
const checkWanted = 50 * time.Millisecond

func (q *lockQueue) progress() uint64 {
	if q.advanced == nil {
		return 0
	}
	return q.advanced()
}

func newLockQueue(path string) *lockQueue {
	return &lockQueue{path: path + "-turn", file: -1, acquired: make(chan struct{}, 1)}
}

// acquire waits until the lock is held, patience is over, ctx ends, or wanted returns false. It
// never fails. The caller must call release in every case.
func (q *lockQueue) acquire(ctx context.Context, wanted func() bool) {
	if !q.tryAcquire() {
		return
	}
	over := time.NewTimer(crowd.Stretch(patience, crowd.Share(), maxPatience))
	defer over.Stop()
	check := time.NewTicker(checkWanted)
	defer check.Stop()
	before := q.progress()
	for {
		select {
		case <-q.acquired:
			return
		case <-check.C:
			if wanted() {
				continue
			}
		case <-over.C:
			if now := q.progress(); now != before { // other writers make progress
				before = now
				over.Reset(crowd.Stretch(patience, crowd.Share(), maxPatience))
				continue
			}
			q.mu.Lock()
			q.stuck = q.waiting
			q.mu.Unlock()
		case <-ctx.Done():
		}
		return
	}
}

// tryAcquire takes the lock without waiting. It returns true if another process holds it;
// q.acquired then receives a value when this process holds it.
func (q *lockQueue) tryAcquire() (wait bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting { // left from an abandoned acquire
		q.wanted = !q.stuck
		return q.wanted
	}
	if q.unavailable {
		return false
	}
	if q.file < 0 {
		var err error
		if q.file, err = openLock(q.path); err != nil {
			q.unavailable = true
			return false
		}
	}
	free, err := tryLock(q.file)
	switch {
	case err != nil:
		q.unavailable = true
	case free:
		q.held = true
	default:
		q.waiting, q.wanted = true, true
		go q.wait(q.file)
		return true
	}
	return false
}

// wait waits for the lock. A context cannot interrupt the system call, so an abandoned acquire
// leaves the goroutine waiting; the next acquire uses it, or it unlocks at once.
func (q *lockQueue) wait(file int) {
	err := waitLock(file)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting, q.stuck = false, false
	switch {
	case q.file < 0: // closed
		closeLock(file)
		return
	case err != nil:
		q.unavailable = true
	case q.wanted:
		q.held = true
	default:
		unlock(file)
		return
	}
	q.acquired <- struct{}{}
}

// touch updates the time of the lock file, so that waiting processes see that a writer holds
// SQLite's lock.
func (q *lockQueue) touch() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file >= 0 {
		touchLock(q.file)
	}
}

// release unlocks the lock if it is held.
func (q *lockQueue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wanted = false
	select {
	case <-q.acquired: // acquired after acquire had returned
	default:
	}
	if q.held {
		q.held = false
		unlock(q.file)
	}
}

// close closes the lock file.
func (q *lockQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file >= 0 && !q.waiting {
		closeLock(q.file)
	}
	q.file, q.unavailable = -1, true
}
