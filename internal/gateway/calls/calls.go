package calls

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/chain"
	"github.com/stopgate/stopgate/internal/gateway/texts"
	"github.com/stopgate/stopgate/internal/gateway/upstream"
	"github.com/stopgate/stopgate/internal/provider"
)

// Setup is the exchange of the calls.
type Setup struct {
	Gate      *gate.Gate
	Turn      *gate.Turn
	Request   *provider.Request
	Policies  *chain.Run    // event policies, or nil
	Texts     *texts.Report // texts of the conversation, or nil
	Agent     stopgate.AgentName
	Groups    stopgate.Groups // of the client
	Dialect   string
	Ctx       context.Context // canceled with the exchange
	Approvals context.Context // Ctx with the time limit for approvals
	Records   context.Context // Ctx without cancellation, for audit rows

	Enforced    bool
	Watched     bool  // some policy looks at calls
	DenyIsError bool  // a denial ends the response with an error
	BlockTurn   bool  // a denial cancels the other calls
	MaxHeld     int64 // limit of Buffered

	// Await waits concurrently for the approval of a call.
	Await func(*gate.Pending)
	// MayCancel reports whether the provider may be cancelled because no call can run.
	MayCancel func() bool
	// PolicyFailed logs the failure of an event policy and returns its code.
	PolicyFailed func(error) stopgate.Code
}

// Calls tracks the tool calls of one response. It implements provider.Sink. Its user serialises the
// calls of its methods.
type Calls struct {
	Setup
	List     []Call // by stopgate.Event.Call
	Denied   int    // number of calls denied by a rule or the gate, without skips
	Buffered int64  // argument bytes of calls without a terminal verdict
	Wasted   int64  // argument bytes received after the denial of their call
	Received int64  // argument bytes of all calls
	Err      error  // the gate could not open a call

	// Batch holds argument bytes that are not fed yet. Models send arguments a few bytes at a time:
	// the bytes of one call in one read are fed at once. Verdicts and their offsets do not depend on
	// it (I2).
	Batch   []byte
	batched int // call of Batch

	ended  []int         // choices whose turn has ended and whose calls are not released yet
	open   int           // number of calls without a terminal verdict
	unseen []piece       // arguments that the event policies have not received yet
	broken stopgate.Code // code of an event policy that failed
}

// Reset prepares for the next response, in the given turn.
func (c *Calls) Reset(turn *gate.Turn) {
	*c = Calls{Setup: c.Setup, Batch: c.Batch[:0]}
	c.Turn = turn
}

// maxBatch limits the bytes of a batch.
const maxBatch = upstream.ReadBuffer

// Call is one tool call of the response.
type Call struct {
	Tool     stopgate.ToolName
	ID       stopgate.CallID
	Outcome  stopgate.Outcome
	Resolved bool // Outcome is set and the audit row is written
	Silent   bool // nothing is shown in place of the call if it is not run
	Withheld bool // allowed, but a policy stopped the response before the release

	pending   *gate.Pending
	declared  bool // by the request
	choice    int
	buffered  int64
	wasted    int64         // argument bytes received after the denial
	asked     bool          // approval was requested, or no approver is available
	terminal  bool          // the verdict is final
	passed    bool          // see ShowOne
	shown     bool          // the event policies have received the complete call
	decided   bool          // they have decided about it
	refused   stopgate.Code // as they know it
	dropText  string        // replacement text of a policy that dropped the call
	rewritten bool          // a policy replaced its arguments
	// delivered is true once the call was sent to the client.
	delivered bool
}

var _ provider.Sink = (*Calls)(nil)

