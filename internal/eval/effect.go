package eval

import "github.com/stopgate/stopgate"

// effect reports whether the tool changes something or sends something out.
func (b *binder) effect() bool {
	effect, _ := b.policies.effectOf(&b.call)
	return effect
}

// HasEffect reports whether a tool changes something or sends something out. Any file may say that
// it does, only the operator's that it does not. If none says it, the list of known tools does; a
// tool that has a table of its own in an operator's file and is not known has no effect, and every
// other one has.
func (p *Policies) HasEffect(tool stopgate.ToolName) bool {
	effect, _ := p.effectOf(&stopgate.Call{Tool: tool})
	return effect
}

// StatesEffect reports whether a file or the list of known tools says that a tool has an effect.
func (p *Policies) StatesEffect(tool stopgate.ToolName) bool {
	effect, stated := p.effectOf(&stopgate.Call{Tool: tool})
	return effect && stated
}

// effectOf returns whether a tool has an effect, and whether that is stated anywhere.
func (p *Policies) effectOf(call *stopgate.Call) (effect, stated bool) {
	without, declared := false, false
	for _, l := range p.layers {
		for _, t := range l.File.TablesFor(string(call.Tool)) {
			declared = declared || l.Trusted && t.Named(string(call.Tool))
			if t.Effect == nil {
				continue
			}
			if *t.Effect {
				return true, true
			}
			without = without || l.Trusted
			break // the most specific table that says it
		}
	}
	if without || p.known == nil {
		return !without && !declared, without
	}
	tool, ok := p.known(*call)
	switch {
	case !ok || tool.Effect == nil:
		return !declared, false
	case *tool.Effect:
		return true, true
	}
	// A server may give any tool the name of a known one.
	return !declared && !tool.Certain && !tool.Output && call.Server != "", true
}
