package gate

import (
	"context"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// watch selects the arguments by which session policies can deny the call before it is
// complete (S8).
func (p *pending) watch() {
	defer p.recoverPolicy()
	if pointers := p.set.Watched(p.tool); len(pointers) > 0 && p.eval != nil {
		p.eval.Watch(pointers)
		p.watches = true
	}
}

// watched returns the watched argument that is complete; p.mu is held.
func (p *pending) watched() (pointer jsonstream.Pointer, value []byte, ok bool) {
	if p.terminal || p.eval == nil {
		return nil, nil, false
	}
	defer p.recoverPolicy()
	return p.eval.Watched()
}

// checkEarly asks the session policies that can deny by one argument, with its value as
// JSON. p.mu is held, and released while the store is waited for.
func (p *pending) checkEarly(pointer jsonstream.Pointer, value []byte) {
	object := append(append(jsonstream.AppendQuote([]byte("{"), pointer[0]), ':'), value...)
	args, err := jsonstream.Parse(append(object, '}'), jsonstream.Options{})
	if err != nil {
		return
	}
	set := p.set.Seen(p.tool, pointer)
	c := session.Call{Proposal: p.id, Tool: p.tool, Agent: p.call.Agent, Turn: p.call.Turn, ID: p.call.ID, Args: args, Paths: p.isPath}
	ctx := context.Background() // bounded by the limit of the store
	check := func() ([]session.Decision, uint64) {
		state := p.g.load(ctx, owner(&p.call), set.Needs(c))
		if state.fault != none {
			return nil, 0 // the complete call is checked again, and denied then
		}
		v := p.sessionView(state.value)
		_, all := set.CheckEach(&v, &c, p.foreignRunner(ctx))
		return all, state.value.Head
	}
	var all []session.Decision
	var head uint64
	if p.g.local {
		all, head = check()
	} else {
		p.mu.Unlock()
		all, head = check()
		p.mu.Lock()
	}
	if !p.premature(all) {
		p.applyObjectionsLocked(all, head)
	}
}
