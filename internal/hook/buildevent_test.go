package hook_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/hook"
)

// A tool of an MCP server is not confused with a host's own tool of the same name.
func TestServersToolIsNotTheHosts(t *testing.T) {
	h := host(t, "gemini-cli")
	for text, harmless := range map[string]bool{
		`{"hook_event_name":"BeforeTool","tool_name":"write_todos","tool_input":{}}`:                                                                true,
		`{"hook_event_name":"BeforeTool","tool_name":"write_todos","mcp_context":{"server_name":"evil","tool_name":"write_todos"},"tool_input":{}}`: false,
	} {
		e, err := h.Read([]byte(text))
		if err != nil || e.Harmless != harmless {
			t.Errorf("%s: harmless %t, %v", text, e.Harmless, err)
		}
	}
}

// Every host reads the event that BuildEvent returns for a call.
func TestProposes(t *testing.T) {
	for _, name := range hook.Names() {
		h := host(t, name)
		e, err := h.Read(h.BuildEvent(stopgate.Call{Tool: "status", Server: "git", Args: []byte(`{"a":1}`), ID: "c", Session: "s"}, "/srv"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e.Kind != hook.Before || e.Call.Tool != "git__status" || e.Call.Server != "git" || string(e.Call.Args) != `{"a":1}` || e.Call.Session != stopgate.SessionID(name+":s") || e.Dir != "/srv" {
			t.Errorf("%s: %+v", name, e.Call)
		}
		if _, err := h.Read(h.BuildEvent(stopgate.Call{Tool: "x", Args: []byte(`{},"tool_name":"y"`)}, "")); err == nil {
			t.Errorf("%s: arguments say more than arguments", name)
		}
	}
}
