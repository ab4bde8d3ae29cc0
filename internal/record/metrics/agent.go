package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/agent"
)

// agents are the metrics of the terminal agent.
type agents struct {
	messages *prometheus.HistogramVec
	tools    *prometheus.HistogramVec
}

func newAgents(r *prometheus.Registry) *agents {
	a := &agents{
		messages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_invoke_agent_duration_seconds", Help: "From a message of a person to the end of the agent's turn.",
			Buckets: []float64{.1, .2, .4, .8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6},
		}, []string{"gen_ai_agent_name", "error_type"}),
		tools: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_execute_tool_duration_seconds", Help: "How long a tool ran.", Buckets: seconds,
		}, []string{"gen_ai_tool_name", "gen_ai_tool_type", "gen_ai_agent_name", "error_type"}),
	}
	r.MustRegister(a.messages, a.tools)
	return a
}

// Message implements [agent.Observer].
func (m *Metrics) Message(ctx context.Context, o *agent.Message) (context.Context, func()) {
	return ctx, func() { m.agents.messages.WithLabelValues("stopgate", o.Failure).Observe(since(o.Began, o.Ended)) }
}

// Model implements [agent.Observer].
func (m *Metrics) Model(ctx context.Context, o *agent.ModelCall) (context.Context, func()) {
	return ctx, func() {
		provider := (&gateway.Observed{Dialect: string(o.API), Address: o.Address}).Provider()
		answer := gateway.Answer{Model: o.Answer.Model, Tokens: gateway.Tokens(o.Answer.Tokens)}
		m.exchanges.asked(modelCall{provider, o.Model, o.Failure, o.Answer.Started, o.Stopped, answer, o.Began, o.First, o.Ended})
	}
}

// Tool implements [agent.Observer].
func (m *Metrics) Tool(ctx context.Context, o *agent.ToolCall) (context.Context, func()) {
	return ctx, func() {
		failure := ""
		if o.Failed {
			failure = "tool_error"
		}
		m.agents.tools.WithLabelValues(m.tool(o.Tool), "function", "stopgate", failure).Observe(since(o.Began, o.Ended))
	}
}
