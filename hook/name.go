package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

type value = jsonstream.Value

// canonical is the name of a tool in policies: SERVER__TOOL of an MCP tool, otherwise
// the host's own name (DECISIONS S39).
func canonical(h *Host, tool string, root value) (stopgate.ToolName, stopgate.ServerID) {
	if of, ok := root.Get("mcp_context"); ok {
		server, _ := of.Get("server_name")
		name, _ := of.Get("tool_name")
		if server.Text() != "" && name.Text() != "" {
			return stopgate.ToolName(server.Text() + "__" + name.Text()), stopgate.ServerID(server.Text())
		}
	}
	if h.mcp != nil {
		if server, name, ok := h.mcp(h, tool); ok {
			return stopgate.ToolName(server + "__" + name), stopgate.ServerID(server)
		}
	}
	return stopgate.ToolName(tool), ""
}

// own is the name of the tool without its server's.
func (e *Event) own() string {
	if e.Call.Server == "" {
		return e.HostTool
	}
	return strings.TrimPrefix(string(e.Call.Tool), string(e.Call.Server)+"__")
}
