package metrics_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/mcpgate"
)

// Requests of MCP clients and to MCP servers are measured by method, tool and failure; unknown
// methods and tools create no series.
func TestMCP(t *testing.T) {
	m := metrics.New(map[stopgate.ToolName]stopgate.ToolName{"files__read": "files__read"})
	at := time.Now()
	for _, o := range []mcpgate.Observed{
		{Method: "tools/call", Tool: "files__read", Transport: "pipe"},
		{Method: "tools/call", Tool: "made-up"},
		{Method: "made/up"},
		{Outgoing: true, Method: "tools/call", Tool: "files__read", Failure: "tool_error"},
		{Outgoing: true, Method: "prompts/get", Failure: "-32602", Code: "-32602", Transport: "tcp"},
	} {
		o.Began, o.Ended = at, at.Add(2*time.Second)
		_, end := m.Request(t.Context(), &o)
		end()
	}
	m.Session(&mcpgate.Session{Version: "2025-11-25", Transport: "tcp", Began: at, Ended: at.Add(time.Minute)})
	m.Session(&mcpgate.Session{Outgoing: true, Version: "2025-11-25", Transport: "pipe", Failure: "unreachable", Began: at, Ended: at.Add(3 * time.Second)})
	for i := range 200 { // a server's own codes
		o := mcpgate.Observed{Outgoing: true, Method: "tools/list", Code: fmt.Sprint(i), Failure: fmt.Sprint(i)}
		_, end := m.Request(t.Context(), &o)
		end()
	}
	text := scrape(t, m)
	for _, want := range []string{
		`mcp_server_session_duration_seconds_sum{error_type="",mcp_protocol_version="2025-11-25",network_transport="tcp"} 60`,
		`mcp_client_session_duration_seconds_sum{error_type="unreachable",mcp_protocol_version="2025-11-25",network_transport="pipe"} 3`,
		`mcp_server_operation_duration_seconds_sum{error_type="",gen_ai_operation_name="execute_tool",gen_ai_tool_name="files__read",mcp_method_name="tools/call",network_transport="pipe",rpc_response_status_code=""} 2`,
		`mcp_server_operation_duration_seconds_count{error_type="",gen_ai_operation_name="execute_tool",gen_ai_tool_name="_other",mcp_method_name="tools/call",network_transport="",rpc_response_status_code=""} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",gen_ai_operation_name="",gen_ai_tool_name="",mcp_method_name="_other",network_transport="",rpc_response_status_code=""} 1`,
		`mcp_client_operation_duration_seconds_sum{error_type="tool_error",gen_ai_operation_name="execute_tool",gen_ai_tool_name="files__read",mcp_method_name="tools/call",network_transport="",rpc_response_status_code=""} 2`,
		`mcp_client_operation_duration_seconds_count{error_type="-32602",gen_ai_operation_name="",gen_ai_tool_name="",mcp_method_name="prompts/get",network_transport="tcp",rpc_response_status_code="-32602"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "made") || strings.Contains(text, `error_type="150"`) || !strings.Contains(text, `error_type="_other"`) {
		t.Error(text)
	}
}

// bundle is the bundle of a gate that has none.
type bundle struct{}

func (bundle) Figures() (uint64, time.Time, bool) { return 0, time.Time{}, false }

// The table of the reference names every metric, and no other.
func TestReference(t *testing.T) {
	m := metrics.New(nil)
	program, mistakes := prove.Compile([]policy.Source{{Name: "p", Text: []byte("version = 1\n")}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	g, err := gate.New(program)
	if err != nil {
		t.Fatal(err)
	}
	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	defer gw.Close()
	m.Watch(g, gw)
	m.WatchBundle(bundle{})
	m.Drops("live", func() float64 { return 0 })
	registered := m.Names()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "api.md"))
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	_, section, _ := strings.Cut(string(page), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	name := regexp.MustCompile("`((?:stopgate|gen_ai|mcp)_[a-z_]+)`")
	for _, line := range strings.Split(section, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, found := range name.FindAllStringSubmatch(cells[1], -1) {
				written = append(written, found[1])
			}
		}
	}
	slices.Sort(written)
	if !slices.Equal(registered, written) {
		t.Errorf("registered\n%q\nin the reference\n%q", registered, written)
	}
}
