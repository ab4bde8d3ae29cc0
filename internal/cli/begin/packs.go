package begin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/host/servers"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/project"
	"github.com/stopgate/stopgate/mcpgate"
)

// packOf returns the pack of a server, by the command that starts it after the gate.
func packOf(s servers.Server) (packs.Pack, bool) {
	command := s.Command
	if s.Gated {
		command = command[slices.Index(command, "--")+1:]
	}
	name, ok := packs.ForServer(command, s.URL)
	if !ok {
		return packs.Pack{}, false
	}
	return packs.Lookup(name)
}

// nameIn is the name of a server in a settings file, with its pack, the zero Pack for none.
type nameIn struct {
	name, file string
	pack       packs.Pack
}

// name adds to the project the names that agents give the servers of packs, where they are not those of the packs.
// Hooks only see the name in the settings: it must be one that a policy can give to the pack, and all servers of
// this name must be that of the pack.
func (p *plan) name(names []nameIn) {
	for i, n := range names {
		is := func(other nameIn) bool { return other.name == n.name }
		if n.pack.Name == "" || n.name == n.pack.Server() || slices.ContainsFunc(names[:i], func(other nameIn) bool { return is(other) && other.pack.Name == n.pack.Name }) {
			continue
		}
		owner, taken := packs.OwnerOf(n.name)
		other := slices.IndexFunc(names, func(other nameIn) bool { return is(other) && other.pack.Name != n.pack.Name })
		switch {
		case other >= 0:
			p.unknown(n, "another server has this name in "+names[other].file+"; name it "+n.pack.Server()+" there")
		case strings.Contains(n.name, ".") || !packs.ValidServerName(n.name) || // some agents write "_" for a dot
			taken && owner.Name != n.pack.Name || len(p.project.Names) == project.MaxNames:
			p.unknown(n, "they know it by this name, and the rules of the pack "+n.pack.Name+" are for "+n.pack.Server()+"; name it so there")
		default:
			p.project.Names = append(slices.Clip(p.project.Names), project.ServerName{Name: n.name, Pack: n.pack.Name})
		}
	}
}

// unknown adds a server whose rules hooks do not find.
func (p *plan) unknown(n nameIn, why string) {
	p.uncovered = append(p.uncovered, "MCP server "+n.name+" of "+n.file+" in hooks: "+why)
}

// unnamed adds the servers whose names a policy that stays does not have.
func (p *plan) unnamed(policy []byte) {
	file, _ := parser.Parse(kinds.Table(), config.FileName, policy)
	for _, n := range p.project.Names {
		if file == nil || !slices.ContainsFunc(file.Servers, func(s syntax.ServerName) bool { return s.Name == n.Name && s.Pack == n.Pack }) {
			p.uncovered = append(p.uncovered, fmt.Sprintf("MCP server %s in hooks: they know it by this name; give it to the pack in %s: [servers] %[1]s = %[3]q", n.Name, config.FileName, n.Pack))
		}
	}
}

// serverName returns the name of a server in policies: that of its pack, else the one that the agent gives it, if
// names of servers can be so.
func serverName(s servers.Server) string {
	if p, ok := packOf(s); ok {
		return p.Server()
	}
	if mcpgate.ValidServerID(stopgate.ServerID(s.Name)) {
		return s.Name
	}
	return ""
}
