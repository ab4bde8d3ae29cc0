package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/record/metrics"
)

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// Proves H18: model calls are counted under the names of the conventions; model names that clients
// make up create a bounded number of series.
func TestExchanges(t *testing.T) {
	m := metrics.New(nil)
	at := time.Now()
	o := &gateway.Observed{
		Dialect: "openai-chat", Model: "gpt-5", Streamed: true, Address: "api.openai.com", Sent: at, First: at.Add(300 * time.Millisecond), Ended: at.Add(2 * time.Second),
		UpstreamStatus: http.StatusOK, Arguments: 100, Discarded: 40, Cancelled: true,
		Answer: gateway.Answer{Model: "gpt-5-0807", Tokens: gateway.Tokens{Known: true, Input: 1000, Output: 20}},
	}
	m.End(o)
	refused := *o
	refused.Model, refused.UpstreamStatus, refused.Cancelled, refused.First = "nonsense", http.StatusNotFound, false, time.Time{}
	m.End(&refused)
	unstreamed := *o
	unstreamed.Model, unstreamed.Streamed = "unstreamed", false
	m.End(&unstreamed)
	canned := *o
	canned.Canned = true
	m.End(&canned)
	for i := range 200 {
		made := *o
		made.Model = fmt.Sprint("made-up-", i)
		m.End(&made)
	}
	m.Note(t.Context(), stopgate.Record{Event: stopgate.AuditNotEvaluated, Code: stopgate.CodeNotEvaluated})
	m.Note(t.Context(), stopgate.Record{Event: stopgate.AuditReload})
	m.Drops("redis", func() float64 { return 3 })
	text := scrape(t, m)
	for _, want := range []string{
		`gen_ai_client_operation_duration_seconds_sum{error_type="",gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="gpt-5-0807"} 2`,
		`gen_ai_client_operation_duration_seconds_count{error_type="404",gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="_other",gen_ai_response_model=""} 1`,
		`gen_ai_client_operation_time_to_first_chunk_seconds_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="gpt-5-0807"} 0.3`,
		`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="gpt-5-0807",gen_ai_token_type="input"} 1000`,
		`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-5",gen_ai_response_model="gpt-5-0807",gen_ai_token_type="output"} 20`,
		`stopgate_arguments_bytes_total 20400`, `stopgate_arguments_discarded_bytes_total 8160`,
		`stopgate_upstream_cancelled_total{gen_ai_provider_name="openai"} 202`,
		`stopgate_not_evaluated_total{code="not_evaluated"} 1`, `stopgate_telemetry_dropped_total{reason="redis"} 3`,
		`gen_ai_request_model="made-up-60"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, "made-up-61") || strings.Contains(text, "nonsense") {
		t.Error("clients make series up")
	}
	if strings.Contains(text, `time_to_first_chunk_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="unstreamed"`) {
		t.Error("an answer that is not streamed has no first chunk")
	}
	if t.Failed() {
		t.Log(text)
	}
}
