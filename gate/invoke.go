package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"sync/atomic"
	"time"
)

// A fault is the reason why a port gave no answer.
type fault uint8

const (
	none     fault = iota
	failed         // it returned an error
	panicked       // it panicked or ended its goroutine
	late           // it did not answer before its deadline
	gone           // the caller's context ended first
	crowded        // too many calls to this port never came back
)

// String returns the word for records, which has no text of the port (H17).
func (f fault) String() string {
	return [...]string{"", "error", "panic", "timeout", "context ended", "too many calls in flight"}[f]
}

// maxStuck is how many calls to one port may have overrun their deadline and not
// returned. Beyond it the port is not called: a hung port must not collect
// goroutines without bound (FM14).
const maxStuck = 256

// port guards the calls to one port.
type port struct {
	stuck atomic.Int64 // calls that were given up and have not returned
}

// reply is the answer of a port.
type reply[T any] struct {
	value T
	fault fault
	err   error
	stack string // of a panic: hash of the stack (FM15)
}

// invoke calls f under a deadline on a goroutine of its own, because code that
// does not look at its context can be stopped in no other way. The goroutine
// belongs to the call: invoke waits for it until the deadline; after that nothing
// waits for it and its answer is dropped. An answer that is there when the
// deadline is over came too late, however close it was. Without a limit the end of
// ctx is the deadline.
func invoke[T any](ctx context.Context, p *port, limit time.Duration, f func(context.Context) (T, error)) reply[T] {
	if p.stuck.Load() >= maxStuck {
		return reply[T]{fault: crowded}
	}
	if ctx.Err() != nil {
		return reply[T]{fault: gone, err: context.Cause(ctx)}
	}
	inner := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	const running, answered, abandoned = 0, 1, 2
	var state atomic.Int32
	answer := make(chan reply[T], 1)
	go func() {
		r := reply[T]{fault: panicked}
		defer func() {
			if v := recover(); v != nil {
				r.stack, r.err = stackHash(), panicError(v)
			}
			if state.Swap(answered) == abandoned {
				p.stuck.Add(-1)
			}
			answer <- r
		}()
		value, err := f(inner)
		if err != nil {
			r = reply[T]{fault: failed, err: err}
			return
		}
		r = reply[T]{value: value}
	}()
	var r reply[T]
	select {
	case r = <-answer:
	case <-inner.Done():
		if state.CompareAndSwap(running, abandoned) {
			p.stuck.Add(1)
		}
	}
	switch {
	case ctx.Err() != nil:
		return reply[T]{fault: gone, err: context.Cause(ctx)}
	case inner.Err() != nil:
		return reply[T]{fault: late, err: inner.Err()}
	}
	return r
}

// timed calls code that returns when its context ends, on the goroutine of its caller. An
// answer after the deadline is dropped here too; its error is kept for operators. ctx has no
// end.
func timed[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) reply[T] {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := inline(ctx, f)
	if err := ctx.Err(); err != nil {
		if r.err != nil {
			err = r.err
		}
		return reply[T]{fault: late, err: err}
	}
	return r
}

// inline calls f on the goroutine of its caller.
func inline[T any](ctx context.Context, f func(context.Context) (T, error)) (r reply[T]) {
	defer func() {
		if v := recover(); v != nil {
			r = reply[T]{fault: panicked, stack: stackHash(), err: panicError(v)}
		}
	}()
	value, err := f(ctx)
	if err != nil {
		return reply[T]{fault: failed, err: err}
	}
	return reply[T]{value: value}
}

// stackHash identifies a panic in records without repeating its text.
func stackHash() string {
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
