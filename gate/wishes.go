package gate

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// subject is the call as session policies see it once its arguments are complete.
// What may outlive the call - a store that does not answer, code from elsewhere -
// gets arguments of its own.
func (p *pending) subject(c *session.Call) (ok bool) {
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

// needs asks the policies what they look at and what the call will mean to them.
func (p *pending) needs(ctx context.Context, c *session.Call) (keys []session.Key, marks []session.Mark, ok bool) {
	keys, marks, r := p.wishesOf(ctx, c)
	if r.fault != none {
		p.g.tell("session policies", p.id, r.fault, r.err)
		p.fail(policyFault(r.fault, r.err), "sessions", r.fault, r.stack)
	}
	return keys, marks, r.fault == none
}

// wish is what session policies need to decide and to learn.
type wish struct {
	keys  []session.Key
	marks []session.Mark
}

// wish asks the gate's own policies; one that panics denies.
func (p *pending) wish(c *session.Call) (r reply[wish]) {
	defer func() {
		if recover() != nil {
			r = reply[wish]{fault: panicked, stack: stackHash()}
		}
	}()
	return reply[wish]{value: wish{p.set.Needs(*c), p.set.Marks(*c)}}
}

// foreignWish asks code from elsewhere too.
func (p *pending) foreignWish(ctx context.Context, c *session.Call) reply[wish] {
	call, set := *c, p.set
	return invoke(ctx, &p.g.ports.policies, p.g.limits.Policy, func(context.Context) (wish, error) {
		return wish{set.Needs(call), set.Marks(call)}, nil
	})
}

// wishesOf asks once.
func (p *pending) wishesOf(ctx context.Context, c *session.Call) ([]session.Key, []session.Mark, reply[wish]) {
	if p.wishes {
		return p.wished.keys, p.wished.marks, reply[wish]{}
	}
	var r reply[wish]
	if p.set.Foreign(p.tool) {
		r = p.foreignWish(ctx, c)
	} else {
		r = p.wish(c)
	}
	if r.fault == none {
		p.wished, p.wishes = r.value, true
	}
	return r.value.keys, r.value.marks, r
}
