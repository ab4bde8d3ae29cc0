package calls

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/events"
)

// piece is a chunk of a call's arguments that the policies have not received.
type piece struct {
	call int
	text []byte
}

// keep buffers arguments for the policies. The bytes of one call in one read are passed at once.
func (c *Calls) keep(call int, text []byte) {
	if n := len(c.unseen); n > 0 && c.unseen[n-1].call == call {
		c.unseen[n-1].text = append(c.unseen[n-1].text, text...)
		return
	}
	c.unseen = append(c.unseen, piece{call, append([]byte(nil), text...)})
}

// Show passes the buffered arguments to the policies, and each call as soon as its arguments are
// complete. If a policy fails, the call is denied, and with it every call that is not released.
func (c *Calls) Show() {
	for _, p := range c.unseen {
		c.show(p)
	}
	c.unseen = c.unseen[:0]
}

func (c *Calls) show(p piece) {
	complete, err := c.Policies.CallDelta(c.Ctx, p.call, string(p.text))
	if err != nil && c.broken == "" {
		c.broken = c.PolicyFailed(err)
	}
	if complete {
		c.showComplete(p.call)
	}
}

// ShowOne passes the next call of a choice that has this id, or any next one if id is "", to the
// policies. The response is not streamed: the call is complete.
func (c *Calls) ShowOne(choice int, id stopgate.CallID) {
	for i := range c.List {
		tc := &c.List[i]
		if tc.passed || tc.choice != choice || id != "" && id != tc.ID {
			continue
		}
		tc.passed = true
		c.unseen = slices.DeleteFunc(c.unseen, func(p piece) bool {
			if p.call == i {
				c.show(p)
			}
			return p.call == i
		})
		c.showComplete(i)
		return
	}
}

// showComplete starts to pass a complete call through the policies, once.
func (c *Calls) showComplete(i int) {
	tc := &c.List[i]
	if tc.Resolved || tc.pending == nil || tc.shown || c.Policies.Stopped() {
		return
	}
	tc.shown = true
	if v := tc.pending.Verdict(); v.Terminal() {
		tc.refused = v.Code
	}
	c.Policies.CallComplete(c.Ctx, i, tc.ID, tc.refused)
}

// AskPolicies waits for the policies' decisions about the calls of choices that have ended, applies
// them in upstream order, and starts the judges for calls that are forwarded (X17). In observe mode
// the policies cannot change calls.
func (c *Calls) AskPolicies(ctx context.Context, due []int) {
	if !c.Watched {
		return
	}
	c.Show()
	for _, i := range due {
		c.showComplete(i)
	}
	for _, i := range due {
		tc := &c.List[i]
		if tc.Resolved || tc.pending == nil || !tc.shown || tc.decided {
			continue
		}
		tc.decided = true
		d, err := c.Policies.Decision(ctx, i)
		refused := tc.refused
		if v := tc.pending.Verdict(); v.Terminal() { // perhaps since its hooks began
			refused = v.Code
		}
		tc.Silent = err == nil && (d.Silent && refused == "" || d.Ended && d.Text == "")
		switch {
		case !c.Enforced:
		case err != nil || c.broken != "":
			if c.broken == "" {
				c.broken = c.PolicyFailed(err)
			}
		case refused != "":
		case !d.Sent:
			tc.dropText = d.Text
			tc.pending.Refuse(stopgate.CodePolicyDropped)
		case d.Changed:
			tc.rewritten = true
			c.replace(tc, d.Arguments)
		}
	}
	if c.Policies.Stopped() && c.Enforced {
		c.dropAll(due)
		return
	}
	for _, i := range due {
		tc := &c.List[i]
		switch {
		case tc.pending == nil || tc.Resolved:
		case c.broken != "" && c.Enforced:
			tc.pending.Refuse(c.broken) // including those that earlier policies forwarded
		default:
			tc.pending.Consult(c.Ctx)
		}
	}
}

// dropAll drops calls without a notice, because a policy stopped the response.
func (c *Calls) dropAll(list []int) {
	for _, i := range list {
		if tc := &c.List[i]; !tc.Resolved && tc.pending != nil && tc.dropText == "" {
			tc.Silent = true
			c.note(tc, tc.pending.Refuse(stopgate.CodePolicyDropped))
		}
	}
}

// ChoiceHasCalls reports whether a choice of the response has calls. The end of such a choice is
// reported to the event policies when its calls are judged.
func (c *Calls) ChoiceHasCalls(choice int) bool {
	return slices.ContainsFunc(c.List, func(tc Call) bool { return tc.choice == choice && tc.Tool != "" })
}

// Count adds the resolved calls of a response.
func (c *Calls) Count(n *events.CallCounts) {
	for i := range c.List {
		tc := &c.List[i]
		if !tc.Resolved {
			continue
		}
		n.Judged++
		if !tc.Outcome.Allowed() {
			n.Blocked++
		}
		if a := tc.Outcome.Approval; tc.rewritten || a != nil && a.Edited {
			n.Rewritten++
		}
	}
}

// replace replaces a call by one with the arguments of a policy. It is a new pending call, judged
// from its first byte.
func (c *Calls) replace(tc *Call, args string) {
	definition := c.Request.Tool(tc.Tool)
	next, err := c.Open(tc.Tool, tc.ID, definition)
	tc.pending.Refuse(stopgate.CodeCancelled)
	tc.pending.Close(stopgate.Cancelled)
	tc.pending.Cancel(c.Records)
	if err != nil {
		tc.pending = nil // denied: no pending call was opened
		return
	}
	if tc.terminal {
		tc.terminal = false
		c.open++
	}
	tc.pending, tc.asked = next, false
	next.Feed([]byte(args))
	c.note(tc, next.Close(stopgate.Ended))
	if c.Request.IsUnknown(tc.Tool) {
		c.note(tc, next.Refuse(stopgate.CodePolicyNotConfigured))
	}
}
