package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/gateway/events"
)

// HookError is the failure of a hook. Its message names the policy and the hook and is for logs;
// clients receive only a code.
type HookError struct {
	Policy, Hook string
	// Late is true if the hook timed out or outlived its exchange.
	Late bool
	Err  error
}

// Error implements error.
func (e *HookError) Error() string {
	return fmt.Sprintf("events: policy %s: %s: %v", e.Policy, e.Hook, e.Err)
}

// Unwrap returns the hook's own error.
func (e *HookError) Unwrap() error { return e.Err }

var (
	errLate     = errors.New("it took too long")
	errPanicked = errors.New("it panicked")
	errRenamed  = errors.New("a call cannot become a call of another tool")
)

// hook runs one hook on the calling goroutine.
func (r *Run) hook(h *hooks, name string, f func() error) (err error) {
	if r.guarded {
		r.since.Store(int64(time.Since(r.began)))
		r.now.Store(h)
	}
	ended := false
	defer func() {
		if r.guarded {
			r.now.Store(nil)
		}
		if v := recover(); v != nil {
			err = &HookError{Policy: h.name, Hook: name, Err: fmt.Errorf("%w: %v", errPanicked, v)}
		} else if !ended {
			r.gone = &HookError{Policy: h.name, Hook: name, Err: errPanicked}
		}
	}()
	err = f()
	ended = true
	if err != nil && !errors.As(err, new(*events.Rejection)) {
		err = &HookError{Policy: h.name, Hook: name, Err: err}
	}
	return err
}

// Working reports whether a hook is running.
func (r *Run) Working() bool { return r != nil && r.now.Load() != nil }

// guard runs hooks on a goroutine of their own and abandons them after a timeout or at the end of
// the exchange, because code that ignores its context cannot be stopped otherwise. The output of an
// abandoned hook is discarded; the run is over.
func (r *Run) guard(ctx context.Context, work func(ctx context.Context) error) error {
	if r.over != nil {
		return r.over
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	r.idle, r.guarded = make(chan struct{}), true
	go func(idle chan struct{}) {
		err := error(&HookError{Policy: "", Hook: "", Err: errPanicked})
		defer func() {
			if v := recover(); v != nil {
				err = &HookError{Err: fmt.Errorf("%w: %v", errPanicked, v)}
			} else if r.gone != nil {
				err = r.gone
			}
			close(idle)
			done <- err
		}()
		err = work(inner)
	}(r.idle)
	timer := time.NewTimer(r.limit)
	defer timer.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				r.over = err
			}
			return err
		case <-ctx.Done():
			r.over = r.late(context.Cause(ctx))
			return r.over
		case <-timer.C:
		}
		rest := r.limit
		if r.now.Load() != nil {
			rest = r.limit - time.Since(r.began) + time.Duration(r.since.Load())
		}
		if rest <= 0 {
			r.over = r.late(errLate)
			return r.over
		}
		timer.Reset(rest)
	}
}

// late returns the error of an abandoned hook.
func (r *Run) late(cause error) error {
	e := &HookError{Late: true, Err: cause}
	if h := r.now.Load(); h != nil {
		e.Policy, e.Hook = h.name, "a hook"
	}
	return e
}
