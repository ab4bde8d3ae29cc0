package main

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/pin"
)

// filePins are the definitions that the policy file lists, before those that were seen
// first: a tool that is listed is what the file says, whatever was accepted elsewhere.
type filePins struct {
	listed map[string]map[string]string // hashes by server and tool
	seen   *pin.Store
}

// pinsFor returns the pins of servers.
func pinsFor(s mcpSettings, specs []serverSpec, seen *pin.Store) filePins {
	p := filePins{listed: map[string]map[string]string{}, seen: seen}
	for _, spec := range specs {
		p.listed[spec.identity()] = s.table.Servers[spec.id].Pins
	}
	return p
}

// Check implements mcpgate.Pins and servers.Pins. What the file refuses is kept beside
// what is accepted, so that stopgate mcp pin shows it.
func (p filePins) Check(server string, tool stopgate.ToolName, hash string, definition []byte) (same bool, err error) {
	same, err = p.seen.Check(server, tool, hash, definition)
	if want, ok := p.listed[server][string(tool)]; ok {
		return strings.EqualFold(want, hash), nil
	}
	return same, err
}
