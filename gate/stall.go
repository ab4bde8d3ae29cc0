package gate

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/system/crowd"
)

// Advancing is implemented by a [Store] and a [Recorder] that several writers share.
//
// A call that waits for one is late for as long as others are written, and is waited for
// until its caller's own deadline: load alone denies nothing. Where nothing is written
// for [Limits.Store], it is unavailable, and the call is denied (FM2, FM4).
// Calls of such a port return when their context ends.
type Advancing interface {
	// Advanced returns a number that changes whenever something was written, by this
	// process or another. It is cheap and does not block.
	Advanced() uint64
}

// Crowded is implemented by an [Advancing] port whose writers run on this machine. Where
// more threads want a processor than there are, a writer that gets none for a while is not
// stuck: the time without progress is that of a writer which gets its share.
type Crowded interface {
	Advancing
	// Share is the part of a processor that a thread gets now, 1 for all of it.
	Share() float64
}

// Spooler is a [Recorder] that keeps rows durably where it cannot write them now, and
// writes them as soon as it can. Only rows that permit nothing are spooled.
type Spooler interface {
	Recorder
	// Spool returns after the rows are durable; after an error none of them is.
	Spool(rows []*stopgate.Record) error
	// Spooled reports whether spooled rows wait to be written.
	Spooled() bool
}

// stallSteps is in how many steps the time without any progress is counted. A process
// that does not run counts none: on a machine that is too busy to write it is also too
// busy to give up.
const stallSteps = 10

// longestStep bounds a step where a writer gets only a small share of a processor.
const longestStep = time.Second

// errStalled is the cause of a context that ended because nothing was written.
var errStalled = errors.New("nothing was written for too long")

// stall finds out whether a port that is shared still advances.
type stall struct {
	advanced func() uint64
	share    func() float64 // of a processor that a writer gets; nil for all of it
	limit    time.Duration
	waiting  func() bool // rows are spooled, and somebody tries to write them; nil for never
	closed   atomic.Bool // it was found not to advance, and may be so still

	mu   sync.Mutex
	at   uint64    // where it did not
	when time.Time // and since when that is known
}

// sharing is the stall of a port that several writers share.
func sharing(p Advancing, limit time.Duration) *stall {
	s := &stall{advanced: p.Advanced, limit: limit}
	if c, ok := p.(Crowded); ok {
		s.share = c.Share
	}
	return s
}

// step is how long the next step lasts.
func (s *stall) step() time.Duration {
	if s.share == nil {
		return s.limit / stallSteps
	}
	return crowd.Stretch(s.limit/stallSteps, s.share(), longestStep)
}

// unavailable reports that the port was found not to advance, has not since, and that
// somebody is trying or it is not time to try again: a call that is denied for it has
// nothing else to wait for.
func (s *stall) unavailable() bool {
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

func (s *stall) found(at uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.when = at, time.Now()
	s.closed.Store(true)
}

// watch returns a context that ends when ctx does or when the port has not advanced for
// the limit.
func (s *stall) watch(ctx context.Context) (inner context.Context, stop func()) {
	inner, cancel := context.WithCancelCause(ctx)
	w := &watcher{stall: s, cancel: cancel, at: s.advanced()}
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
	*stall
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
		w.found(now)
		w.cancel(errStalled)
		return
	}
	w.timer.Reset(w.step())
}

// outlive is a context for what has to be written although the call was given up: it keeps
// the deadline of its caller, and nothing else that ends it.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	last := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok && ctx.Err() == nil {
		return context.WithDeadline(last, end)
	}
	return last, func() {}
}

// during makes a call to a shared port. It may be called from the goroutine of the
// caller only if the port is punctual.
func during[T any](ctx context.Context, s *stall, p *port, punctual bool, f func(context.Context) (T, error)) reply[T] {
	if err := ctx.Err(); err != nil {
		return reply[T]{fault: gone, err: context.Cause(ctx)}
	}
	if s.unavailable() {
		return reply[T]{fault: late, err: errStalled}
	}
	inner, stop := s.watch(ctx)
	defer stop()
	var r reply[T]
	if punctual {
		if r = inline(inner, f); inner.Err() == nil || r.fault == none {
			return r
		}
	} else if r = invoke(inner, p, 0, f); inner.Err() == nil {
		return r
	}
	if errors.Is(context.Cause(inner), errStalled) {
		return reply[T]{fault: late, err: errors.Join(errStalled, r.err)}
	}
	return reply[T]{fault: gone, err: context.Cause(inner)}
}
