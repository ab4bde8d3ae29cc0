package otel_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

const rules = `version = 1
[tools.read.policy]
run = "unattended"
[tools.write.policy]
run = [{ arg = "/path", const = ".env", mode = "deny" }, { mode = "ask" }]
`

const answer = `data: {"id":"resp-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-0101","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[` +
	`{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"password\":\"hunter2\",\"path\":\"a\"}"}},` +
	`{"index":1,"id":"c2","type":"function","function":{"name":"write","arguments":"{\"path\":\".env\"}"}},` +
	`{"index":2,"id":"c3","type":"function","function":{"name":"write","arguments":"{\"path\":\"b\"}"}}]},"finish_reason":null}]}

data: {"id":"resp-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-0101","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"resp-1","object":"chat.completion.chunk","created":1,"model":"gpt-5-mini-0101","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":20}}}

data: [DONE]

`

// run sends one request through a traced gateway, and returns the headers that the provider
// received.
func run(t *testing.T, x *otel.Tracer, header map[string]string, tokens bool) http.Header {
	t.Helper()
	got := make(chan http.Header, 1)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got <- r.Header.Clone()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answer)
	}))
	defer up.Close()
	p, mistakes := prove.Compile([]policy.Source{{Name: "p", Trusted: true, Text: []byte(rules)}}, policy.Options{})
	if mistakes.HasErrors() {
		t.Fatal(mistakes)
	}
	g, err := gate.New(p, gate.WithTracer(x, "/**/password"), gate.WithApprover(ports.Approver(ports.Yes)), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{Gate: g, Settings: gateway.DefaultSettings(), Observer: x, Upstreams: []gateway.Upstream{{ID: "up", BaseURL: up.URL}}}
	if tokens {
		o.Token = "sg_token"
	}
	gw, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer gw.Close()
	srv := httptest.NewServer(gw)
	defer srv.Close()
	req, err := http.NewRequest("POST", srv.URL+"/v1/chat/completions", strings.NewReader(`{"model":"gpt-5-mini","stream":true,"n":1,"max_tokens":500,"messages":[{"role":"user","content":"prompt text"}],`+
		`"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}},{"type":"function","function":{"name":"write","parameters":{"type":"object"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), "[DONE]") {
		t.Fatalf("%v: %s", err, text)
	}
	return <-got
}

func open(t *testing.T, o otel.Options) *otel.Tracer {
	t.Helper()
	if o.Sample == 0 {
		o.Sample = 1
	}
	x, err := otel.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func closed(t *testing.T, x *otel.Tracer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := x.Close(ctx); err != nil {
		t.Error(err)
	}
}

// keeping is an exporter that keeps spans, also after Shutdown.
type keeping struct {
	mu    sync.Mutex
	spans tracetest.SpanStubs
}

func (k *keeping) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spans = append(k.spans, tracetest.SpanStubsFromReadOnlySpans(spans)...)
	return nil
}

func (k *keeping) Shutdown(context.Context) error { return nil }

func find(t *testing.T, list tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	var names []string
	for _, s := range list {
		if s.Name == name {
			return s
		}
		names = append(names, s.Name)
	}
	t.Fatalf("no span %q in %q", name, names)
	return tracetest.SpanStub{}
}

func attributes(s tracetest.SpanStub) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}

func wants(t *testing.T, s tracetest.SpanStub, kind trace.SpanKind, want map[string]string) {
	t.Helper()
	got := attributes(s)
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s: %s is %q, want %q", s.Name, key, got[key], value)
		}
	}
	if s.SpanKind != kind {
		t.Errorf("%s is a span of the kind %s", s.Name, s.SpanKind)
	}
	if s.EndTime.Before(s.StartTime) {
		t.Errorf("%s ends before it begins", s.Name)
	}
}

// Proves H17: an exchange is one trace with the names of the semantic conventions, with the model
// call and the decisions as child spans and no content.
func TestSpans(t *testing.T) {
	k := new(keeping)
	x := open(t, otel.Options{Exporter: k})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	header := run(t, x, map[string]string{"Traceparent": parent, "X-Stopgate-Session": "conversation-7"}, false)
	closed(t, x)
	if header.Get("Traceparent") != "" {
		t.Errorf("the provider got traceparent %q", header.Get("Traceparent"))
	}
	server := find(t, k.spans, "POST /v1/chat/completions")
	wants(t, server, trace.SpanKindServer, map[string]string{
		"http.request.method": "POST", "http.route": "/v1/chat/completions", "http.response.status_code": "200", "stopgate.dialect": "openai-chat", "stopgate.session.source": "header",
		"stopgate.calls": "3", "stopgate.calls.denied": "1", "stopgate.upstream": "up",
	})
	if id := attributes(server)["gen_ai.conversation.id"]; len(id) != 16 || strings.Contains(id, "conv") {
		t.Errorf("conversation %q", id)
	}
	var events []string
	for _, e := range server.Events {
		of := attributes(tracetest.SpanStub{Attributes: e.Attributes})
		events = append(events, e.Name+" "+of["gen_ai.tool.name"]+" "+of["gen_ai.tool.type"]+" "+of["gen_ai.tool.call.id"]+" "+of["gen_ai.operation.name"]+of["stopgate.code"])
	}
	slices.Sort(events)
	if got := strings.Join(events, ", "); got != "execute_tool read function c1 execute_tool, execute_tool write function c3 execute_tool, stopgate.denied write function c2 rule_matched" {
		t.Errorf("events %s", got)
	}
	if server.Parent.IsValid() {
		t.Error("a client without a token named the trace")
	}
	client := find(t, k.spans, "chat gpt-5-mini")
	wants(t, client, trace.SpanKindClient, map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5-mini", "gen_ai.request.stream": "true",
		"gen_ai.request.choice.count": "", "gen_ai.request.max_tokens": "500", "gen_ai.response.model": "gpt-5-mini-0101", "gen_ai.response.id": "resp-1",
		"gen_ai.response.finish_reasons": `["tool_calls"]`, "gen_ai.usage.input_tokens": "30", "gen_ai.usage.output_tokens": "12",
		"gen_ai.usage.cache_read.input_tokens": "20", "openai.api.type": "chat_completions", "server.address": "127.0.0.1",
	})
	denied := tracetest.SpanStub{}
	var decisions int
	for _, s := range k.spans {
		if s.SpanContext.TraceID() != server.SpanContext.TraceID() {
			t.Errorf("%s is of another trace", s.Name)
		}
		if strings.HasPrefix(s.Name, "stopgate.decide ") {
			decisions++
			if s.Parent.SpanID() != server.SpanContext.SpanID() {
				t.Errorf("%s is not below the exchange", s.Name)
			}
			if attributes(s)["gen_ai.tool.call.id"] == "c2" {
				denied = s
			}
		}
		for key, value := range attributes(s) {
			if strings.Contains(value, "hunter2") || strings.Contains(value, "prompt text") || key == "gen_ai.tool.call.arguments" {
				t.Errorf("%s: content in %s: %s", s.Name, key, value)
			}
		}
	}
	if decisions != 3 {
		t.Errorf("%d decisions", decisions)
	}
	wants(t, denied, trace.SpanKindInternal, map[string]string{
		"gen_ai.tool.name": "write", "gen_ai.tool.type": "function", "stopgate.mode": "deny", "stopgate.code": "rule_matched", "stopgate.surface": "gateway",
		"stopgate.args.bytes": "15", "stopgate.decision": "denied", "stopgate.provisional": "false",
	})
	approve := find(t, k.spans, "stopgate.approve")
	wants(t, approve, trace.SpanKindInternal, map[string]string{"stopgate.approval.result": "approved"})
}

// Spans contain the facts about approvers, judges and broken calls.
func TestDecisionSpans(t *testing.T) {
	const allow, deny = "approved", "denied"
	for _, c := range []struct {
		name   string
		event  gate.TraceEvent
		layer  stopgate.Layer
		given  *stopgate.Approval // in the row
		decide map[string]string
		asked  map[string]string
		judge  map[string]string
	}{
		{name: "a yes", event: gate.TraceEvent{Asked: time.Second, Answer: &stopgate.Approval{ID: "a1", By: "ann"}, Via: "terminal"}, given: &stopgate.Approval{ID: "a1", By: "ann"},
			asked: map[string]string{"stopgate.approval.id": "a1", "stopgate.approval.by": "ann", "stopgate.approval.channel": "terminal", "stopgate.approval.result": allow}},
		{name: "a no", event: gate.TraceEvent{Asked: time.Second, Answer: &stopgate.Approval{ID: "a1", By: "ann"}, Via: "page"},
			asked: map[string]string{"stopgate.approval.id": "a1", "stopgate.approval.by": "ann", "stopgate.approval.channel": "page", "stopgate.approval.result": deny}},
		{name: "no answer", event: gate.TraceEvent{Asked: time.Second},
			asked: map[string]string{"stopgate.approval.id": "", "stopgate.approval.by": "", "stopgate.approval.channel": "", "stopgate.approval.result": deny}},
		{name: "a judge", event: gate.TraceEvent{Judge: &stopgate.Review{Model: "m", API: "anthropic", Address: "llm.example.com:8443"}},
			judge: map[string]string{"gen_ai.provider.name": "anthropic", "server.address": "llm.example.com", "server.port": "8443", "stopgate.judge": "true"}},
		{name: "a judge elsewhere", event: gate.TraceEvent{Judge: &stopgate.Review{Model: "m", API: "openai", Address: "api.groq.com"}},
			judge: map[string]string{"gen_ai.provider.name": "groq", "server.address": "api.groq.com", "server.port": ""}},
		{name: "a judge in Go", event: gate.TraceEvent{Judge: &stopgate.Review{Model: "m"}},
			judge: map[string]string{"gen_ai.provider.name": "", "server.address": ""}},
		{name: "cut off", event: gate.TraceEvent{Partial: true}, layer: stopgate.LayerIntegrity, decide: map[string]string{"stopgate.provisional": "true"}},
		{name: "refused early", event: gate.TraceEvent{Partial: true}, layer: stopgate.LayerRules, decide: map[string]string{"stopgate.provisional": "false"}},
		{name: "refused at the end", event: gate.TraceEvent{}, layer: stopgate.LayerIntegrity, decide: map[string]string{"stopgate.provisional": "false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := new(keeping)
			x := open(t, otel.Options{Exporter: k})
			c.event.Row = &stopgate.Record{Tool: "t", Surface: stopgate.SurfaceDecide, Layer: c.layer, Approval: c.given}
			x.Trace(t.Context(), c.event)
			closed(t, x)
			wants(t, find(t, k.spans, "stopgate.decide t"), trace.SpanKindInternal, c.decide)
			if c.asked != nil {
				wants(t, find(t, k.spans, "stopgate.approve"), trace.SpanKindInternal, c.asked)
			}
			if c.judge != nil {
				wants(t, find(t, k.spans, "chat m"), trace.SpanKindClient, c.judge)
			}
		})
	}
}

// A client with a token names the trace; with Content, arguments are shown except redacted ones,
// and with Propagate the trace is sent to the provider.
func TestTraceOfAKnownClient(t *testing.T) {
	k := new(keeping)
	x := open(t, otel.Options{Exporter: k, Content: true, Propagate: true})
	header := run(t, x, map[string]string{"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Stopgate-Token": "sg_token"}, true)
	closed(t, x)
	server := find(t, k.spans, "POST /v1/chat/completions")
	if server.SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" || server.Parent.SpanID().String() != "b7ad6b7169203331" {
		t.Errorf("the trace is %s", server.SpanContext.TraceID())
	}
	client := find(t, k.spans, "chat gpt-5-mini")
	if want := "00-0af7651916cd43dd8448eb211c80319c-" + client.SpanContext.SpanID().String() + "-01"; header.Get("Traceparent") != want {
		t.Errorf("the provider got %q, want %q", header.Get("Traceparent"), want)
	}
	if got := attributes(find(t, k.spans, "stopgate.decide read"))["gen_ai.tool.call.arguments"]; got != `{"password":"[redacted]","path":"a"}` {
		t.Errorf("arguments %s", got)
	}
}

// blocked is an exporter that never returns.
type blocked struct{ keeping }

func (b *blocked) ExportSpans(ctx context.Context, _ []sdk.ReadOnlySpan) error {
	<-ctx.Done()
	return ctx.Err()
}

// Proves FM3: a blocked exporter delays no decision; spans are dropped and counted.
func TestBlockedExporter(t *testing.T) {
	x := open(t, otel.Options{Exporter: new(blocked)})
	begin := time.Now()
	row := stopgate.Record{Tool: "t"}
	for range 10_000 {
		x.Trace(context.Background(), gate.TraceEvent{Name: gate.TraceTool, Row: &row, Took: time.Millisecond})
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("10,000 decisions took %v", took)
	}
	if got := x.Stats(); got.Dropped == 0 || got.Exported != 0 {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := x.Close(ctx); err == nil {
		t.Error("closing waited for nothing")
	}
}

// The real exporter speaks OTLP over HTTP to a collector, with its headers; failures are counted.
func TestCollector(t *testing.T) {
	var mu sync.Mutex
	var names []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		in, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(in)
		var request collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &request) != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "a b" {
			t.Errorf("%s %v, %v", r.URL.Path, r.Header, err)
		}
		for _, resource := range request.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				names = append(names, a.Key+"="+a.Value.GetStringValue())
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					names = append(names, s.Name)
				}
			}
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	headers, err := otel.ParseHeaders("x-key=a%20b, y=z")
	if err != nil {
		t.Fatal(err)
	}
	row := stopgate.Record{Tool: "t"}
	x := open(t, otel.Options{Endpoint: server.URL, Headers: headers, Service: "gate", Version: "1", Instance: "i"})
	x.Trace(t.Context(), gate.TraceEvent{Name: gate.TraceTool, Row: &row})
	closed(t, x)
	if got := strings.Join(names, " "); !strings.Contains(got, "service.name=gate") || !strings.Contains(got, "stopgate.decide t") {
		t.Errorf("the collector got %s", got)
	}
	if got := x.Stats(); got.Exported != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}

	mu.Lock()
	status = http.StatusBadRequest
	mu.Unlock()
	failures := 0
	x = open(t, otel.Options{Endpoint: server.URL, Headers: headers, Failed: func(error) { failures++ }})
	x.Trace(t.Context(), gate.TraceEvent{Name: gate.TraceHandoff, Handoff: "billing", Row: &row})
	closed(t, x)
	if got := x.Stats(); got.Failed != 1 || failures != 1 {
		t.Errorf("%+v, %d failures", got, failures)
	}
}

// Proves F18: spans, and the headers with the key, go only to the collector.
func TestCollectorThatSendsElsewhere(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler(other.URL, status))
		var failed error
		x := open(t, otel.Options{Endpoint: server.URL, Headers: map[string]string{"x-key": "k"}, Failed: func(err error) { failed = err }})
		x.Trace(t.Context(), gate.TraceEvent{Name: gate.TraceTool, Row: &stopgate.Record{Tool: "t"}})
		closed(t, x)
		server.Close()
		if n := elsewhere.Load(); n != 0 || failed == nil || !strings.Contains(failed.Error(), "which is not followed") {
			t.Errorf("%d: %d requests elsewhere, error %v", status, n, failed)
		}
	}
}

// Nothing is sampled at 0, and invalid settings are refused.
func TestSettings(t *testing.T) {
	k := new(keeping)
	x, err := otel.Open(t.Context(), otel.Options{Exporter: k, Sample: 0})
	if err != nil {
		t.Fatal(err)
	}
	run(t, x, nil, false)
	closed(t, x)
	if len(k.spans) != 0 {
		t.Errorf("%d spans", len(k.spans))
	}
	for _, bad := range []float64{-1, 2} {
		if _, err := otel.Open(t.Context(), otel.Options{Exporter: k, Sample: bad}); err == nil {
			t.Errorf("sample %v", bad)
		}
	}
	for _, bad := range []string{"x", "=y", "a=b,c", "a=%zz"} {
		if _, err := otel.ParseHeaders(bad); err == nil {
			t.Errorf("headers %q", bad)
		}
	}
	for address, want := range map[string]string{
		"api.openai.com": "openai", "eu.api.openai.com:443": "openai", "notopenai.com": "openai", "api.anthropic.com": "anthropic",
		"x.openai.azure.com": "azure.ai.openai", "127.0.0.1:80": "openai",
	} {
		if got := (&gateway.Observed{Address: address, Dialect: "openai-chat"}).Provider(); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	if got := (&gateway.Observed{Address: "127.0.0.1:80", Dialect: "anthropic"}).Provider(); got != "anthropic" {
		t.Error(got)
	}
}
