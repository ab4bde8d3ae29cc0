package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate"
)

// methods are the methods of MCP, so that clients cannot create series.
var methods = []string{
	"initialize", "server/discover", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel", "subscriptions/listen", "tasks/get", "tasks/list", "tasks/update", "tasks/cancel", "tasks/result",
}

// mcp are the metrics of an MCP gateway.
type mcp struct {
	served, asked *prometheus.HistogramVec
	// Sessions with clients, and with servers.
	clients, servers *prometheus.HistogramVec
	methods          map[string]bool
	codes            boundedLabels // of errors, bounded because servers choose them
}

// maxCodes bounds the error codes with their own series.
const maxCodes = 64

// code returns an error code as a label.
func (m *mcp) code(text string) string {
	if text == "" {
		return ""
	}
	return m.codes.label(text)
}

func newMCP(r *prometheus.Registry) *mcp {
	m := &mcp{methods: map[string]bool{}, codes: boundedLabels{max: maxCodes}}
	for _, name := range methods {
		m.methods[name] = true
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300},
		}, []string{"mcp_method_name", "gen_ai_tool_name", "gen_ai_operation_name", "network_transport", "rpc_response_status_code", "error_type"})
		r.MustRegister(h)
		return h
	}
	m.served = histogram("mcp_server_operation_duration_seconds", "From a client's request to its answer.")
	m.asked = histogram("mcp_client_operation_duration_seconds", "From a request to a server to its answer.")
	sessions := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600},
		}, []string{"mcp_protocol_version", "network_transport", "error_type"})
		r.MustRegister(h)
		return h
	}
	m.clients = sessions("mcp_server_session_duration_seconds", "How long a client's session was open.")
	m.servers = sessions("mcp_client_session_duration_seconds", "How long a session with a server was open.")
	return m
}

// Request implements [mcpgate.Observer].
func (m *Metrics) Request(ctx context.Context, o *mcpgate.Observed) (context.Context, func()) {
	return ctx, func() {
		to, method, tool := m.mcp.served, o.Method, ""
		if o.Outgoing {
			to = m.mcp.asked
		}
		if !m.mcp.methods[method] {
			method = Other
		}
		if o.Tool != "" {
			tool = m.tool(o.Tool)
		}
		operation := ""
		if o.Method == "tools/call" {
			operation = "execute_tool"
		}
		to.WithLabelValues(method, tool, operation, o.Transport, m.mcp.code(o.Code), m.mcp.code(o.Failure)).Observe(since(o.Began, o.Ended))
	}
}

// Session implements [mcpgate.SessionObserver].
func (m *Metrics) Session(s *mcpgate.Session) {
	to := m.mcp.clients
	if s.Outgoing {
		to = m.mcp.servers
	}
	to.WithLabelValues(m.mcp.code(s.Version), s.Transport, s.Failure).Observe(since(s.Began, s.Ended))
}

// tool returns the name of a tool as a label.
func (m *Metrics) tool(name stopgate.ToolName) string {
	if known, ok := (*m.tools.Load())[name]; ok {
		return string(known)
	}
	return Other
}
