package gate

import (
	"context"
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// addCall adds the arguments of the released call, which nothing may change, to the texts that the
// reader of a policy reads: the model wrote them.
func (p *pending) addCall(ctx context.Context, c *compiled, args []byte) {
	// A failure is reported, and later calls are in doubt.
	err := p.g.texts.add(ctx, c, p.conversation(), false, []kept.Addition{{Call: &kept.Call{Tool: p.call.Tool, Args: args}}})
	if errors.Is(err, ErrTextsUnsaved) && p.call.Surface == stopgate.SurfaceHook { // the process may end now
		_ = p.g.LoseTexts(ctx, owner(&p.call), p.call.Conversation)
	}
}

// entersTexts reports whether a policy reads the texts that the call belongs to once it is released.
func (p *pending) entersTexts(c *compiled) bool {
	return c.reader != nil && p.kind == ToolCall && hasTexts(p.conversation())
}

// joinTexts calls write, which releases calls in one step of the store, with a function that adds their
// arguments to the change: no released call is missing from the texts of its session, at no more than the one
// wait for the disk. Where that is not possible, finished adds them.
func joinTexts(calls []*commitment, write func(join func(*Change)) error) {
	first := calls[0].p
	c := first.g.current.Load().of(first.call.Session)
	of := first.conversation()
	var list []kept.Addition
	for _, call := range calls {
		if call.args != nil {
			list = append(list, kept.Addition{Call: &kept.Call{Tool: call.p.call.Tool, Args: call.args}})
		}
	}
	if len(list) == 0 || !first.g.sessions.joins || slices.ContainsFunc(calls, func(call *commitment) bool {
		return !call.p.entersTexts(c) || call.p.conversation() != of
	}) {
		_ = write(func(*Change) {})
		return
	}
	joined := first.g.texts.keeper.Join(c.access(of), list, func(texts *flow.Change) error {
		return write(func(change *Change) { change.Texts, change.TextsOf = texts, of })
	})
	for _, call := range calls {
		call.texts = joined && call.args != nil
	}
}
