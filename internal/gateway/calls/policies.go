package calls

import (
	"context"

	"github.com/stopgate/stopgate"
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

// Show passes the buffered arguments to the policies. If a policy fails, the call is denied, and
// with it every call that is not released.
func (c *Calls) Show() {
	for _, p := range c.unseen {
		if err := c.Policies.CallDelta(c.Ctx, p.call, string(p.text)); err != nil && c.broken == "" {
			c.broken = c.PolicyFailed(err)
		}
	}
	c.unseen = c.unseen[:0]
}

// askPolicies passes complete calls through the policies in upstream order, and starts the judges
// for those that are forwarded (X17). In observe mode the policies cannot change calls.
func (c *Calls) askPolicies(ctx context.Context, due []int) {
	if !c.Watched {
		return
	}
	c.Show()
	for _, i := range due {
		tc := &c.List[i]
		if tc.Resolved || tc.pending == nil || tc.shown {
			continue
		}
		tc.shown = true
		var refused stopgate.Code
		if v := tc.pending.Verdict(); v.Terminal() {
			refused = v.Code
		}
		d, err := c.Policies.CallComplete(ctx, i, tc.ID, refused)
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
			c.replace(tc, d.Arguments)
		}
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
