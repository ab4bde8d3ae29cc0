package gateway

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
)

// releases converts outcomes to the codec's type.
func (c *calls) releases(due []int) []provider.CallOutcome {
	list := make([]provider.CallOutcome, len(due))
	for i, n := range due {
		list[i] = c.release(n)
	}
	return list
}

// release converts one outcome. Unenforced outcomes do not occur in an enforced response.
func (c *calls) release(i int) provider.CallOutcome {
	tc := &c.list[i]
	v := tc.outcome.Verdict
	if tc.outcome.Allowed() && tc.outcome.Enforced {
		return provider.CallOutcome{Call: i, Allowed: true, Args: tc.outcome.Args}
	}
	if tc.dropText != "" && v.Code == stopgate.CodePolicyDropped {
		return provider.CallOutcome{Call: i, Text: tc.dropText, Result: provider.DenialEnvelope(v.Code, v.Public)}
	}
	declared := tc.declared || v.Rule != nil // by the policy (S21)
	return provider.CallOutcome{Call: i, Text: provider.DenialText(tc.tool, declared, v.Public, v.Code), Result: provider.DenialEnvelope(v.Code, v.Public)}
}

// released lists the calls that can run, for the response log.
func (c *calls) released() (list []responselog.Call) {
	for i := range c.list {
		if tc := &c.list[i]; tc.resolved && tc.outcome.Allowed() {
			list = append(list, responselog.Call{ID: tc.id, Tool: tc.tool, Proposal: tc.outcome.Proposal})
		}
	}
	return list
}

// delivered marks released calls as sent to the client.
func (c *calls) delivered(outcomes []provider.CallOutcome) {
	for _, o := range outcomes {
		c.list[o.Call].delivered = true
	}
}
