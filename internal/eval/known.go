package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/schema"
)

// KnownTools looks up the tool of a call in a list of known tools, before any policy file or
// definition is read. It is called once for each binding, must return the same for calls with equal
// name, agent, surface, dialect, server and definition, and does no I/O.
type KnownTools func(call stopgate.Call) (tool KnownTool, ok bool)

// KnownTool is a tool with the types of its parameters.
type KnownTool struct {
	// Name is the name under which the tool is listed.
	Name stopgate.ToolName
	// Parameters are the types and names of the parameters, as built by [schema.FromParameters].
	Parameters *schema.Schema
	// Certain is set if the call is certainly one of this tool: a host adapter made the call, or
	// the server is the listed one and its definition is pinned. Otherwise the tool only has the
	// name of a known one, and the types can make verdicts stricter, never weaker.
	Certain bool
	// Own is set if this program wrote the definition of the call, in a host adapter or the agent:
	// its parameters count as declared by a parameter table.
	Own bool
	// Output is set if a call of the tool is a structured output, which runs no code.
	Output bool
	// Effect is whether the tool changes something or sends something out, nil if it is not known.
	Effect *bool
	// Handoff is set if a call of the tool passes the conversation to another agent.
	Handoff bool
}

// Knowing sets the list of known tools, which declares the parameters of tools that no table of a
// file declares. It must be called before the first Bind.
func (p *Policies) Knowing(known KnownTools) *Policies {
	p.known, p.servers = known, p.serverNames()
	if known != nil && len(p.servers) > 0 {
		p.known = func(call stopgate.Call) (KnownTool, bool) {
			if is := p.servers[call.Server]; is != "" {
				if own, ok := strings.CutPrefix(string(call.Tool), string(call.Server)+"__"); ok {
					call.Tool = stopgate.ToolName(string(is) + "__" + own)
				}
				call.Server = is
			}
			return known(call)
		}
	}
	return p
}

// serverNames returns the servers that operators' files know under another name, by that name. If two files differ, it is "".
func (p *Policies) serverNames() map[stopgate.ServerID]stopgate.ServerID {
	names := make(map[stopgate.ServerID]stopgate.ServerID)
	for _, l := range p.layers {
		if !l.Trusted {
			continue
		}
		for _, s := range l.File.Servers {
			name, is := stopgate.ServerID(s.Name), stopgate.ServerID(s.Is)
			if was, again := names[name]; again && was != is {
				is = ""
			}
			names[name] = is
		}
	}
	return names
}

// recognise looks up the known tool of the call. It always returns true.
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
	// Parameters that the definition lacks, or has with another type, are omitted.
	b.row = tool.Parameters
	b.known = schema.Fitting(b.base, b.row)
	b.certain = tool.Certain && b.base != nil && b.known != nil && hasAll(b.base, b.row, b.known)
	if !b.certain { // a name alone does not declare parameters
		b.row, b.known = schema.Marked(b.row, false), schema.Marked(b.known, false)
	}
	if b.known != nil && b.base != nil {
		b.known, _ = schema.Overlay(b.base, b.known) // nil if they contradict
	}
	b.certain = b.certain && b.known != nil
	return true
}

// hasAll reports whether a definition declares every parameter of a known tool; fitting are the
// parameters that fit it.
func hasAll(base, row, fitting *schema.Schema) bool {
	for _, p := range row.Location().Properties() {
		if base.Location().Member([]byte(p.Name)).Kind != schema.DeclaredName {
			return false
		}
	}
	return len(row.Location().Properties()) == len(fitting.Location().Properties())
}

// typed returns the schema of a tool for a file that declares no parameters: its definition, with
// the types of the known tool if it certainly is that one.
func (b *binder) typed() *schema.Schema {
	if b.certain {
		return b.known
	}
	return b.base
}

// knownGuards also applies the guards of a file to the arguments as the known tool of this name
// types them. Guards only restrict, so that a borrowed name has no advantage.
func (c *compiler) knownGuards(v *ToolPolicy) {
	if c.known == nil || v.Schema == c.known {
		return
	}
	typed := *v
	typed.Schema = c.known
	c.list(&typed, list{layer: stopgate.LayerGuard, fallback: stopgate.Unattended, guard: true}, v.File.Guards, "", true)
}
