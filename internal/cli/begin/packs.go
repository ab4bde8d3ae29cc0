package begin

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/servers"
	"github.com/stopgate/stopgate/internal/packs"
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
