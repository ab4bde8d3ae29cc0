package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/record/metrics"
)

// Proves H18: the terminal agent counts messages, model calls and executed calls under the names of
// the conventions; a model cannot create series.
func TestAgent(t *testing.T) {
	m := metrics.New(map[stopgate.ToolName]stopgate.ToolName{"read": "read"})
	at := time.Now()
	_, end := m.Message(t.Context(), &agent.Message{Began: at, Ended: at.Add(3 * time.Second), Failure: "cancelled"})
	end()
	_, end = m.Model(t.Context(), &agent.ModelCall{
		API: "anthropic", Address: "api.anthropic.com:443", Model: "claude-sonnet-5", Began: at, First: at.Add(time.Second), Ended: at.Add(2 * time.Second), Stopped: true,
		Answer: provider.ResponseInfo{Started: true, Model: "claude-sonnet-5-1", Tokens: provider.Tokens{Known: true, Input: 7, Output: 5}},
	})
	end()
	_, end = m.Model(t.Context(), &agent.ModelCall{API: "openai-chat", Model: "made-up", Began: at, Ended: at, Failure: "404"})
	end()
	for _, c := range []agent.ToolCall{{Tool: "read"}, {Tool: "read", Failed: true}, {Tool: "made-up"}} {
		c.Began, c.Ended = at, at.Add(time.Second)
		_, end := m.Tool(t.Context(), &c)
		end()
	}
	text := scrape(t, m)
	for _, want := range []string{
		`gen_ai_invoke_agent_duration_seconds_sum{error_type="cancelled",gen_ai_agent_name="stopgate"} 3`,
		`gen_ai_client_operation_duration_seconds_sum{error_type="",gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="claude-sonnet-5",gen_ai_response_model="claude-sonnet-5-1"} 2`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_sum{gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model="claude-sonnet-5",gen_ai_response_model="claude-sonnet-5-1"} 1`,
		`gen_ai_client_operation_duration_seconds_count{error_type="404",gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="_other",gen_ai_response_model=""} 1`,
		`stopgate_upstream_cancelled_total{gen_ai_provider_name="anthropic"} 1`,
		`gen_ai_execute_tool_duration_seconds_sum{error_type="",gen_ai_agent_name="stopgate",gen_ai_tool_name="read",gen_ai_tool_type="function"} 1`,
		`gen_ai_execute_tool_duration_seconds_count{error_type="tool_error",gen_ai_agent_name="stopgate",gen_ai_tool_name="read",gen_ai_tool_type="function"} 1`,
		`gen_ai_execute_tool_duration_seconds_count{error_type="",gen_ai_agent_name="stopgate",gen_ai_tool_name="_other",gen_ai_tool_type="function"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "made-up") {
		t.Error("a model makes series up")
	}
}
