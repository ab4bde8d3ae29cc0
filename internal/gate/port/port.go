package port

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Fault is the reason why a port gave no answer.
type Fault uint8

// The faults. The zero value is an answer.
const (
	None       Fault = iota
	Failed           // it returned an error
	Panicked         // it panicked or ended its goroutine
	Late             // it did not answer before its deadline
	CallerDone       // the caller's context ended first
	Overloaded       // too many calls to this port never came back
)

// String returns the word for records, which has no text of the port (H17).
func (f Fault) String() string {
	return [...]string{"", "error", "panic", "timeout", "context ended", "too many calls in flight"}[f]
}

// maxStuck is how many calls to one port may have overrun their deadline and not
// returned. Beyond it the port is not called: a hung port must not collect
// goroutines without bound (FM14).
const maxStuck = 256

// Guard counts the calls to one port that were given up and have not returned.
type Guard struct {
	stuck atomic.Int64
}

// Stuck returns the count. It may be below zero for a moment: a call may come back before it
// is counted.
func (g *Guard) Stuck() int64 { return g.stuck.Load() }

// Reply is the answer of a port.
type Reply[T any] struct {
	Value T
	Fault Fault
	Err   error
	Stack string // of a panic: hash of the stack (FM15)
}

// Problem returns the error of an operation that the reply failed, nil for an answer.
func (r Reply[T]) Problem(operation string) error {
	switch r.Fault {
	case None:
		return nil
	case Failed, CallerDone:
		return r.Err
	case Late:
		return fmt.Errorf("%s: the store did not answer in time; the machine or the disk is busy, try again", operation)
	}
	return errors.New(operation + ": the store: " + r.Fault.String())
}

// Panic begins the error of a panic.
var Panic = errors.New("panic")

// panicError returns the error for a value of recover.
func panicError(v any) error { return fmt.Errorf("%w: %v\n%s", Panic, v, debug.Stack()) }

// Invoke calls f on a goroutine of its own and waits for it until the deadline, also if f
// ignores its context. An answer that arrives at or after the deadline is dropped. Without a
// limit the end of ctx is the deadline.
func Invoke[T any](ctx context.Context, g *Guard, limit time.Duration, f func(context.Context) (T, error)) Reply[T] {
	if g.stuck.Load() >= maxStuck {
		return Reply[T]{Fault: Overloaded}
	}
	if ctx.Err() != nil {
		return Reply[T]{Fault: CallerDone, Err: context.Cause(ctx)}
	}
	inner := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	const running, answered, abandoned = 0, 1, 2
	var state atomic.Int32
	answer := make(chan Reply[T], 1)
	go func() {
		r := Reply[T]{Fault: Panicked}
		defer func() {
			if v := recover(); v != nil {
				r.Stack, r.Err = StackHash(), panicError(v)
			}
			if state.Swap(answered) == abandoned {
				g.stuck.Add(-1)
			}
			answer <- r
		}()
		value, err := f(inner)
		if err != nil {
			r = Reply[T]{Fault: Failed, Err: err}
			return
		}
		r = Reply[T]{Value: value}
	}()
	var r Reply[T]
	select {
	case r = <-answer:
	case <-inner.Done():
		if state.CompareAndSwap(running, abandoned) {
			g.stuck.Add(1)
		}
	}
	switch {
	case ctx.Err() != nil:
		return Reply[T]{Fault: CallerDone, Err: context.Cause(ctx)}
	case inner.Err() != nil:
		return Reply[T]{Fault: Late, Err: inner.Err()}
	}
	return r
}

// Timed calls code that returns when its context ends, on the goroutine of its caller. An
// answer after the deadline is dropped here too; its error is kept for operators. ctx has no
// end.
func Timed[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) Reply[T] {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := Inline(ctx, f)
	if err := ctx.Err(); err != nil {
		if r.Err != nil {
			err = r.Err
		}
		return Reply[T]{Fault: Late, Err: err}
	}
	return r
}

// Inline calls f on the goroutine of its caller.
func Inline[T any](ctx context.Context, f func(context.Context) (T, error)) (r Reply[T]) {
	defer func() {
		if v := recover(); v != nil {
			r = Reply[T]{Fault: Panicked, Stack: StackHash(), Err: panicError(v)}
		}
	}()
	value, err := f(ctx)
	if err != nil {
		return Reply[T]{Fault: Failed, Err: err}
	}
	return Reply[T]{Value: value}
}

// StackHash identifies a panic in records without repeating its text.
func StackHash() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	h := sha256.New()
	for {
		frame, more := frames.Next()
		h.Write([]byte(frame.Function))
		h.Write([]byte{byte(frame.Line), byte(frame.Line >> 8)})
		if !more {
			return hex.EncodeToString(h.Sum(nil)[:8])
		}
	}
}
