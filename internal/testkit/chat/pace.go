package chat

import (
	"context"
	"time"
)

// Hold lets the model write n more tokens, and then wait.
func (r *Rig) Hold(n int) { r.slow.Store(int64(n)) }

// Held waits until the model waits.
func (r *Rig) Held() {
	r.T.Helper()
	r.Until("the model waits", r.blocked.Load)
}

// Go lets the model write on without end.
func (r *Rig) Go() {
	r.slow.Store(-1)
	close(r.held)
}

func (r *Rig) sleep(ctx context.Context, d time.Duration) error {
	n := int64(d / time.Second)
	for {
		left := r.slow.Load()
		if left < 0 {
			return nil
		}
		if left >= n && r.slow.CompareAndSwap(left, left-n) {
			return nil
		}
		if left < n {
			r.blocked.Store(true)
			select {
			case <-r.held:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// Until waits for a condition.
func (r *Rig) Until(what string, ok func() bool) {
	r.T.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.T.Fatalf("%s does not happen", what)
		}
	}
}
