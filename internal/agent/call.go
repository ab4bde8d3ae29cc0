package agent

import (
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/arguments"
)

// call is one call of a response that is in progress.
type call struct {
	number   int
	tool     stopgate.ToolName
	id       stopgate.CallID
	at       Tool // the definition, zero for an unknown tool
	declared bool
	pending  *gate.Pending
	asked    bool
	part     int // index in the response

	mu    sync.Mutex
	args  arguments.Arguments
	state Call
	over  bool // the call cannot run any more
}

// change updates the state and notifies the watcher.
func (c *call) change(w Watcher, f func(s *Call)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f != nil {
		f(&c.state)
	}
	s := c.state
	if s.State <= Complete {
		s.Parameters = c.args.Parameters()
	}
	s.Received = c.args.Received()
	w.Call(s)
}

// judged handles a verdict. It reports whether the verdict finally refuses the call.
func (c *call) judged(w Watcher, v stopgate.Verdict) (refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.state.State > Complete {
		return false
	}
	if c.state.Verdict.Decided == v.Decided && c.state.Verdict.Mode == v.Mode && c.state.Verdict.Code == v.Code && !v.Terminal() {
		return false
	}
	c.state.Verdict = v
	c.over = v.Terminal() && c.pending.Enforced()
	s := c.state
	s.Parameters, s.Received = c.args.Parameters(), c.args.Received()
	w.Call(s)
	return c.over
}

// refused reports whether the call cannot run any more.
func (c *call) refused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// Parameters returns the parameters of complete arguments.
func Parameters(args string) []arguments.Parameter {
	var a arguments.Arguments
	a.Feed([]byte(args))
	return a.Parameters()
}
