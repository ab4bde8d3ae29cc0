package eval

import "github.com/stopgate/stopgate"

// effect reports whether the tool changes something or sends something out.
func (b *binder) effect() bool { return b.policies.effectOf(&b.call) }

// HasEffect reports whether a tool changes something or sends something out. Any file may say that
// it does, only the operator's that it does not. If none says it, the list of known tools does; a
// tool that has a table of its own in an operator's file and is not known has no effect, and every
// other one has.
func (p *Policies) HasEffect(tool stopgate.ToolName) bool {
	return p.effectOf(&stopgate.Call{Tool: tool})
}

func (p *Policies) effectOf(call *stopgate.Call) bool {
	without, declared := false, false
	for _, l := range p.layers {
		for _, t := range l.File.TablesFor(string(call.Tool)) {
			declared = declared || l.Trusted && t.Named(string(call.Tool))
			if t.Effect == nil {
				continue
			}
			if *t.Effect {
				return true
			}
			without = without || l.Trusted
			break // the most specific table that says it
		}
	}
	if without || p.known == nil {
		return !without && !declared
	}
	tool, ok := p.known(*call)
	switch {
	case !ok || tool.Effect == nil:
		return !declared
	case *tool.Effect:
		return true
	}
	// A server may give any tool the name of a known one.
	return !declared && !tool.Certain && !tool.Output && call.Server != ""
}
