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
		if d.server = pack.Server(); d.server != "" {
			d.servers = p.policy.NamesOf(pack.Name, d.server)
		}
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
	servers []string               // the names that the server has in this policy
	tables  []*tomltree.Entry
}

// divide adds the tables that a table becomes: one for the tools that no other text claims, and one for each
// of the others. A table for tools of a server is divided at its key too, which is only the first of the
// tools. It is added for every name that the server has, and once more for the names that agents give the tools.
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
	for _, server := range d.servers {
		d.add(d.rules(e, "server", server), nil, d.renamed(names, "", server))
		d.add(d.rules(e, "surface", string(stopgate.SurfaceGateway)), nil, d.renamed(names, agentPrefix, server))
	}
}

// renamed returns the names of tools of the server under another name of it and after a prefix. Names of other
// tools stay, and have no prefix.
func (d *divider) renamed(names []*tomltree.Value, prefix, server string) (list []*tomltree.Value) {
	for _, v := range names {
		if own, ok := strings.CutPrefix(v.Text, d.server+"__"); ok {
			list = append(list, &tomltree.Value{Kind: tomltree.String, Text: prefix + server + "__" + own, Range: v.Range})
		} else if prefix == "" && server == d.server {
			list = append(list, v)
		}
	}
	return list
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

// rules returns a table whose rules for calls of the server are for calls with another fact: of a server of
// another name, or on the surface of the gateway. Only requests to it have the names that agents give tools, and
// no server is known there.
func (d *divider) rules(e *tomltree.Entry, fact, value string) *tomltree.Entry {
	if fact == "server" && value == d.server {
		return e
	}
	return replaced(e, "policy", func(policy *tomltree.Entry) *tomltree.Entry {
		return replaced(policy, "run", func(run *tomltree.Entry) *tomltree.Entry {
			rules := slices.Clone(run.Value.Elements)
			for i, r := range rules {
				if when := r.Get("when"); when != nil && when.Value.Get("server") != nil && when.Value.Get("server").Value.Text == d.server {
					is := &tomltree.Value{Kind: tomltree.String, Text: value, Range: when.Value.Range}
					rules[i] = replaced(&tomltree.Entry{Value: r}, "when", func(when *tomltree.Entry) *tomltree.Entry {
						facts := slices.Clone(when.Value.Entries)
						facts[slices.IndexFunc(facts, func(of *tomltree.Entry) bool { return of.Key == "server" })] = &tomltree.Entry{Key: fact, KeyRange: when.KeyRange, Value: is}
						return with(when, when.Value.With(facts))
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
