package calls

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
)

// Releases converts outcomes to the codec's type.
func (c *Calls) Releases(due []int) []provider.CallOutcome {
	list := make([]provider.CallOutcome, len(due))
	for i, n := range due {
		list[i] = c.release(n)
	}
	return list
}

// release converts one outcome. Unenforced outcomes do not occur in an enforced response.
func (c *Calls) release(i int) provider.CallOutcome {
	tc := &c.List[i]
	v := tc.Outcome.Verdict
	if tc.Outcome.Allowed() && tc.Outcome.Enforced {
		if c.Policies.Stopped() { // by a hook that ran after the gate
			tc.Withheld = true
		}
		if tc.Withheld {
			code := stopgate.CodePolicyDropped
			return provider.CallOutcome{Call: i, Silent: true, Result: provider.DenialEnvelope(code, code.Public())}
		}
		return provider.CallOutcome{Call: i, Allowed: true, Args: tc.Outcome.Args}
	}
	if tc.Silent {
		return provider.CallOutcome{Call: i, Silent: true, Result: provider.DenialEnvelope(v.Code, v.Public)}
	}
	if tc.dropText != "" && v.Code == stopgate.CodePolicyDropped {
		return provider.CallOutcome{Call: i, Text: tc.dropText, Result: provider.DenialEnvelope(v.Code, v.Public)}
	}
	declared := tc.declared || v.Rule != nil // by the policy (S21)
	return provider.CallOutcome{Call: i, Text: provider.DenialText(tc.Tool, declared, v.Public, v.Code), Result: provider.DenialEnvelope(v.Code, v.Public)}
}

// Released lists the calls that can run, for the response log.
func (c *Calls) Released() (list []responselog.Call) {
	for i := range c.List {
		if tc := &c.List[i]; tc.Resolved && tc.Outcome.Allowed() && !tc.Withheld {
			list = append(list, responselog.Call{ID: tc.ID, Tool: tc.Tool, Proposal: tc.Outcome.Proposal})
		}
	}
	return list
}

// Delivered marks released calls as sent to the client.
func (c *Calls) Delivered(outcomes []provider.CallOutcome) {
	for _, o := range outcomes {
		c.List[o.Call].delivered = o.Allowed
	}
}
