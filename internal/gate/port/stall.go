package port

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/system/crowd"
)

// stallSteps is the number of steps in which the time without progress is counted. A process
// that does not run counts no steps: a machine too busy to write is also too busy to give up.
const stallSteps = 10

// longestStep bounds a step where a writer gets only a small share of a processor.
const longestStep = time.Second

// ErrStalled is the cause of a context that ended because of a port without progress.
var ErrStalled = errors.New("nothing was written for too long")

// Stall detects whether a port that is shared still advances.
type Stall struct {
	advanced func() uint64
	share    func() float64
	limit    time.Duration
	waiting  func() bool
	closed   atomic.Bool // it was found not to advance, and has not been seen to advance since

	mu   sync.Mutex
	at   uint64    // the number at which it did not advance
	when time.Time // when that was found
}

// NewStall returns the detector of a port that several writers share. advanced returns a number
// that changes with every write; it is nil for a port that is not shared, which has no detector.
// share returns the part of a processor that a writer gets; nil for all of it. waiting reports
// whether rows are spooled and being written; nil for never.
func NewStall(advanced func() uint64, share func() float64, waiting func() bool, limit time.Duration) *Stall {
	if advanced == nil {
		return nil
	}
	return &Stall{advanced: advanced, share: share, waiting: waiting, limit: limit}
}

// step is how long the next step lasts.
func (s *Stall) step() time.Duration {
	if s.share == nil {
		return s.limit / stallSteps
	}
	return crowd.Stretch(s.limit/stallSteps, s.share(), longestStep)
}

// unavailable reports that the port was found not to advance and has not advanced since, and
// that a writer is retrying or the next retry is not due. Calls are denied without waiting.
func (s *Stall) unavailable() bool {
	if !s.closed.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.advanced() != s.at {
		s.closed.Store(false)
		return false
	}
	return s.waiting != nil && s.waiting() || time.Since(s.when) < s.limit
}

func (s *Stall) markStalled(at uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.when = at, time.Now()
	s.closed.Store(true)
}

// watch returns a context that ends when ctx does or when the port has not advanced for
// the limit.
func (s *Stall) watch(ctx context.Context) (inner context.Context, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	w := &watcher{Stall: s, cancel: cancel, at: s.advanced()}
	w.mu.Lock()
	w.timer = time.AfterFunc(s.limit/stallSteps, w.look)
	w.mu.Unlock()
	return inner, func() {
		w.mu.Lock()
		w.over = true
		w.timer.Stop()
		w.mu.Unlock()
		cancel(nil)
	}
}

// watcher counts steps without progress for one call.
type watcher struct {
	*Stall
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	over  bool
	at    uint64
	steps int
}

func (w *watcher) look() {
	now := w.advanced()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.steps++
	if now != w.at {
		w.at, w.steps = now, 0
	}
	if w.steps >= stallSteps {
		w.markStalled(now)
		w.cancel(ErrStalled)
		return
	}
	w.timer.Reset(w.step())
}

// Detached returns a context for writes that must happen although the call was cancelled: it
// keeps only the deadline of the caller's context.
func Detached(ctx context.Context) (context.Context, context.CancelFunc) {
	last := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil {
		return context.WithDeadline(last, end)
	}
	return last, func() {}
}

// During makes a call to a shared port. It may be called from the goroutine of the
// caller only if the port is punctual.
func During[T any](ctx context.Context, s *Stall, g *Guard, punctual bool, f func(context.Context) (T, error)) Reply[T] {
	if err := ctx.Err(); err != nil {
		return Reply[T]{Fault: CallerDone, Err: context.Cause(ctx)}
	}
	if s.unavailable() {
		return Reply[T]{Fault: Late, Err: ErrStalled}
	}
	inner, stop := s.watch(ctx)
	defer stop()
	var r Reply[T]
	if punctual {
		if r = Inline(inner, f); inner.Err() == nil || r.Fault == None {
			return r
		}
	} else if r = Invoke(inner, g, 0, f); inner.Err() == nil {
		return r
	}
	if errors.Is(context.Cause(inner), ErrStalled) {
		return Reply[T]{Fault: Late, Err: errors.Join(ErrStalled, r.Err)}
	}
	return Reply[T]{Fault: CallerDone, Err: context.Cause(inner)}
}
