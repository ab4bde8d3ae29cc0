package postgres

import (
	"context"
	"testing"
)

// Loads whose callers have given up are dropped without a read, so that a stall of the database leaves
// no queue of them.
func TestAbandonedLoads(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	l := &loader{running: 1} // no store: a read would panic
	for range 1000 {
		l.waiting = append(l.waiting, &load{ctx: ended, done: make(chan struct{})})
	}
	l.run()
	if len(l.waiting) != 0 || l.running != 0 {
		t.Errorf("%d loads wait, %d loaders run", len(l.waiting), l.running)
	}
}