// Event handles an event of the codec.
func (c *Calls) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallArguments {
		c.arguments(e.Call, e.Args)
		return
	}
	c.Feed()
	switch e.Kind {
	case stopgate.TurnEnded:
		c.ended = append(c.ended, e.Choice)
		return
	case stopgate.CallStarted:
		c.start(e)
		return
	}
	if e.Call < 0 || e.Call >= len(c.List) || c.List[e.Call].pending == nil {
		return
	}
	tc := &c.List[e.Call]
	switch e.Kind {
	case stopgate.CallEnded:
		c.identify(tc, e.ID)
		c.note(tc, tc.pending.Close(e.End))
		if !c.Watched {
			tc.pending.Consult(c.Ctx) // concurrently with the other calls of the response (S29)
		}
	case stopgate.CallRefused:
		c.identify(tc, e.ID)
		c.note(tc, tc.pending.Refuse(e.Code))
		tc.pending.Close(stopgate.Failed)
	}
}

// arguments handles a chunk of a call's arguments.
func (c *Calls) arguments(n int, piece []byte) {
	if n < 0 || n >= len(c.List) || c.List[n].pending == nil {
		return
	}
	if n != c.batched || len(c.Batch)+len(piece) > maxBatch {
		c.Feed()
	}
	if c.Watched {
		c.keep(n, piece)
	}
	tc, size := &c.List[n], int64(len(piece))
	c.Received += size
	switch {
	case tc.terminal:
		c.waste(tc, size)
	case c.Buffered+size > c.MaxHeld:
		c.Feed()
		c.note(tc, tc.pending.Refuse(stopgate.CodeLimitExceeded))
	default:
		c.Buffered += size
		tc.buffered += size
		c.batched = n
		if len(piece) >= maxBatch { // fed directly, without the batch
			c.give(piece)
			return
		}
		if c.Batch = append(c.Batch, piece...); len(c.Batch) >= maxBatch {
			c.Feed()
		}
	}
}

// Feed passes the batch to the gate.
func (c *Calls) Feed() {
	if len(c.Batch) == 0 {
		return
	}
	batch := c.Batch
	c.Batch = c.Batch[:0]
	c.give(batch)
}

// give passes arguments of the batched call to the gate.
func (c *Calls) give(args []byte) {
	tc := &c.List[c.batched]
	v := tc.pending.Feed(args)
	if !tc.terminal && v.Terminal() {
		c.waste(tc, max(0, tc.buffered-v.DecidedAt))
	}
	c.note(tc, v)
}

// waste counts argument bytes received after the denial of their call.
func (c *Calls) waste(tc *Call, size int64) {
	tc.wasted += size
	c.Wasted += size
}

// Overdue reports whether a denied call continued for limit bytes after its denial.
func (c *Calls) Overdue(limit int64) bool {
	for i := range c.List {
		if tc := &c.List[i]; tc.terminal && tc.wasted >= limit {
			return true
		}
	}
	return false
}

// start opens a call. Codecs number calls from 0 in upstream order.
func (c *Calls) start(e *stopgate.Event) {
	for len(c.List) <= e.Call {
		c.List = append(c.List, Call{terminal: true})
	}
	late := c.AllDenied() && c.Enforced && c.MayCancel()
	definition := c.Request.Tool(e.Tool)
	p, err := c.Open(e.Tool, e.ID, definition)
	if err != nil {
		c.Err = err
		return
	}
	c.List[e.Call] = Call{pending: p, Tool: e.Tool, ID: e.ID, declared: definition != nil, choice: e.Choice}
	tc := &c.List[e.Call]
	c.Policies.Call(e.Call, e.Choice, e.ID, e.Tool)
	c.open++
	c.note(tc, p.Verdict())
	if c.Request.IsUnknown(e.Tool) {
		c.note(tc, p.Refuse(stopgate.CodePolicyNotConfigured))
	}
	if late { // calls after the one at which the response is cancelled are ignored
		c.note(tc, p.Refuse(stopgate.CodeCancelled))
	}
	c.block()
}

