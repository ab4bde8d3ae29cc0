package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

type value = jsonstream.Value

// canonical returns the name of a tool in policies: SERVER__TOOL for an MCP tool, the
// host's name otherwise (S39).
func canonical(h *Host, tool string, root value) (stopgate.ToolName, stopgate.ServerID) {
	if of, ok := root.Get("mcp_context"); ok {
		server, _ := of.Get("server_name")
		name, _ := of.Get("tool_name")
		if server.Text() != "" && name.Text() != "" {
			return stopgate.ToolName(server.Text() + "__" + name.Text()), stopgate.ServerID(server.Text())
		}
	}
	if h.splitMCP != nil {
		if server, name, ok := h.splitMCP(h, tool); ok {
			return stopgate.ToolName(server + "__" + name), stopgate.ServerID(server)
		}
	}
	return stopgate.ToolName(tool), ""
}

// toolName returns the name of the tool without that of its server.
func (e *Event) toolName() string {
	if e.Call.Server == "" {
		return e.HostTool
	}
	return strings.TrimPrefix(string(e.Call.Tool), string(e.Call.Server)+"__")
}
