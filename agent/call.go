package agent

import (
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/arguments"
	"github.com/stopgate/stopgate/gate"
)

// call is one call of an answer on its way.
type call struct {
	number   int
	tool     stopgate.ToolName
	id       stopgate.CallID
	at       Tool // the definition, zero for a tool that the model was not told of
	declared bool
	pending  *gate.Pending
	asked    bool
	part     int // which call of the answer

	mu    sync.Mutex
	args  arguments.Arguments
	state Call
	over  bool // nothing of it can run any more
}

// change changes the state and tells it.
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

// judged takes a verdict. It reports whether the call is refused for good by it.
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

// refused reports whether nothing of the call can run any more.
func (c *call) refused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// Parameters are the parameters of complete arguments.
func Parameters(args string) []arguments.Parameter {
	var a arguments.Arguments
	a.Feed([]byte(args))
	return a.Parameters()
}
