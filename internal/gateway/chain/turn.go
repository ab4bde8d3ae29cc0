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
	errOver     = errors.New("the exchange is over")
)

// job runs hooks one after the other. Its hooks run while it has the turn of the run, which one job
// has at a time (V3-15). A job whose hook takes too long is abandoned, because code that ignores its
// context cannot be stopped otherwise: its output is discarded, and the run is over.
type job struct {
	run  *Run
	call *call // the call that it decides, or nil
	kind kind

	// The fields below are guarded by Run.mu.
	turn     bool          // the job has the turn
	awaiting bool          // its hook is in Stream.Await
	hook     *hooks        // policy whose hook runs, or nil
	name     string        // of that hook
	since    time.Time     // start of that hook, or of its time after Stream.Await
	left     time.Duration // time limit from since on
	timer    *time.Timer
	gone     error // a hook ended the goroutine
}

// kind determines what a job waits for.
type kind uint8

const (
	ordered kind = iota // for every call that is being decided
	looking             // for the first hook of these calls: the hook cannot send anything
	last                // as ordered, and it runs after a failure too
)

// mayRun reports whether a job does not overtake another one. mu must be locked.
func (r *Run) mayRun(j *job) bool {
	for _, c := range r.deciding {
		switch {
		case c == j.call:
			return true // calls after it wait for it
		case j.call == nil:
			if j.kind != looking || c.phase == queued && c.stage == 0 {
				return false
			}
		case j.awaiting: // resumes in call order
			if c.stage <= j.call.stage {
				return false
			}
		case c.stage < j.call.stage || c.stage == j.call.stage && c.phase == queued:
			return false
		}
	}
	return true
}

// take waits for the turn.
func (j *job) take() error {
	r := j.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.over != nil && j.kind != last {
			return r.over
		}
		if !r.busy && r.mayRun(j) {
			break
		}
		r.changed.Wait()
	}
	j.hold()
	return nil
}

// hold takes the turn. mu must be locked.
func (j *job) hold() {
	j.run.busy, j.turn = true, true
	if j.call != nil {
		j.call.phase = running
		j.run.changed.Broadcast()
	}
}

// release gives the turn back. mu must be locked.
func (j *job) release() {
	if j.turn {
		j.turn, j.run.busy = false, false
		j.run.changed.Broadcast()
	}
}

// await runs work without the turn, so that hooks of other calls run in the meantime.
func (j *job) await(work func()) {
	r := j.run
	r.mu.Lock()
	if j.call == nil || !j.turn {
		r.mu.Unlock()
		work()
		return
	}
	j.awaiting = true
	j.release()
	r.mu.Unlock()
	work()
	r.mu.Lock()
	defer r.mu.Unlock()
	// Waiting for the turn does not count as time of the hook.
	j.timer.Stop()
	j.left -= time.Since(j.since)
	hook := j.hook
	j.hook = nil
	for r.busy || !r.mayRun(j) {
		r.changed.Wait()
	}
	j.awaiting = false
	j.hold()
	j.hook, j.since = hook, time.Now()
	j.timer.Reset(max(j.left, 0))
}

// do runs one hook.
func (j *job) do(h *hooks, name string, f func() error) (err error) {
	j.begin(h, name)
	ended := false
	defer func() {
		v := recover()
		if j.end(); v != nil {
			err = &HookError{Policy: h.name, Hook: name, Err: fmt.Errorf("%w: %v", errPanicked, v)}
		} else if !ended {
			j.gone = &HookError{Policy: h.name, Hook: name, Err: errPanicked}
		}
	}()
	err = f()
	ended = true
	if err != nil && !errors.As(err, new(*events.Rejection)) {
		err = &HookError{Policy: h.name, Hook: name, Err: err}
	}
	return err
}

// begin starts the time of a hook. A job without a goroutine of its own has no limit.
func (j *job) begin(h *hooks, name string) {
	if !j.turn {
		return
	}
	r := j.run
	r.mu.Lock()
	defer r.mu.Unlock()
	j.hook, j.name, j.since, j.left = h, name, time.Now(), r.limit
	if j.timer == nil {
		j.timer = time.AfterFunc(r.limit, j.expire)
		return
	}
	j.timer.Reset(r.limit)
}

// end stops the time of a hook.
func (j *job) end() {
	if j.timer == nil {
		return
	}
	j.run.mu.Lock()
	defer j.run.mu.Unlock()
	j.hook = nil
	j.timer.Stop()
}

// expire is the function of the timer.
func (j *job) expire() {
	r := j.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.hook != nil && time.Since(j.since) >= j.left {
		r.fail(j.late(errLate))
	}
}

// late returns the error of an abandoned hook. mu must be locked.
func (j *job) late(cause error) error {
	e := &HookError{Late: true, Err: cause}
	if j.hook != nil {
		e.Policy, e.Hook = j.hook.name, j.name
	}
	return e
}

// fail ends the run, unless it has ended, and returns the error that ended it. mu must be locked.
func (r *Run) fail(err error) error {
	if r.over == nil {
		r.over = err
		close(r.failed)
		r.changed.Broadcast()
	}
	return r.over
}

// failure returns the error that ended the run, or nil.
func (r *Run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// start runs work on a goroutine. The channel receives its error.
func (j *job) start(work func() error) <-chan error {
	r := j.run
	r.mu.Lock()
	r.jobs++
	r.mu.Unlock()
	r.working.Add(1)
	done := make(chan error, 1)
	go func() {
		err := error(&HookError{Err: errPanicked}) // if work ends the goroutine
		defer func() {
			if v := recover(); v != nil {
				err = &HookError{Err: fmt.Errorf("%w: %v", errPanicked, v)}
			} else if j.gone != nil {
				err = j.gone
			}
			r.mu.Lock()
			r.jobs--
			j.release()
			r.changed.Broadcast()
			r.mu.Unlock()
			r.working.Add(-1)
			done <- err
		}()
		err = work()
	}()
	return done
}

// enter makes a job that of the hooks for texts, which it runs with do.
func (r *Run) enter(j *job) {
	r.guarded = j
	for i := range r.stages {
		r.stages[i].stream.job = j
	}
}

// guard runs hooks in the turn of the run and waits for them, at most until the exchange ends or a
// hook has taken too long.
func (r *Run) guard(ctx context.Context, k kind, work func(ctx context.Context) error) error {
	if err := r.failure(); err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &job{run: r, kind: k}
	done := j.start(func() error {
		if err := j.take(); err != nil {
			return err
		}
		r.enter(j)
		return work(inner)
	})
	var err error
	select {
	case err = <-done:
	case <-r.failed:
		return r.failure()
	case <-ctx.Done():
		err = context.Cause(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.fail(j.late(err))
	}
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fail(err)
	}
	return err
}

// inTurn runs work, which runs no hook, in the turn of the run on the calling goroutine.
func (r *Run) inTurn(ctx context.Context, work func() error) error {
	j := &job{run: r}
	defer context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fail(j.late(context.Cause(ctx)))
	})()
	if err := j.take(); err != nil {
		return err
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		j.release()
	}()
	r.enter(j)
	return work()
}

// Working reports whether a hook is running or waits for its turn.
func (r *Run) Working() bool { return r != nil && r.working.Load() > 0 }
