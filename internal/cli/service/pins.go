package service

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

// Pins returns the accepted definitions of tools. Their file is next to the store; those of a
// store in memory end with it.
func (st *State) Pins() *pin.Store {
	if st.Settings.Store == place.Memory {
		return pin.InMemory()
	}
	return pin.Open(PinsFile(st.Settings.Local))
}

// PinsFile is the file of the pins that belong to a store; see [place.Settings].Local.
func PinsFile(local string) string { return local + ".mcp-pins.json" }

// filePins are the definitions that the policy file lists, which override those that were seen
// first or accepted.
type filePins struct {
	listed map[string]map[string]string // hashes by server and tool
	seen   *pin.Store
}

// PinsFor returns the pins of servers.
func PinsFor(s tables.MCP, specs []ServerSpec, seen *pin.Store) filePins {
	p := filePins{listed: map[string]map[string]string{}, seen: seen}
	for _, spec := range specs {
		p.listed[spec.Identity()] = s.Table.Servers[spec.ID].Pins
	}
	return p
}

// Check implements mcpgate.Pins and servers.Pins. A definition that the file refuses is kept, so
// that stopgate mcp pin shows it.
func (p filePins) Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error) {
	same, err = p.seen.Check(server, tool, hash, definition)
	if want, ok := p.listed[server][string(tool)]; ok {
		return strings.EqualFold(want, hash), nil
	}
	return same, err
}
