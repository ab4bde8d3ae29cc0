package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// KnownTools finds what is known of the tool of a call before any policy file or
// definition speaks of it. It is called once for each binding, must answer alike for calls
// that agree in name, agent, surface, dialect, server and definition, and does no I/O.
type KnownTools func(call stopgate.Call) (tool KnownTool, ok bool)

// KnownTool is a tool with the types of its parameters.
type KnownTool struct {
	// Name is the name under which the tool is listed.
	Name stopgate.ToolName
	// Parameters types and names the parameters, as [schema.FromParameters] builds them.
	Parameters *schema.Schema
	// Certain says that the call is one of this tool: a host adapter made the call, or the
	// server is the one that is listed and its definition is pinned. Without it a tool has
	// only the name of a known one, and the types can make verdicts stricter, never weaker.
	Certain bool
	// Own says that the definition of the call was written by this program, a host adapter or
	// the agent: what it declares counts as declared by a parameter table.
	Own bool
	// Output says that a call of the tool is the form of the model's answer: nothing runs.
	Output bool
	// Handoff says that a call of the tool hands the conversation to another agent.
	Handoff bool
}

// Knowing makes policies take what a tool's parameters are from a list of known tools,
// where no table of a file says it. It is called before the first Bind.
func (p *Policies) Knowing(known KnownTools) *Policies {
	p.known = known
	return p
}

// recognise finds the known tool of the call. It always reports true.
func (b *binder) recognise() bool {
	if b.policies.known == nil {
		return true
	}
	tool, ok := b.policies.known(b.call)
	if !ok {
		return true
	}
	b.output, b.handoff = tool.Output, tool.Handoff
	if tool.Own {
		b.base = schema.Marked(b.base, true)
	}
	if tool.Parameters == nil {
		return true
	}
	// Parameters that the definition does not have, or has with another type, are left out.
	b.row = tool.Parameters
	b.known = schema.Fitting(b.base, b.row)
	b.certain = tool.Certain && b.base != nil && b.known != nil && hasAll(b.base, b.row, b.known)
	if !b.certain { // a name alone declares nothing
		b.row, b.known = schema.Marked(b.row, false), schema.Marked(b.known, false)
	}
	if b.known != nil && b.base != nil {
		b.known, _ = schema.Overlay(b.base, b.known) // nil where they contradict
	}
	b.certain = b.certain && b.known != nil
	return true
}

// hasAll reports whether a definition declares every parameter of a known tool, of which
// fitting are those that fit it.
func hasAll(base, row, fitting *schema.Schema) bool {
	for _, p := range row.Place().Properties() {
		if base.Place().Member([]byte(p.Name)).Kind != schema.DeclaredName {
			return false
		}
	}
	return len(row.Place().Properties()) == len(fitting.Place().Properties())
}

// typed is the schema of a tool for a file that declares no parameters: its definition,
// with the types of the known tool if it certainly is that one.
func (b *binder) typed() *schema.Schema {
	if b.certain {
		return b.known
	}
	return b.base
}

// knownGuards lets the guards of a file also see the arguments as the known tool of this
// name types them. Guards only restrict, so a name that was borrowed gains nothing.
func (c *compiler) knownGuards(v *Voice) {
	if c.known == nil || v.Schema == c.known {
		return
	}
	typed := *v
	typed.Schema = c.known
	c.list(&typed, list{layer: stopgate.LayerGuard, fallback: stopgate.Unattended, guard: true}, v.File.Guards, "", true)
}
