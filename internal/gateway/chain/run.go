package chain

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
)

// Run runs a chain for one exchange. It is not safe for concurrent use, except for Working.
type Run struct {
	chain    *Chain
	x        events.Exchange
	stages   []stage
	limit    time.Duration
	maxBytes int

	began   time.Time
	now     atomic.Pointer[hooks] // policy whose hook runs
	since   atomic.Int64          // start of the hook, in nanoseconds since began
	idle    chan struct{}         // closed when the last guarded hook has returned
	guarded bool                  // hooks run on a goroutine of their own
	over    error                 // if set, only OnStreamComplete is still called
	gone    error                 // a hook ended its goroutine

	calls []*events.Call

	// An exchange may consist of several responses of the provider; see Again.
	continues func() bool // see Setup
	started   bool        // OnStreamStart was called
	ended     bool        // OnFinishReason was called
	whole     bool        // responses are not streamed
	ending    *ending     // end of a response that another one may follow
	texts     int         // first unused text index of this response
	before    struct {    // counts of the earlier responses
		texts, calls int
	}
}

// ending is the end of a choice that has not been reported to the policies yet.
type ending struct {
	choice, index int
	reason        string
}

// Again starts the next response of the provider within the exchange. Its texts and calls are
// numbered after the earlier ones, and the end of the earlier response is discarded.
func (r *Run) Again() {
	if r == nil {
		return
	}
	r.ending = nil
	r.before.texts += r.texts
	r.before.calls = len(r.calls)
	r.texts = 0
}

// Ended reports whether the end of the response was reported to the policies.
func (r *Run) Ended() bool { return r != nil && r.ended }

// deferEnd stores the end of a response if another one may follow.
func (r *Run) deferEnd(choice, index int, reason string, calls bool) bool {
	if r.continues == nil || !calls && !r.continues() {
		return false
	}
	r.ending = &ending{choice, index, reason}
	return true
}

// Ending reports whether an end is stored for Finish.
func (r *Run) Ending() bool { return r != nil && r.ending != nil }

// Finish reports the stored end to the policies and returns the text that they append.
func (r *Run) Finish(ctx context.Context) (more string, err error) {
	if !r.Ending() {
		return "", nil
	}
	e := r.ending
	r.ending = nil
	err = r.guard(ctx, func(ctx context.Context) (err error) {
		more, err = r.finish(ctx, e.choice, e.index, e.reason)
		return err
	})
	return more, err
}

// stage is the state of one policy.
type stage struct {
	*hooks
	x        events.Exchange
	stream   stream
	waiting  string // text that was sent before the first text of the response
	contents []*content
}

// Request passes the request through the policies and returns the result. The error is a *Rejection
// or a *HookError.
func (r *Run) Request(ctx context.Context, body []byte) ([]byte, error) {
	if r == nil || !r.chain.wants(func(h *hooks) bool { return h.request != nil }) {
		return body, nil
	}
	req := events.NewRequest(r.x.Dialect, body)
	err := r.guard(ctx, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			if st.request == nil {
				continue
			}
			if err := r.hook(st.hooks, "OnRequest", func() error { return st.request.OnRequest(ctx, &st.x, req) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return req.Body(), nil
}

// Complete calls OnStreamComplete of all policies. If an abandoned hook is still running, it waits
// for it on another goroutine, so that no two hooks run at once.
func (r *Run) Complete(ctx context.Context) {
	if r == nil || !r.chain.wants(func(h *hooks) bool { return h.complete != nil }) {
		return
	}
	busy := r.idle
	r.over, r.gone = nil, nil
	tell := func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			if st.complete == nil {
				continue
			}
			if err := r.hook(st.hooks, "OnStreamComplete", func() error { return st.complete.OnStreamComplete(ctx, &st.x) }); err != nil {
				st.x.Emit(events.Event{Type: "policy.failed", Summary: "OnStreamComplete failed", Severity: events.Error})
			}
		}
		return nil
	}
	if busy != nil {
		select {
		case <-busy:
		default:
			go func() {
				<-busy
				_ = r.guard(context.WithoutCancel(ctx), tell)
			}()
			return
		}
	}
	// The error has no effect: the response is over.
	_ = r.guard(context.WithoutCancel(ctx), tell)
}

// CallDelta passes a chunk of a call's arguments to the policies.
func (r *Run) CallDelta(ctx context.Context, n int, piece string) error {
	if r != nil {
		n += r.before.calls
	}
	if r == nil || n < 0 || n >= len(r.calls) || r.calls[n] == nil {
		return nil
	}
	if r.over != nil {
		return r.over
	}
	b := r.calls[n]
	b.Arguments += piece
	if !r.chain.wants(func(h *hooks) bool { return h.callDelta != nil }) {
		return nil
	}
	return r.guard(ctx, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			if st.callDelta == nil {
				continue
			}
			st.stream.readOnly = true
			err := r.hook(st.hooks, "OnToolCallDelta", func() error { return st.callDelta.OnToolCallDelta(ctx, &st.x, &st.stream, b, piece) })
			if st.stream.readOnly = false; err != nil {
				return err
			}
		}
		return nil
	})
}

// Call registers a call. The codec of the current response numbers the calls.
func (r *Run) Call(n, choice int, id stopgate.CallID, name stopgate.ToolName) {
	if r == nil || !r.chain.calls {
		return
	}
	n += r.before.calls
	for len(r.calls) <= n {
		r.calls = append(r.calls, nil)
	}
	r.calls[n] = &events.Call{Choice: choice, Index: n, ID: id, Name: name}
}

// Decision is the policies' decision about a call.
type Decision struct {
	Sent bool
	// Arguments are to be judged and run. They are the model's unless a policy changed them.
	Arguments string
	Changed   bool
	Text      string // replacement of a call that was dropped, or ""
	Policy    string // policy that dropped the call
}

// CallComplete passes a complete call through the policies in order. refused is the code if the
// gate has already refused it, else "".
func (r *Run) CallComplete(ctx context.Context, n int, id stopgate.CallID, refused stopgate.Code) (Decision, error) {
	if r != nil {
		n += r.before.calls
	}
	if r == nil || !r.chain.calls || n < 0 || n >= len(r.calls) || r.calls[n] == nil {
		return Decision{Sent: true}, nil
	}
	if r.over != nil {
		return Decision{}, r.over
	}
	b := r.calls[n]
	b.ID, b.Refused = id, refused
	was, name := b.Arguments, b.Name
	d := Decision{Sent: true}
	err := r.guard(ctx, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			s := &st.stream
			if st.callComplete == nil {
				if s.finished {
					s.dropped++
					d = Decision{Policy: st.name}
					return nil
				}
				continue
			}
			s.call, s.sent = b, false
			err := r.hook(st.hooks, "OnToolCallComplete", func() error { return st.callComplete.OnToolCallComplete(ctx, &st.x, s, b) })
			s.call = nil
			text := s.takeOutput()
			if err != nil {
				return err
			}
			if b.Name != name {
				return &HookError{Policy: st.name, Hook: "OnToolCallComplete", Err: errRenamed}
			}
			if !s.sent {
				d = Decision{Text: text, Policy: st.name}
				return nil
			}
			s.sent = false
		}
		return nil
	})
	if err != nil {
		return Decision{}, err
	}
	d.Arguments, d.Changed = b.Arguments, b.Arguments != was
	return d, nil
}
