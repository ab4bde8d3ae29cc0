package gateway

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/provider"
)

// calls tracks the tool calls of one response. It implements provider.Sink: it opens a gate.Pending for
// each call, feeds it argument bytes, and counts the bytes that are buffered.
type calls struct {
	x        *exchange
	list     []call // indexed by stopgate.Event.Call
	ended    []int  // choices whose turn has ended and whose calls are not released yet
	open     int    // number of calls without a terminal verdict
	denied   int    // number of calls denied by a rule or the gate, without skips
	buffered int64  // argument bytes of calls without a terminal verdict
	wasted   int64  // argument bytes received after the denial of their call
	received int64  // argument bytes of all calls
	err      error  // the gate could not open a call

	// For event policies.
	watched bool          // some policy looks at calls
	unseen  []piece       // arguments that the policies have not received yet
	broken  stopgate.Code // code of a policy that failed

	// Models send arguments a few bytes at a time. The bytes of one call in one read are batched
	// and fed at once; verdicts and their offsets do not depend on it (I2).
	batch   []byte
	batched int // call of batch
}

// maxBatch limits the bytes of a batch.
const maxBatch = readBuffer

// call is one tool call of the response.
type call struct {
	pending  *gate.Pending
	tool     stopgate.ToolName
	id       stopgate.CallID
	declared bool // by the request
	choice   int
	buffered int64
	wasted   int64  // argument bytes received after the denial
	asked    bool   // approval was requested, or no approver is available
	terminal bool   // the verdict is final
	resolved bool   // outcome is set and the audit row is written
	shown    bool   // the event policies have received the call
	dropText string // replacement text of a policy that dropped the call
	outcome  stopgate.Outcome
	// delivered is true once the call was sent to the client.
	delivered bool
}

var _ provider.Sink = (*calls)(nil)

// Event handles an event of the codec.
func (c *calls) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallArguments {
		c.arguments(e.Call, e.Args)
		return
	}
	c.feed()
	switch e.Kind {
	case stopgate.TurnEnded:
		c.ended = append(c.ended, e.Choice)
		return
	case stopgate.CallStarted:
		c.start(e)
		return
	}
	if e.Call < 0 || e.Call >= len(c.list) || c.list[e.Call].pending == nil {
		return
	}
	tc := &c.list[e.Call]
	switch e.Kind {
	case stopgate.CallEnded:
		c.identify(tc, e.ID)
		c.note(tc, tc.pending.Close(e.End))
		if !c.watched {
			tc.pending.Consult(c.x.ctx) // concurrently with the other calls of the response (S29)
		}
	case stopgate.CallRefused:
		c.identify(tc, e.ID)
		c.note(tc, tc.pending.Refuse(e.Code))
		tc.pending.Close(stopgate.Failed)
	}
}

// arguments handles a chunk of a call's arguments.
func (c *calls) arguments(n int, piece []byte) {
	if n < 0 || n >= len(c.list) || c.list[n].pending == nil {
		return
	}
	if n != c.batched || len(c.batch)+len(piece) > maxBatch {
		c.feed()
	}
	if c.watched {
		c.keep(n, piece)
	}
	tc, size := &c.list[n], int64(len(piece))
	c.received += size
	switch {
	case tc.terminal:
		c.waste(tc, size)
	case c.buffered+size > c.x.settings.Limits.HeldResponse:
		c.feed()
		c.note(tc, tc.pending.Refuse(stopgate.CodeLimitExceeded))
	default:
		c.buffered += size
		tc.buffered += size
		c.batched = n
		if len(piece) >= maxBatch { // fed directly, without the batch
			c.give(piece)
			return
		}
		if c.batch = append(c.batch, piece...); len(c.batch) >= maxBatch {
			c.feed()
		}
	}
}

// feed passes the batch to the gate.
func (c *calls) feed() {
	if len(c.batch) == 0 {
		return
	}
	batch := c.batch
	c.batch = c.batch[:0]
	c.give(batch)
}

