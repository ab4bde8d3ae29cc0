package calls

import (
	"context"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// ResolveAll resolves calls in upstream order. If a denial ends the whole response, it first
// resolves the calls that may be denied: once one is, the others are cancelled instead of allowed
// (S42).
func (c *Calls) ResolveAll(ctx context.Context, due []int) {
	c.AskPolicies(ctx, due)
	if (c.DenyIsError || c.BlockTurn) && c.Enforced {
		var doubtful []int
		for _, i := range due {
			if p := c.List[i].pending; p == nil || !p.Verdict().Mode.Permissive() {
				doubtful = append(doubtful, i)
			}
		}
		c.resolve(ctx, doubtful...)
		if c.Denied > 0 && c.DenyIsError {
			return
		}
	}
	if c.BlockTurn { // the outcome of one call may cancel the others
		for _, i := range due {
			c.resolve(ctx, i)
		}
		return
	}
	c.resolve(ctx, due...)
}

// resolve resolves calls. Their approvals run concurrently, their rows are written in this order.
// Afterwards the row of each call is durable, or the call is denied.
func (c *Calls) resolve(ctx context.Context, list ...int) {
	var open []int
	var pending []*gate.Pending
	for _, i := range list {
		tc := &c.List[i]
		if tc.Resolved {
			continue
		}
		tc.Resolved = true
		if tc.pending == nil {
			tc.Outcome = failed
			continue
		}
		tc.pending.Close(stopgate.Cancelled) // a call that was cancelled before its end
		open, pending = append(open, i), append(pending, tc.pending)
	}
	for n, out := range c.Gate.ResolveAll(ctx, pending) {
		c.outcome(&c.List[open[n]], out)
	}
}

// failed is the outcome of a call without a decision of the gate.
var failed = stopgate.Outcome{Verdict: stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodePolicyError}}

// outcome stores the outcome of a call.
func (c *Calls) outcome(tc *Call, out stopgate.Outcome) {
	if !out.Allowed() && out.Verdict.Code == "" {
		out = failed
	}
	tc.Outcome = out
	if out.Allowed() {
		c.Texts.Wrote(out.Args)
	}
	if !tc.terminal {
		c.close(tc, out.Status == stopgate.Denied)
	}
}

// Unresolved lists the calls without an outcome.
func (c *Calls) Unresolved() []int {
	var list []int
	for i := range c.List {
		if !c.List[i].Resolved {
			list = append(list, i)
		}
	}
	return list
}

// GiveUp resolves all calls as cancelled because one of them was denied, and returns the code and
// message of that one.
func (c *Calls) GiveUp(ctx context.Context) (stopgate.Code, string) {
	code, message := stopgate.CodePolicyError, ""
	for i := len(c.List) - 1; i >= 0; i-- {
		tc := &c.List[i]
		if tc.pending == nil {
			continue
		}
		if !tc.Resolved && !tc.terminal {
			tc.Resolved = true
			tc.pending.Cancel(ctx)
			tc.Outcome = stopgate.Outcome{Verdict: stopgate.Verdict{Decided: true, Layer: stopgate.LayerFailure, Code: stopgate.CodeCancelled}}
			continue
		}
		c.resolve(ctx, i)
		if tc.Outcome.Status == stopgate.Denied && tc.Outcome.Verdict.Code != stopgate.CodeCancelled {
			code, message = tc.Outcome.Verdict.Code, c.release(i).Text
		}
	}
	return code, message
}

// Codes appends the codes of denied calls to list, each once.
func (c *Calls) Codes(list []string) []string {
	for i := range c.List {
		tc := &c.List[i]
		code := tc.Outcome.Verdict.Code
		switch {
		case tc.Resolved && tc.Outcome.Allowed():
			continue
		case tc.Resolved && code != "", tc.pending == nil:
		default:
			code = tc.pending.Verdict().Code
		}
		if code != "" && !slices.Contains(list, string(code)) {
			list = append(list, string(code))
		}
	}
	return list
}
