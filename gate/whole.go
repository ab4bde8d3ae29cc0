package gate

import (
	"context"

	"github.com/stopgate/stopgate"
)

// A call whose arguments arrive asks every session policy as soon as that one can
// object: the byte with which a denial is certain is part of the verdict (S8). Where all arguments are there at once nobody acts on the bytes before the
// last, and one question is enough: the last one, on current facts, in the step that
// releases the call. If nobody objects then, nobody would have objected to less of
// the call on the same facts. If somebody does, or the call is not plainly allowed,
// it takes the long way from its start; nothing was written or said until then.

// decideIn decides a call with complete arguments in a turn, nil for a turn of its
// own.
func (g *Gate) decideIn(ctx context.Context, t *turn, call *stopgate.Call, out *stopgate.Outcome) error {
	now := g.now()
	id, err := newProposalID(now, g.entropy)
	if err != nil {
		return err
	}
	args := call.Args
	p := g.pendingAtDesk(id, t, call)
	if p.whole = p.canBeWhole(t); p.whole {
		p.now = now.UnixMilli()
	}
	p.judge(ctx, args)
	if p.whole && p.governed && !p.plain() {
		p = p.afresh(ctx, t, args)
	}
	err = p.resolveTo(ctx, out)
	if p.objects {
		p = p.afresh(ctx, t, args)
		err = p.resolveTo(ctx, out)
	}
	p.leaveDesk()
	return err
}

// judge takes the call from its start to the end of its arguments.
func (p *pending) judge(ctx context.Context, args []byte) {
	p.enter(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.feed(args)
	p.close(stopgate.Ended)
}

// canBeWhole reports whether the session policies may be asked last and once: nothing
// but rules speaks before them, and no other call fixes what the turn sees.
func (p *pending) canBeWhole(t *turn) bool {
	if p.g.store == nil || !p.rulesOnly() {
		return false
	}
	if t == nil {
		return true
	}
	_, begun := t.begun()
	return begun
}

// afresh takes the same proposal from its start once more, the long way. A turn of its
// own begins anew too: it sees the facts as they are now.
func (p *pending) afresh(ctx context.Context, t *turn, args []byte) *pending {
	p.letGo()
	again := &pending{id: p.id, call: p.call, turn: t, course: course{alone: true, cut: p.cut}}
	again.start(p.g)
	again.judge(ctx, args)
	return again
}
