package chain

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
)

// call is one call of the response.
type call struct {
	events.Call
	arrived completeness
	seen    []bool // by policy: its OnToolCallDelta was called
	// withheld and silent are the decisions of policies that decide by OnToolCallDelta.
	withheld, silent []bool

	seq      int          // position in the order of the ends
	job      *job         // that decides the call, or nil
	done     <-chan error // receives the end of the job
	decision Decision
	err      error
	decided  bool

	// Guarded by Run.mu while the job runs.
	stage int // policy whose turn it is
	phase phase
}

// phase is the state of a call at its stage.
type phase uint8

const (
	queued  phase = iota // the hook has not begun
	running              // it has
)

// Decision is the policies' decision about a call.
type Decision struct {
	Sent bool
	// Arguments are to be judged and run. They are the model's unless a policy changed them.
	Arguments string
	Changed   bool
	Text      string // replacement of a call that was dropped, or ""
	Policy    string // policy that dropped the call
	// Silent: nothing may be shown in place of the call, because the policy asked for it or had
	// ended its output.
	Silent bool
	// Ended: a policy had ended its output before the call. A denial by the gate is not shown either.
	Ended bool
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
	k := len(r.stages)
	flags := make([]bool, 3*k)
	r.calls[n] = &call{
		Call: events.Call{Choice: choice, Index: n, ID: id, Name: name},
		seen: flags[:k:k], withheld: flags[k : 2*k : 2*k], silent: flags[2*k:],
	}
}

// callOf returns a registered call, or nil.
func (r *Run) callOf(n int) *call {
	if r == nil {
		return nil
	}
	if n += r.before.calls; n < 0 || n >= len(r.calls) {
		return nil
	}
	return r.calls[n]
}

// CallDelta passes a chunk of a call's arguments to the policies. complete reports that the arguments
// are a complete JSON value. Chunks after it are ignored; if they are more than white space, the gate
// refuses the call.
func (r *Run) CallDelta(ctx context.Context, n int, piece string) (complete bool, err error) {
	c := r.callOf(n)
	if c == nil || c.job != nil {
		return false, nil
	}
	c.Arguments += piece
	complete = c.arrived.add(piece)
	if !r.chain.wants(func(h *hooks) bool { return h.callDelta != nil }) {
		return complete, r.failure()
	}
	return complete, r.guard(ctx, looking, func(ctx context.Context) error {
		for i := range r.stages {
			if err := r.callDelta(ctx, r.guarded, c, i, piece); err != nil {
				return err
			}
		}
		return nil
	})
}

// callDelta passes a chunk to one policy.
func (r *Run) callDelta(ctx context.Context, j *job, c *call, i int, piece string) error {
	st := &r.stages[i]
	if st.callDelta == nil {
		return nil
	}
	looked := c.Call // a copy: the hook changes nothing
	s := stream{output: st.stream.output, job: j, readOnly: true}
	if st.callComplete == nil {
		s.call = &looked
	}
	c.seen[i] = true
	err := j.do(st.hooks, "OnToolCallDelta", func() error { return st.callDelta.OnToolCallDelta(ctx, &st.x, &s, &looked, piece) })
	c.withheld[i] = c.withheld[i] || !s.sent
	c.silent[i] = c.silent[i] || s.silent
	return err
}

// CallComplete starts to pass a complete call through the policies in order. refused is the code if
// the gate has already refused it, else "". The hooks of other calls may run before Decision returns.
func (r *Run) CallComplete(ctx context.Context, n int, id stopgate.CallID, refused stopgate.Code) {
	c := r.callOf(n)
	if c == nil || c.job != nil {
		return
	}
	c.ID, c.Refused = id, refused
	c.job = &job{run: r, call: c}
	r.mu.Lock()
	r.completed++
	c.seq = r.completed
	r.deciding = append(r.deciding, c)
	r.mu.Unlock()
	c.done = c.job.start(func() error {
		defer r.leave(c)
		d, err := r.decide(ctx, c)
		if err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.fail(err)
		}
		c.decision = d
		return nil
	})
}