// give passes arguments of the batched call to the gate.
func (c *calls) give(args []byte) {
	tc := &c.list[c.batched]
	v := tc.pending.Feed(args)
	if !tc.terminal && v.Terminal() {
		c.waste(tc, max(0, tc.buffered-v.DecidedAt))
	}
	c.note(tc, v)
}

// waste counts argument bytes received after the denial of their call.
func (c *calls) waste(tc *call, size int64) {
	tc.wasted += size
	c.wasted += size
}

// overdue reports whether a denied call continued for limit bytes after its denial.
func (c *calls) overdue(limit int64) bool {
	for i := range c.list {
		if tc := &c.list[i]; tc.terminal && tc.wasted >= limit {
			return true
		}
	}
	return false
}

// start opens a call. Codecs number calls from 0 in upstream order.
func (c *calls) start(e *stopgate.Event) {
	for len(c.list) <= e.Call {
		c.list = append(c.list, call{terminal: true})
	}
	late := c.allDenied() && c.x.enforced && c.x.stream != nil && c.x.mayCancel()
	definition := c.x.req.Tool(e.Tool)
	p, err := c.openPending(e.Tool, e.ID, definition)
	if err != nil {
		c.err = err
		return
	}
	c.list[e.Call] = call{pending: p, tool: e.Tool, id: e.ID, declared: definition != nil, choice: e.Choice}
	tc := &c.list[e.Call]
	c.x.policies.Call(e.Call, e.Choice, e.ID, e.Tool)
	c.open++
	c.note(tc, p.Verdict())
	if c.x.req.IsUnknown(e.Tool) {
		c.note(tc, p.Refuse(stopgate.CodePolicyNotConfigured))
	}
	if late { // calls after the one at which the response is cancelled are ignored
		c.note(tc, p.Refuse(stopgate.CodeCancelled))
	}
	c.block()
}

// openPending opens a call in the gate.
func (c *calls) openPending(tool stopgate.ToolName, id stopgate.CallID, definition *stopgate.ToolDefinition) (*gate.Pending, error) {
	return c.x.turn.Open(c.x.records, stopgate.Call{
		Tool: tool, ID: id, Agent: c.x.agent,
		Surface: stopgate.SurfaceGateway, Dialect: c.x.dialect.Name(), Definition: definition,
	})
}

// identify sets the id of a call that arrived after its start.
func (c *calls) identify(tc *call, id stopgate.CallID) {
	if id != "" && id != tc.id {
		tc.id = id
		tc.pending.Identify(id)
	}
}

// note acts on a new verdict. It requests approval at the byte where the verdict asks (D26-07). If
// no approver is available, the call is denied there, and the model need not generate the rest.
func (c *calls) note(tc *call, v stopgate.Verdict) {
	if v.Decided && !v.Mode.Terminal() && !v.Mode.Permissive() && !tc.asked {
		tc.asked = true
		if err := tc.pending.Ask(c.x.approvals); err == nil {
			v = tc.pending.Verdict()
			if !v.Terminal() {
				c.x.await(tc.pending)
			}
		}
	}
	if tc.terminal || !v.Terminal() {
		return
	}
	tc.terminal = true
	c.open--
	c.buffered -= tc.buffered
	tc.buffered = 0
	if v.Mode == stopgate.Deny {
		c.denied++
		c.block()
	}
}

// block cancels every call that is not released once one is denied, if the settings end the turn
// then (X10, S42).
func (c *calls) block() {
	if c.x.settings.OnBlock != BlockTurn || !c.x.enforced || c.denied == 0 {
		return
	}
	for i := range c.list {
		if tc := &c.list[i]; !tc.terminal && !tc.resolved {
			c.note(tc, tc.pending.Refuse(stopgate.CodeCancelled))
		}
	}
}

// refresh reads the verdicts of calls that await approval, which change on their own.
func (c *calls) refresh() {
	for i := range c.list {
		if tc := &c.list[i]; tc.asked && !tc.terminal {
			c.note(tc, tc.pending.Verdict())
		}
	}
}

