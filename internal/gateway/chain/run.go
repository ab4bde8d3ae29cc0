package chain

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/gateway/events"
)

// Run runs a chain for one exchange. It is not safe for concurrent use, except for Working.
type Run struct {
	chain    *Chain
	x        events.Exchange
	stages   []stage
	limit    time.Duration
	maxBytes int

	mu       sync.Mutex
	changed  sync.Cond     // broadcast when a job may have become able to run
	busy     bool          // a job has the turn
	jobs     int           // number of goroutines that run hooks
	deciding []*call       // calls that are passed through the policies, in the order of their ends
	over     error         // if set, only OnStreamComplete is still called
	failed   chan struct{} // closed when over is set
	working  atomic.Int64  // number of jobs, for Working
	guarded  *job          // job of the hooks for texts

	stop    func()      // see Setup
	stopped atomic.Bool // a hook stopped the response

	calls     []*call
	completed int // number of complete calls

	continues func(choice int) bool // see Setup
	started   bool                  // OnStreamStart was called
	ended     bool                  // OnFinishReason was called
	whole     bool                  // responses are not streamed
	from      int                   // first policy after the last one with OnResponse, if whole
	endings   []ending              // ends of choices that are reported by Finish
	texts     int                   // first unused text index of this response
	before    struct {              // counts of the earlier responses
		texts, calls int
	}
}

// Count stores the numbers of calls for the hooks that follow.
func (r *Run) Count(n events.CallCounts) {
	if r == nil || r.failure() != nil {
		return // an abandoned hook may read them
	}
	for i := range r.stages {
		r.stages[i].x.Calls = n
	}
}

// Stopped reports whether a hook has stopped the response.
func (r *Run) Stopped() bool { return r != nil && r.stopped.Load() }

// stage is the state of one policy.
type stage struct {
	*hooks
	x        events.Exchange
	stream   stream // of the hooks for texts
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
	err := r.guard(ctx, ordered, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			if st.request == nil {
				continue
			}
			if err := r.guarded.do(st.hooks, "OnRequest", func() error { return st.request.OnRequest(ctx, &st.x, req) }); err != nil {
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

// Complete calls OnStreamComplete of all policies. If a hook is still running, it waits for it on
// another goroutine, so that no two hooks run at once.
func (r *Run) Complete(ctx context.Context) {
	if r == nil || !r.chain.wants(func(h *hooks) bool { return h.complete != nil }) {
		return
	}
	r.mu.Lock()
	if r.jobs > 0 {
		r.fail(&HookError{Late: true, Err: errOver})
		go func() {
			r.mu.Lock()
			for r.jobs > 0 {
				r.changed.Wait()
			}
			r.mu.Unlock()
			r.tell(ctx)
		}()
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	r.tell(ctx)
}

// tell calls OnStreamComplete of all policies. Errors have no effect: the response is over.
func (r *Run) tell(ctx context.Context) {
	r.mu.Lock()
	r.over, r.failed = nil, make(chan struct{})
	r.mu.Unlock()
	_ = r.guard(context.WithoutCancel(ctx), last, func(ctx context.Context) error {
		for i := range r.stages {
			st := &r.stages[i]
			if st.complete == nil {
				continue
			}
			if err := r.guarded.do(st.hooks, "OnStreamComplete", func() error { return st.complete.OnStreamComplete(ctx, &st.x) }); err != nil {
				st.x.Emit(events.Event{Type: "policy.failed", Summary: "OnStreamComplete failed", Severity: events.Error})
			}
		}
		return nil
	})
}
