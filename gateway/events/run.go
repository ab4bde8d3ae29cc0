package events

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
)

// Run is a chain at work on one exchange. Its methods are called by one goroutine, one
// after the other; Working by any.
type Run struct {
	chain    *Chain
	x        Exchange
	stages   []stage
	limit    time.Duration
	maxBytes int

	began   time.Time
	now     atomic.Pointer[hooks] // the policy whose hook runs
	since   atomic.Int64          // nanoseconds from began to its start
	idle    chan struct{}         // closed when the last guarded work has ended
	guarded bool                  // hooks run on a goroutine of their own
	over    error                 // why no further hook is called but OnStreamComplete
	gone    error                 // a hook ended its goroutine

	calls []*Call

	// An exchange may have several answers of the provider, see Again.
	continues func() bool // see Setup
	started   bool        // OnStreamStart was called
	ended     bool        // OnFinishReason was called
	whole     bool        // responses are bodies
	ending    *ending     // of an answer that another one may follow
	texts     int         // the first number that no text of this answer has
	before    struct {    // in the answers before
		texts, calls int
	}
}

// ending is the end of a choice that the policies were not told of.
type ending struct {
	choice, index int
	reason        string
}

// Again says that another answer of the provider goes on with the response: its texts
// and calls are counted behind those that were, and the end of the answer before was
// none.
func (r *Run) Again() {
	if r == nil {
		return
	}
	r.ending = nil
	r.before.texts += r.texts
	r.before.calls = len(r.calls)
	r.texts = 0
}

// Ended reports whether the policies were told that the response ends.
func (r *Run) Ended() bool { return r != nil && r.ended }

// later keeps the end of an answer back if another one may follow.
func (r *Run) later(choice, index int, reason string, calls bool) bool {
	if r.continues == nil || !calls && !r.continues() {
		return false
	}
	r.ending = &ending{choice, index, reason}
	return true
}

// Ending reports whether Finish has an end to tell of.
func (r *Run) Ending() bool { return r != nil && r.ending != nil }

// Finish tells the policies of the end that was kept back, and returns what they add to
// the text.
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

// stage is one policy at work.
type stage struct {
	*hooks
	stream   Stream
	waiting  string // text that was sent where no text was
	contents []*Content
}

// Exchange is what hooks see.
func (r *Run) Exchange() *Exchange {
	if r == nil {
		return nil
	}
	return &r.x
}

// Request shows the request to the policies and returns what they made of it. The error
// is a *Rejection or a *HookError.
func (r *Run) Request(ctx context.Context, body []byte) ([]byte, error) {
	if r == nil || !r.chain.wants(func(h *hooks) bool { return h.request != nil }) {
		return body, nil
	}
	req := &Request{body: body}
	err := r.guard(ctx, func(ctx context.Context) error {
		for i := range r.stages {
			h := r.stages[i].hooks
			if h.request == nil {
				continue
			}
			if err := r.hook(h, "OnRequest", func() error { return h.request.OnRequest(ctx, &r.x, req) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return req.body, nil
}

// Complete tells all policies that the exchange is over. A hook that was given up and
// still runs is waited for on another goroutine, so that no two run at once.
func (r *Run) Complete(ctx context.Context) {
	if r == nil || !r.chain.wants(func(h *hooks) bool { return h.complete != nil }) {
		return
	}
	busy := r.idle
	r.over, r.gone = nil, nil
	tell := func(ctx context.Context) error {
		for i := range r.stages {
			h := r.stages[i].hooks
			if h.complete == nil {
				continue
			}
			if err := r.hook(h, "OnStreamComplete", func() error { return h.complete.OnStreamComplete(ctx, &r.x) }); err != nil {
				r.x.Emit(Event{Type: "policy.failed", Summary: "OnStreamComplete failed", Severity: Error})
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
	// Whatever it says, the response is over.
	_ = r.guard(context.WithoutCancel(ctx), tell)
}

// CallDelta shows a piece of a call's arguments.
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
			st.stream.mute = true
			err := r.hook(st.hooks, "OnToolCallDelta", func() error { return st.callDelta.OnToolCallDelta(ctx, &r.x, &st.stream, b, piece) })
			if st.stream.mute = false; err != nil {
				return err
			}
		}
		return nil
	})
}

// Call begins a call. Calls are numbered as the codec of the answer numbers them.
func (r *Run) Call(n, choice int, id stopgate.CallID, name stopgate.ToolName) {
	if r == nil || !r.chain.calls {
		return
	}
	n += r.before.calls
	for len(r.calls) <= n {
		r.calls = append(r.calls, nil)
	}
	r.calls[n] = &Call{Choice: choice, Index: n, ID: id, Name: name}
}

// Decision is what became of a call.
type Decision struct {
	Sent bool
	// Arguments are those to judge and to run. They are what the model wrote unless a
	// policy changed them.
	Arguments string
	Changed   bool
	Text      string // takes the place of a call that was not sent; "" if no policy says any
	Policy    string // that did not send it
}

// CallComplete asks the policies about a complete call, in their order. refused is why
// the gate will not let it run, "" if it has not refused it.
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
					d = Decision{Policy: st.policy.Name()}
					return nil
				}
				continue
			}
			s.call, s.sent = b, false
			err := r.hook(st.hooks, "OnToolCallComplete", func() error { return st.callComplete.OnToolCallComplete(ctx, &r.x, s, b) })
			s.call = nil
			text := s.take()
			if err != nil {
				return err
			}
			if b.Name != name {
				return &HookError{Policy: st.policy.Name(), Hook: "OnToolCallComplete", Err: errRenamed}
			}
			if !s.sent {
				d = Decision{Text: text, Policy: st.policy.Name()}
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