// allDenied reports whether there are calls and none of them can run any longer.
func (c *calls) allDenied() bool { return c.open == 0 && len(c.list) > 0 }

// due lists the calls of the choices that have ended, in upstream order.
func (c *calls) due() []int {
	var due []int
	for i := range c.list {
		if c.list[i].resolved {
			continue
		}
		for _, choice := range c.ended {
			if c.list[i].choice == choice {
				due = append(due, i)
				break
			}
		}
	}
	c.ended = c.ended[:0]
	return due
}

// resolveAll resolves calls in upstream order. If a denial ends the whole response, it first
// resolves the calls that may be denied: once one is, the others are cancelled instead of allowed
// (S42).
func (c *calls) resolveAll(ctx context.Context, due []int) {
	c.askPolicies(ctx, due)
	if (c.x.settings.OnDeny == DenyError || c.x.settings.OnBlock == BlockTurn) && c.x.enforced {
		var doubtful []int
		for _, i := range due {
			if p := c.list[i].pending; p == nil || !p.Verdict().Mode.Permissive() {
				doubtful = append(doubtful, i)
			}
		}
		c.resolve(ctx, doubtful...)
		if c.denied > 0 && c.x.settings.OnDeny == DenyError {
			return
		}
	}
	if c.x.settings.OnBlock == BlockTurn { // the outcome of one call may cancel the others
		for _, i := range due {
			c.resolve(ctx, i)
		}
		return
	}
	c.resolve(ctx, due...)
}

// resolve resolves calls. Their approvals run concurrently, their rows are written in this order.
// Afterwards the row of each call is durable, or the call is denied.
func (c *calls) resolve(ctx context.Context, list ...int) {
	var open []int
	var pending []*gate.Pending
	for _, i := range list {
		tc := &c.list[i]
		if tc.resolved {
			continue
		}
		tc.resolved = true
		if tc.pending == nil {
			tc.outcome = failed
			continue
		}
		tc.pending.Close(stopgate.Cancelled) // a call that was cancelled before its end
		open, pending = append(open, i), append(pending, tc.pending)
	}
	for n, out := range c.x.g.gate.ResolveAll(ctx, pending) {
		c.outcome(&c.list[open[n]], out)
	}
}

// failed is the outcome of a call without a decision of the gate.
var failed = stopgate.Outcome{Verdict: stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}}

// outcome stores the outcome of a call.
func (c *calls) outcome(tc *call, out stopgate.Outcome) {
	if !out.Allowed() && out.Verdict.Code == "" {
		out = failed
	}
	tc.outcome = out
	if !tc.terminal {
		tc.terminal = true
		c.open--
		c.buffered -= tc.buffered
		tc.buffered = 0
		if out.Status == stopgate.Denied {
			c.denied++
			c.block()
		}
	}
}

// unresolved lists the calls without an outcome.
func (c *calls) unresolved() []int {
	var list []int
	for i := range c.list {
		if !c.list[i].resolved {
			list = append(list, i)
		}
	}
	return list
}

// giveUp resolves all calls as cancelled because one of them was denied, and returns the code and
// message of that one.
func (c *calls) giveUp(ctx context.Context) (stopgate.Code, string) {
	code, message := stopgate.CodePolicyError, ""
	for i := len(c.list) - 1; i >= 0; i-- {
		tc := &c.list[i]
		if tc.pending == nil {
			continue
		}
		if !tc.resolved && !tc.terminal {
			tc.resolved = true
			tc.pending.Cancel(ctx)
			tc.outcome = stopgate.Outcome{Verdict: stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodeCancelled}}
			continue
		}
		c.resolve(ctx, i)
		if tc.outcome.Status == stopgate.Denied && tc.outcome.Verdict.Code != stopgate.CodeCancelled {
			code, message = tc.outcome.Verdict.Code, c.release(i).Text
		}
	}
	return code, message
}
