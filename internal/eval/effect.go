package eval

import (
	"github.com/stopgate/stopgate"
)

// effect reports whether the tool changes something or sends something out.
func (b *binder) effect() bool { return b.policies.effectOf(&b.call) }

// HasEffect reports whether a tool changes something or sends something out: a table of any file
// says so, or the list of known tools does. A tool of which neither is known has an effect; that it
// has none is for the operator to say, or for the list of a tool that is certainly the known one.
func (p *Policies) HasEffect(tool stopgate.ToolName) bool {
	return p.effectOf(&stopgate.Call{Tool: tool})
}

func (p *Policies) effectOf(call *stopgate.Call) bool {
	none := false
	for _, l := range p.layers {
		for _, t := range l.File.TablesFor(string(call.Tool)) {
			if t.Effect == nil {
				continue
			}
			if *t.Effect {
				return true
			}
			none = none || l.Trusted
			break // the most specific table that says it
		}
	}
	if p.known != nil {
		if tool, ok := p.known(*call); ok && tool.Effect != nil {
			if *tool.Effect {
				return !none // the operator knows the tool of this name better
			}
			none = none || tool.Certain || tool.Output
		}
	}
	return !none
}
