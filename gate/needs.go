package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// call sets c to the call with its complete arguments, as session policies see it. A
// store or a policy that may still use it after the call has ended gets a copy of the
// arguments.
func (l *sessionLayer) call(c *session.Call) (ok bool) {
	p := l.p
	*c = session.Call{
		Proposal: p.id, Tool: l.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID, ArgsHash: p.args.hash, To: p.handoff.to,
		Paths: p.bound.isPath,
	}
	if l.set.Len() == 0 { // no policy reads them
		return true
	}
	document := p.verdicts.eval.Document()
	if p.g.sessions.local && !l.set.Foreign(l.tool) && bytes.Equal(document.Text(), p.args.final) {
		c.Args = document.Root()
		return true
	}
	args, err := jsonstream.Parse(bytes.Clone(p.args.final), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	c.Args = args
	return err == nil
}

// needsOrFail returns the needs of the session policies for the call. It denies the call if a
// policy fails.
func (l *sessionLayer) needsOrFail(ctx context.Context, c *session.Call) (needs policyNeeds, ok bool) {
	r := l.needs(ctx, c)
	if r.Fault != port.None {
		l.p.g.reportTrouble("session policies", l.p.id, r.Fault, r.Err)
		l.p.fail(policyFault(r.Fault, r.Err), "sessions", r.Fault, r.Stack)
	}
	return r.Value, r.Fault == port.None
}

// policyNeeds are the keys and marks of the session policies for one call.
type policyNeeds struct {
	keys  []session.Key
	marks []session.Mark
}

// boundedNeeds asks the bounded policies; a panic is a fault.
func (l *sessionLayer) boundedNeeds(c *session.Call) (r port.Reply[policyNeeds]) {
	defer func() {
		if recover() != nil {
			r = port.Reply[policyNeeds]{Fault: port.Panicked, Stack: port.StackHash()}
		}
	}()
	return port.Reply[policyNeeds]{Value: policyNeeds{l.set.Needs(*c), l.set.Marks(*c)}}
}

// foreignNeeds asks all policies under a deadline.
func (l *sessionLayer) foreignNeeds(ctx context.Context, c *session.Call) port.Reply[policyNeeds] {
	call, set := *c, l.set
	return port.Invoke(ctx, &l.p.g.guards.policies, l.p.g.limits.Policy, func(context.Context) (policyNeeds, error) {
		return policyNeeds{set.Needs(call), set.Marks(call)}, nil
	})
}

// needs returns the needs of the policies, which are asked once for a call.
func (l *sessionLayer) needs(ctx context.Context, c *session.Call) (r port.Reply[policyNeeds]) {
	if l.needsKnown {
		return port.Reply[policyNeeds]{Value: l.needed}
	}
	if l.set.Foreign(l.tool) {
		r = l.foreignNeeds(ctx, c)
	} else {
		r = l.boundedNeeds(c)
	}
	if r.Fault == port.None {
		l.needed, l.needsKnown = r.Value, true
	}
	return r
}
