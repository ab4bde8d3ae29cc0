package parser

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/packs"
)

// servers reads [servers]: by which further names the policy knows the MCP servers that its packs are for. The
// packs are read already.
func (p *parser) servers(e *tomltree.Entry) {
	if e == nil || !p.table(e) {
		return
	}
	for _, m := range e.Value.Entries {
		name, ok := p.text(m)
		if !ok {
			continue
		}
		pack, ok := p.packOfServer(name, m.Value.Range)
		if ok && p.isServerName(m, pack) && m.Key != pack.Server() {
			p.policy.Servers = append(p.policy.Servers, syntax.ServerName{Name: m.Key, Pack: pack.Name, Is: pack.Server(), Pos: m.KeyRange})
		}
	}
}

// packOfServer returns the pack of an MCP server that the file uses.
func (p *parser) packOfServer(name string, at diag.Range) (packs.Pack, bool) {
	name, _, pinned := strings.Cut(name, "@")
	pack, known := packs.Lookup(name)
	switch {
	case !known:
		all := slices.DeleteFunc(packs.Names(), func(name string) bool { return !packs.OfServer(name) })
		hint := diag.DidYouMean(name, all)
		if hint == "" {
			hint = "`stopgate packs` lists them"
		}
		p.report(diag.BadValue, at, fmt.Sprintf("there is no pack %q", name), hint)
	case pinned:
		p.report(diag.BadValue, at, "a version of a pack is not written here", fmt.Sprintf("write it in `use`, and %q here", name))
	case pack.Server() == "":
		p.report(diag.BadValue, at, fmt.Sprintf("the pack %q is not that of an MCP server", name), "the names of those begin with mcp/")
	case !slices.ContainsFunc(p.policy.Packs, func(used syntax.Pack) bool { return used.Name == name }):
		p.report(diag.BadValue, at, fmt.Sprintf("the policy does not use the pack %q", name), fmt.Sprintf("add %q to `use`", name))
	default:
		return pack, true
	}
	return pack, false
}

// isServerName reports whether the key of an entry can be another name of the server of a pack. The name of the
// server of one pack cannot be given to that of another.
func (p *parser) isServerName(m *tomltree.Entry, pack packs.Pack) bool {
	if !packs.ValidServerName(m.Key) {
		p.report(diag.BadName, m.KeyRange, fmt.Sprintf("%s cannot be the name of a server", tomltree.Quote(m.Key)),
			"write the name as your agent or gateway has it: letters and digits, and single `_`, `-` and `.` between them; `mcp` begins the names of all servers")
		return false
	}
	if owner, taken := packs.OwnerOf(m.Key); taken && owner.Name != pack.Name {
		p.report(diag.BadName, m.KeyRange, fmt.Sprintf("%s is the name of the server of the pack %q", tomltree.Quote(m.Key), owner.Name),
			fmt.Sprintf("give the server of %q another name in the settings of your agent", pack.Name))
		return false
	}
	return true
}
