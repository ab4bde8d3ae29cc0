package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// sessionCall sets c to the call with its complete arguments, as session policies see it. A
// store or a policy that may still use it after the call has ended gets a copy of the
// arguments.
func (p *pending) sessionCall(c *session.Call) (ok bool) {
	*c = session.Call{
		Proposal: p.id, Tool: p.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID, ArgsHash: p.hash, To: p.to,
		Paths: p.isPath,
	}
	document := p.eval.Document()
	if p.g.local && !p.set.Foreign(p.tool) && bytes.Equal(document.Text(), p.final) {
		c.Args = document.Root()
		return true
	}
	args, err := jsonstream.Parse(bytes.Clone(p.final), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	c.Args = args
	return err == nil
}

// needsOrFail returns the keys and marks of the session policies for the call. It denies the
// call if a policy fails.
func (p *pending) needsOrFail(ctx context.Context, c *session.Call) (keys []session.Key, marks []session.Mark, ok bool) {
	keys, marks, r := p.cachedNeeds(ctx, c)
	if r.fault != none {
		p.g.reportTrouble("session policies", p.id, r.fault, r.err)
		p.fail(policyFault(r.fault, r.err), "sessions", r.fault, r.stack)
	}
	return keys, marks, r.fault == none
}

// wish are the keys and marks of the session policies for one call.
type policyNeeds struct {
	keys  []session.Key
	marks []session.Mark
}

// boundedNeeds asks the bounded policies; a panic is a fault.
func (p *pending) boundedNeeds(c *session.Call) (r reply[policyNeeds]) {
	defer func() {
		if recover() != nil {
			r = reply[policyNeeds]{fault: panicked, stack: stackHash()}
		}
	}()
	return reply[policyNeeds]{value: policyNeeds{p.set.Needs(*c), p.set.Marks(*c)}}
}

// foreignNeeds asks all policies under a deadline.
func (p *pending) foreignNeeds(ctx context.Context, c *session.Call) reply[policyNeeds] {
	call, set := *c, p.set
	return invoke(ctx, &p.g.ports.policies, p.g.limits.Policy, func(context.Context) (policyNeeds, error) {
		return policyNeeds{set.Needs(call), set.Marks(call)}, nil
	})
}

// cachedNeeds returns the needs of the policies, which are asked once for a call.
func (p *pending) cachedNeeds(ctx context.Context, c *session.Call) ([]session.Key, []session.Mark, reply[policyNeeds]) {
	if p.needsKnown {
		return p.needed.keys, p.needed.marks, reply[policyNeeds]{}
	}
	var r reply[policyNeeds]
	if p.set.Foreign(p.tool) {
		r = p.foreignNeeds(ctx, c)
	} else {
		r = p.boundedNeeds(c)
	}
	if r.fault == none {
		p.needed, p.needsKnown = r.value, true
	}
	return r.value.keys, r.value.marks, r
}
