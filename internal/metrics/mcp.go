package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/mcpgate"
)

// methods are those of MCP: clients make up no series.
var methods = []string{
	"initialize", "server/discover", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel", "subscriptions/listen", "tasks/get", "tasks/list", "tasks/update", "tasks/cancel", "tasks/result",
}

// mcp are the numbers of an MCP gateway (WIRE 10.2).
type mcp struct {
	served, asked *prometheus.HistogramVec
	methods       map[string]bool
}

func newMCP(r *prometheus.Registry) *mcp {
	m := &mcp{methods: map[string]bool{}}
	for _, name := range methods {
		m.methods[name] = true
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: []float64{.001, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300},
		}, []string{"mcp_method_name", "gen_ai_tool_name", "error_type"})
		r.MustRegister(h)
		return h
	}
	m.served = histogram("mcp_server_operation_duration_seconds", "From a client's request to its answer.")
	m.asked = histogram("mcp_client_operation_duration_seconds", "From a request to a server to its answer.")
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
		to.WithLabelValues(method, tool, o.Failure).Observe(since(o.Began, o.Ended))
	}
}

// tool is the name of a tool as a label.
func (m *Metrics) tool(name stopgate.ToolName) string {
	if known, ok := (*m.tools.Load())[name]; ok {
		return string(known)
	}
	return Other
}
