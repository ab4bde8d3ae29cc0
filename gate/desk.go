package gate

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// desk is memory that calls use one after the other.
type desk struct {
	call      pending // of Decide, which hands it to nobody
	hasher    jsonstream.Hasher
	keys      [24]session.Key
	marks     [4]session.Mark
	facts     [1]session.Fact // what is said of every release is written anew
	departure departure
	decide    func(session.State) (Change, error) // of the departure
}

func (g *Gate) desk() *desk {
	if d, ok := g.desks.Get().(*desk); ok {
		return d
	}
	d := new(desk)
	d.decide = d.departure.decide
	return d
}

// pendingAtDesk is a call that nobody but its caller gets to know.
func (g *Gate) pendingAtDesk(id stopgate.ProposalID, t *turn, call *stopgate.Call) *pending {
	d := g.desk()
	p := &d.call
	p.desk, p.id, p.turn, p.call, p.alone = d, id, t, *call, true
	p.call.Args = nil
	p.start(g)
	return p
}

// atDesk is the desk of the call, for as long as it is open.
func (p *pending) atDesk() *desk {
	if p.desk == nil {
		p.desk = p.g.desk()
	}
	return p.desk
}

// room is for the facts of a release. Of a store that may be late they are its own.
func (p *pending) room() []session.Fact {
	if p.g.local {
		return p.atDesk().facts[:]
	}
	return make([]session.Fact, 1)
}

// leaveDesk gives it to the next one, unless somebody may still look at it: a store
// that did not answer in time, or who was asked about the call.
func (p *pending) leaveDesk() {
	d, g := p.desk, p.g
	p.desk = nil
	if d == nil || g.store != nil && !g.local {
		return
	}
	if p == &d.call {
		if p.waited {
			return
		}
		d.call = pending{}
	}
	d.departure = departure{}
	g.desks.Put(d)
}
