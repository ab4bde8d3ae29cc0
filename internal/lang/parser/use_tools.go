package parser

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/packs"
)

// agentPrefix begins the names that agents give the tools of MCP servers in their requests to a model:
// mcp__SERVER__TOOL. Every other surface reports the server, so that policies see SERVER__TOOL.
const agentPrefix = "mcp__"

// mergeTools joins the tables of tools. A table of a pack that names several tools is divided where another
// text has a table of its own for one of them: the rules for that tool are then those of both, as if
// the pack had a table for it alone.
func (p *parser) mergeTools(parts []*tomltree.Entry) *tomltree.Entry {
	divided := slices.Clone(parts)
	for i, part := range parts {
		if part.KeyRange.Pack == 0 || part.Value.Kind != tomltree.Table {
			continue
		}
		d := divider{claimed: func(name string) bool {
			return slices.ContainsFunc(parts, func(other *tomltree.Entry) bool { return other != part && other.Value.Get(name) != nil })
		}}
		pack, _ := packs.Lookup(p.policy.Packs[part.KeyRange.Pack-1].Name)
		d.server = pack.Server()
		for _, e := range part.Value.Entries {
			d.divide(e)
		}
		divided[i] = with(part, part.Value.With(d.tables))
	}
	return mergeMembers(divided, func(_ string, tables []*tomltree.Entry) *tomltree.Entry { return mergeMembers(tables, p.mergeTool) })
}

// divider divides the tables of one pack.
type divider struct {
	claimed func(tool string) bool // another text has a table for the tool
	server  string                 // whose tools the pack names, if it is the pack of a server
	tables  []*tomltree.Entry
}

// divide adds the tables that a table becomes: one for the tools that no other text claims, and one for each
// of the others. A table for tools of a server is divided at its key too, which is only the first of the
// tools, and is added once more for the names that agents give them.
func (d *divider) divide(e *tomltree.Entry) {
	also := e.Value.Get("also")
	if e.Value.Kind != tomltree.Table || also != nil && also.Value.Kind != tomltree.Array {
		d.tables = append(d.tables, e)
		return
	}
	names := []*tomltree.Value{{Kind: tomltree.String, Text: e.Key, Range: e.KeyRange}}
	if also != nil {
		names = append(names, also.Value.Elements...)
	}
	if d.server == "" {
		d.add(e, names[:1], names[1:])
		return
	}
	d.add(e, nil, names)
	var agents []*tomltree.Value
	for _, v := range names {
		if strings.HasPrefix(v.Text, d.server+"__") {
			agents = append(agents, &tomltree.Value{Kind: tomltree.String, Text: agentPrefix + v.Text, Range: v.Range})
		}
	}
	d.add(d.agents(e), nil, agents)
}

// add adds a table for the tools of some names, and those that others claim. kept are names that stay together.
func (d *divider) add(e *tomltree.Entry, kept, names []*tomltree.Value) {
	for _, v := range names {
		if d.claimed(v.Text) {
			d.tables = append(d.tables, named(e, []*tomltree.Value{v}))
		} else {
			kept = append(slices.Clip(kept), v)
		}
	}
	if len(kept) > 0 {
		d.tables = append(d.tables, named(e, kept))
	}
}

// named returns a table like e for the tools of some names.
func named(e *tomltree.Entry, names []*tomltree.Value) *tomltree.Entry {
	entries := slices.DeleteFunc(slices.Clone(e.Value.Entries), func(member *tomltree.Entry) bool { return member.Key == "also" })
	if len(names) > 1 {
		also := &tomltree.Value{Kind: tomltree.Array, Range: names[1].Range}
		entries = append(entries, &tomltree.Entry{Key: "also", KeyRange: names[1].Range, Value: also.WithElements(names[1:])})
	}
	return &tomltree.Entry{Key: names[0].Text, KeyRange: e.KeyRange, Value: e.Value.With(entries)}
}

// agents returns a table for the names that agents give tools in requests. Only requests to the gateway have
// them, and no server is known there: rules for calls of the server become rules for that surface.
func (d *divider) agents(e *tomltree.Entry) *tomltree.Entry {
	return replaced(e, "policy", func(policy *tomltree.Entry) *tomltree.Entry {
		return replaced(policy, "run", func(run *tomltree.Entry) *tomltree.Entry {
			rules := slices.Clone(run.Value.Elements)
			for i, r := range rules {
				if when := r.Get("when"); when != nil && when.Value.Get("server") != nil && when.Value.Get("server").Value.Text == d.server {
					surface := &tomltree.Value{Kind: tomltree.String, Text: string(stopgate.SurfaceGateway), Range: when.Value.Range}
					rules[i] = replaced(&tomltree.Entry{Value: r}, "when", func(when *tomltree.Entry) *tomltree.Entry {
						return with(when, when.Value.With([]*tomltree.Entry{{Key: "surface", KeyRange: when.KeyRange, Value: surface}}))
					}).Value
				}
			}
			return with(run, run.Value.WithElements(rules))
		})
	})
}

// replaced returns a table with another member of a name, if it has one.
func replaced(e *tomltree.Entry, key string, by func(*tomltree.Entry) *tomltree.Entry) *tomltree.Entry {
	entries := slices.Clone(e.Value.Entries)
	for i, member := range entries {
		if member.Key == key {
			entries[i] = by(member)
		}
	}
	return with(e, e.Value.With(entries))
}