// Open opens a call in the gate, after the texts that precede it in the conversation.
func (c *Calls) Open(tool stopgate.ToolName, id stopgate.CallID, definition *stopgate.ToolDefinition) (*gate.Pending, error) {
	return c.Turn.Open(c.Records, stopgate.Call{
		Tool: tool, ID: id, Agent: c.Agent, Groups: c.Groups, Conversation: c.Texts.Flush(c.Records),
		Surface: stopgate.SurfaceGateway, Dialect: c.Dialect, Definition: definition,
	})
}

// identify sets the id of a call that arrived after its start.
func (c *Calls) identify(tc *Call, id stopgate.CallID) {
	if id != "" && id != tc.ID {
		tc.ID = id
		tc.pending.Identify(id)
	}
}

// note acts on a new verdict. It requests approval at the byte where the verdict asks (D26-07). If
// no approver is available, the call is denied there, and the model need not generate the rest.
func (c *Calls) note(tc *Call, v stopgate.Verdict) {
	if v.Decided && !v.Mode.Terminal() && !v.Mode.Permissive() && !tc.asked {
		tc.asked = true
		if err := tc.pending.Ask(c.Approvals); err == nil {
			v = tc.pending.Verdict()
			if !v.Terminal() {
				c.Await(tc.pending)
			}
		}
	}
	if !tc.terminal && v.Terminal() {
		c.close(tc, v.Mode == stopgate.Deny)
	}
}

// close makes the verdict of a call final.
func (c *Calls) close(tc *Call, denied bool) {
	tc.terminal = true
	c.open--
	c.Buffered -= tc.buffered
	tc.buffered = 0
	if denied {
		c.Denied++
		c.block()
	}
}

// block cancels every call that is not released once one is denied, if the settings end the turn
// then (X10, S42).
func (c *Calls) block() {
	if !c.BlockTurn || !c.Enforced || c.Denied == 0 {
		return
	}
	for i := range c.List {
		if tc := &c.List[i]; !tc.terminal && !tc.Resolved {
			c.note(tc, tc.pending.Refuse(stopgate.CodeCancelled))
		}
	}
}

// Refresh reads the verdicts of calls that await approval, which change on their own.
func (c *Calls) Refresh() {
	for i := range c.List {
		if tc := &c.List[i]; tc.asked && !tc.terminal {
			c.note(tc, tc.pending.Verdict())
		}
	}
}

// AllDenied reports whether there are calls and none of them can run any longer.
func (c *Calls) AllDenied() bool { return c.open == 0 && len(c.List) > 0 }

// Due lists the calls of the choices that have ended, in upstream order.
func (c *Calls) Due() []int {
	var due []int
	for i := range c.List {
		if c.List[i].Resolved {
			continue
		}
		for _, choice := range c.ended {
			if c.List[i].choice == choice {
				due = append(due, i)
				break
			}
		}
	}
	c.ended = c.ended[:0]
	return due
}

// DropEnded forgets the choices that have ended: all calls of the response are resolved at once.
func (c *Calls) DropEnded() { c.ended = c.ended[:0] }

// Unseen reports whether the event policies have not received some arguments yet.
func (c *Calls) Unseen() bool { return len(c.unseen) > 0 }

// Judged reports whether a judge has an opinion on one of the calls.
func (c *Calls) Judged() bool {
	return slices.ContainsFunc(c.List, func(tc Call) bool { return tc.Outcome.Judge != nil })
}

// End cancels the calls that are not resolved, refused with a code if it is not "", so that every
// pending call has a row (I23). lost is called for those that were allowed and did not reach the
// client.
func (c *Calls) End(fault stopgate.Code, lost func(*Call)) {
	for i := range c.List {
		tc := &c.List[i]
		switch {
		case tc.pending == nil:
		case !tc.Resolved:
			if fault != "" {
				tc.pending.Refuse(fault)
			}
			tc.pending.Cancel(c.Records)
		case tc.Outcome.Allowed() && tc.Outcome.Enforced && !tc.delivered:
			lost(tc)
		}
	}
	c.Buffered = 0
}
