package gateway

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/wire"
)

// releases puts outcomes into the codec's terms.
func (c *calls) releases(due []int) []wire.Release {
	list := make([]wire.Release, len(due))
	for i, n := range due {
		list[i] = c.release(n)
	}
	return list
}

// release is one outcome in the codec's terms. One that is not enforced has no
// place in a response that is.
func (c *calls) release(i int) wire.Release {
	held := &c.list[i]
	v := held.outcome.Verdict
	if held.outcome.Allowed() && held.outcome.Enforced {
		return wire.Release{Call: i, Allowed: true, Args: held.outcome.Args}
	}
	if held.said != "" && v.Code == stopgate.CodePolicyDropped {
		return wire.Release{Call: i, Text: held.said, Answer: wire.Envelope(v.Code, v.Public)}
	}
	declared := held.declared || v.Rule != nil // by the policy (DECISIONS S21)
	return wire.Release{Call: i, Text: wire.DenialText(held.tool, declared, v.Public, v.Code), Answer: wire.Envelope(v.Code, v.Public)}
}

// released lists the calls that may run, for who remembers them.
func (c *calls) released() (list []ledger.Call) {
	for i := range c.list {
		if held := &c.list[i]; held.resolved && held.outcome.Allowed() {
			list = append(list, ledger.Call{ID: held.id, Tool: held.tool, Proposal: held.outcome.Proposal})
		}
	}
	return list
}

// delivered notes that the client has what was released.
func (c *calls) delivered(outcomes []wire.Release) {
	for _, o := range outcomes {
		c.list[o.Call].delivered = true
	}
}