// leave ends the decision about a call.
func (r *Run) leave(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.deciding {
		if r.deciding[i] == c {
			r.deciding = append(r.deciding[:i:i], r.deciding[i+1:]...)
			break
		}
	}
	r.changed.Broadcast()
}

// decide passes a call through the policies.
func (r *Run) decide(ctx context.Context, c *call) (Decision, error) {
	was, name := c.Arguments, c.Name
	d := Decision{Sent: true}
	for i := range r.stages {
		if err := c.job.take(); err != nil {
			return Decision{}, err
		}
		sent, err := r.decideAt(ctx, c, i, &d)
		r.mu.Lock()
		c.stage, c.phase = i+1, queued
		c.job.release()
		r.mu.Unlock()
		if err == nil && c.Name != name {
			err = &HookError{Policy: r.stages[i].name, Hook: "OnToolCallComplete", Err: errRenamed}
		}
		if err != nil {
			return Decision{}, err
		}
		if !sent {
			d.Sent, d.Policy = false, r.stages[i].name
			break
		}
	}
	d.Arguments, d.Changed = c.Arguments, c.Arguments != was
	return d, nil
}

// decideAt passes a call to one policy and reports whether the policy forwards it.
func (r *Run) decideAt(ctx context.Context, c *call, i int, d *Decision) (sent bool, err error) {
	st := &r.stages[i]
	ended := st.stream.finished.Load()
	d.Ended = d.Ended || ended
	s := stream{output: st.stream.output, job: c.job, call: &c.Call}
	switch {
	case st.callComplete != nil:
		err = c.job.do(st.hooks, "OnToolCallComplete", func() error { return st.callComplete.OnToolCallComplete(ctx, &st.x, &s, &c.Call) })
	case st.callDelta != nil:
		if !c.seen[i] { // a call without arguments
			err = r.callDelta(ctx, c.job, c, i, "")
		}
		s.sent, s.silent = !c.withheld[i] && !ended, c.silent[i]
	default:
		s.sent = !ended
	}
	if s.sent || err != nil {
		return s.sent, err
	}
	d.Text = s.takeOutput()
	d.Silent = s.silent || d.Text == "" && st.stream.finished.Load()
	if ended {
		st.stream.dropped.Add(1)
	}
	return false, nil
}

// Decision waits until the policies have decided about a call.
func (r *Run) Decision(ctx context.Context, n int) (Decision, error) {
	c := r.callOf(n)
	if c == nil || c.job == nil {
		return Decision{Sent: true}, nil
	}
	if !c.decided {
		c.decided = true
		select {
		case c.err = <-c.done:
		case <-r.failed:
			c.err = r.failure()
		case <-ctx.Done():
			r.mu.Lock()
			c.err = c.job.late(context.Cause(ctx))
			r.mu.Unlock()
		}
		if c.err != nil {
			r.mu.Lock()
			c.err = r.fail(c.err)
			r.mu.Unlock()
		}
	}
	if c.err != nil {
		return Decision{}, c.err
	}
	d := c.decision
	for i := range r.stages {
		// The hook of an earlier call ended the output while it awaited something.
		if by := r.stages[i].stream.by.Load(); by != nil && by.seq < c.seq {
			d.Ended = true
			if d.Sent || d.Text != "" {
				r.stages[i].stream.dropped.Add(1)
			}
			d.Sent, d.Text, d.Silent, d.Policy = false, "", true, r.stages[i].name
			break
		}
	}
	return d, nil
}

// completeness finds the end of a JSON object or array in text that is still arriving. It does not
// check the text, which the gate does.
type completeness struct {
	depth             int
	quoted, escaped   bool
	begun, isComplete bool
}

// add reads a chunk and reports whether the value is complete.
func (c *completeness) add(piece string) bool {
	for i := 0; i < len(piece) && !c.isComplete; i++ {
		switch b := piece[i]; {
		case c.escaped:
			c.escaped = false
		case c.quoted:
			c.escaped, c.quoted = b == '\\', b != '"'
		case b == '"':
			c.quoted = true
		case b == '{', b == '[':
			c.depth++
			c.begun = true
		case b == '}', b == ']':
			c.depth--
			c.isComplete = c.begun && c.depth <= 0
		}
	}
	return c.isComplete
}
