package otel_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/record/otel"
	"github.com/stopgate/stopgate/mcpgate"
)

// conventions are the names of OpenTelemetry's conventions that spans use, from their pages on
// 2026-11-21: semantic-conventions-genai docs/gen-ai/gen-ai-spans, gen-ai-agent-spans, mcp and
// openai, semantic-conventions docs/http/http-spans.
var conventions = map[string]string{
	"gen_ai.operation.name": "string", "gen_ai.provider.name": "string", "gen_ai.conversation.id": "string", "gen_ai.agent.name": "string",
	"gen_ai.request.model": "string", "gen_ai.request.max_tokens": "int64", "gen_ai.request.choice.count": "int64", "gen_ai.request.stream": "bool",
	"gen_ai.response.model": "string", "gen_ai.response.id": "string", "gen_ai.response.finish_reasons": "[]string", "gen_ai.response.time_to_first_chunk": "float64",
	"gen_ai.usage.input_tokens": "int64", "gen_ai.usage.output_tokens": "int64", "gen_ai.usage.cache_read.input_tokens": "int64",
	"gen_ai.usage.cache_creation.input_tokens": "int64", "gen_ai.usage.reasoning.output_tokens": "int64",
	"gen_ai.tool.name": "string", "gen_ai.tool.type": "string", "gen_ai.tool.call.id": "string", "gen_ai.prompt.name": "string",
	"gen_ai.tool.call.arguments": "string", "gen_ai.tool.call.result": "string", "gen_ai.tool.definitions": "string",
	"gen_ai.system_instructions": "string", "gen_ai.input.messages": "string", "gen_ai.output.messages": "string",
	"openai.api.type": "string",
	"mcp.method.name": "string", "mcp.protocol.version": "string", "mcp.session.id": "string", "mcp.resource.uri": "string",
	"jsonrpc.request.id": "string", "rpc.response.status_code": "string", "network.transport": "string", "network.protocol.name": "string", "network.protocol.version": "string",
	"http.request.method": "string", "http.route": "string", "http.response.status_code": "int64", "url.path": "string", "url.scheme": "string",
	"server.address": "string", "server.port": "int64", "error.type": "string",
}

// Every attribute of every span is in the conventions, with its type, or is one of stopgate; and
// every name in the table above is sent.
func TestNames(t *testing.T) {
	k := everything(t)
	seen := map[string]bool{}
	for _, s := range k.spans {
		for _, a := range s.Attributes {
			name := string(a.Key)
			seen[name] = true
			want, ok := conventions[name]
			if got := strings.ToLower(a.Value.Type().String()); ok && got != want && !(got == "stringslice" && want == "[]string") {
				t.Errorf("%s: %s is %s, the conventions say %s", s.Name, name, got, want)
			}
			if !ok && !strings.HasPrefix(name, "stopgate.") {
				t.Errorf("%s: the conventions have no %s", s.Name, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(conventions)) {
		if !seen[name] {
			t.Errorf("no span has %s", name)
		}
	}
}

// everything returns the spans of an exchange, of MCP and of the agent, with all attributes.
func everything(t *testing.T) *keeping {
	k := new(keeping)
	x := open(t, otel.Options{Exporter: k, Content: true, Hide: gate.Hide("/**/password"), Propagate: true})
	run(t, x, nil, false)
	at := time.Now()
	o := &gateway.Observed{
		Method: "POST", Route: "/v1/messages", Path: "/v1/messages", Scheme: "http", Dialect: "anthropic", Principal: "local", Session: "s", Model: "m", Choices: 2, Limit: 9, Streamed: true,
		Address: "api.anthropic.com:443", Begun: at, Sent: at, First: at, Ended: at, UpstreamStatus: 500, Status: 502, Fault: stopgate.CodeUpstreamError, Events: true,
		Answer: gateway.Answer{ID: "i", Model: "m", FinishReasons: []string{"end_turn"}, Tokens: gateway.Tokens{Known: true, Input: 5, Output: 4, CacheRead: 1, CacheCreation: 2, Reasoning: 3}},
	}
	_, obs := x.Begin(t.Context(), httptest.NewRequest("POST", "/v1/messages", nil), o)
	w := obs.(gateway.ContentObservation).Content(o, []byte(`{"system":"be brief","messages":[{"role":"user","content":"hello"}],"tools":[{"name":"read"}]}`))
	_, _ = w.Write([]byte("data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"hi\"}}\n\n"))
	obs.Send(o, http.Header{})
	obs.End(o)
	for _, m := range []*mcpgate.Observed{
		{Method: "tools/call", Tool: "read", Version: "2025-11-25", ID: "7", Session: "secret", Transport: "tcp", Protocol: "http", Arguments: []byte(`{"password":1}`), Result: []byte(`{"content":[]}`)},
		{Outgoing: true, Method: "prompts/get", Prompt: "p", Server: "files", Address: "mcp.example:443", Failure: "-32602", Code: "-32602"},
		{Method: "resources/read", Resource: "file:///x", Transport: "pipe"},
	} {
		m.Began = at
		_, end := x.Request(t.Context(), m)
		m.Ended = at
		end()
	}
	ctx, end := x.Message(t.Context(), &agent.Message{Session: "s", Model: "m", Began: at, Ended: at})
	call := &agent.ModelCall{
		Session: "s", API: "openai-responses", Address: "api.openai.com:443", Model: "m", Began: at, First: at, Ended: at, Stopped: true, Failure: "cancelled",
		Body: []byte(`{"input":"hello"}`),
	}
	_, endCall := x.Model(ctx, call)
	_, _ = call.Copy.Write([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"hi\"}}\n\n"))
	endCall()
	for _, c := range []*agent.ToolCall{
		{Tool: "files__read", ID: "c1", Server: "files", Transport: "pipe", Began: at, Ended: at, Arguments: `{"password":"hunter2"}`, Result: "text\xff"},
		{Tool: "run", Began: at, Ended: at, Failed: true, Result: "no"},
	} {
		_, end := x.Tool(ctx, c)
		end()
	}
	end()
	closed(t, x)
	return k
}

// Proves H17: with Content set, content is in the spans, in the form of the conventions, with the
// hidden values hidden; no other span has content.
func TestContent(t *testing.T) {
	k := everything(t)
	var chats []string
	for _, s := range k.spans {
		of := attributes(s)
		for name, value := range of {
			if strings.Contains(value, "hunter2") || strings.Contains(value, "secret") {
				t.Errorf("%s: %s is %s", s.Name, name, value)
			}
		}
		if s.SpanKind == trace.SpanKindClient && strings.HasPrefix(s.Name, "chat ") {
			chats = append(chats, of["gen_ai.input.messages"]+" "+of["gen_ai.system_instructions"]+" "+of["gen_ai.tool.definitions"]+" "+of["gen_ai.output.messages"])
		}
	}
	want := []string{
		`[{"role":"user","parts":[{"type":"text","content":"prompt text"}]}]  [{"type":"function","name":"read"},{"type":"function","name":"write"}] ` +
			`[{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"read","arguments":{"password":"[redacted]","path":"a"}},` +
			`{"type":"tool_call","id":"c2","name":"write","arguments":{"path":".env"}},{"type":"tool_call","id":"c3","name":"write","arguments":{"path":"b"}}]}]`,
		`[{"role":"user","parts":[{"type":"text","content":"hello"}]}] [{"type":"text","content":"be brief"}] [{"type":"function","name":"read"}] [{"role":"assistant","parts":[{"type":"text","content":"hi"}]}]`,
		`[{"role":"user","parts":[{"type":"text","content":"hello"}]}]   [{"role":"assistant","parts":[{"type":"text","content":"hi"}]}]`,
	}
	if !slices.Equal(chats, want) {
		t.Errorf("%q\nwant\n%q", chats, want)
	}
	for _, c := range []struct {
		span string
		kind trace.SpanKind
		want map[string]string
	}{
		{"execute_tool files__read", trace.SpanKindInternal, map[string]string{
			"gen_ai.tool.call.arguments": `{"password":"[redacted]"}`, "gen_ai.tool.call.result": "text\uFFFD", "gen_ai.tool.call.id": "c1", "mcp.method.name": "tools/call",
			"network.transport": "pipe", "stopgate.server": "files", "error.type": "",
		}},
		{"execute_tool run", trace.SpanKindInternal, map[string]string{"gen_ai.tool.call.result": "", "error.type": "tool_error", "mcp.method.name": ""}},
		{"tools/call read", trace.SpanKindServer, map[string]string{
			"gen_ai.tool.call.arguments": `{"password":"[redacted]"}`, "gen_ai.tool.call.result": `{"content":[]}`, "mcp.session.id": "2bb80d537b1da3e3", "jsonrpc.request.id": "7", "network.protocol.name": "http",
		}},
		{"prompts/get p", trace.SpanKindClient, map[string]string{"rpc.response.status_code": "-32602", "error.type": "-32602", "server.address": "mcp.example", "server.port": "443"}},
		{"resources/read", trace.SpanKindServer, map[string]string{"mcp.resource.uri": "file:///x", "network.transport": "pipe", "gen_ai.operation.name": ""}},
		{"invoke_agent stopgate", trace.SpanKindInternal, map[string]string{"gen_ai.agent.name": "stopgate", "gen_ai.operation.name": "invoke_agent"}},
	} {
		wants(t, find(t, k.spans, c.span), c.kind, c.want)
	}
}

// Without Content no span has content.
func TestNoContent(t *testing.T) {
	k := new(keeping)
	x := open(t, otel.Options{Exporter: k})
	o := &gateway.Observed{Method: "POST", Route: "/v1/messages", Dialect: "anthropic", Principal: "local", Model: "m"}
	_, obs := x.Begin(t.Context(), httptest.NewRequest("POST", "/v1/messages", nil), o)
	if w := obs.(gateway.ContentObservation).Content(o, []byte(`{}`)); w != nil {
		t.Error("the answer is copied")
	}
	obs.End(o)
	call := &agent.ModelCall{API: "anthropic", Model: "m", Body: []byte(`{"messages":[{"role":"user","content":"secret"}]}`)}
	_, end := x.Model(t.Context(), call)
	if end(); call.Copy != nil {
		t.Error("the agent's answer is copied")
	}
	for _, m := range []*mcpgate.Observed{{Method: "tools/call", Tool: "t", Arguments: []byte(`{"a":"secret"}`), Result: []byte(`"secret"`)}, {Method: "resources/read", Resource: "secret"}} {
		_, end := x.Request(t.Context(), m)
		end()
	}
	_, end = x.Tool(t.Context(), &agent.ToolCall{Tool: "t", Arguments: `{"a":"secret"}`, Result: "secret"})
	end()
	closed(t, x)
	if len(k.spans) != 5 {
		t.Fatalf("%d spans", len(k.spans))
	}
	for _, s := range k.spans {
		for name, value := range attributes(s) {
			if strings.Contains(value, "secret") {
				t.Errorf("%s: %s is %s", s.Name, name, value)
			}
		}
	}
}

// Proves 10.2: the request of an MCP client belongs to the trace that it names, and the server
// learns the trace if the client named one or Propagate is set.
func TestMCPTrace(t *testing.T) {
	const parent, state = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "v=1"
	for _, c := range []struct {
		name      string
		in        mcpgate.Observed
		propagate bool
		joins     bool
		tells     bool
	}{
		{"the client's", mcpgate.Observed{Traced: true, Traceparent: parent, Tracestate: state}, false, true, true},
		{"one that cannot be believed", mcpgate.Observed{Traced: true}, false, false, true},
		{"none", mcpgate.Observed{}, false, false, false},
		{"none, with the setting", mcpgate.Observed{}, true, false, true},
	} {
		k := new(keeping)
		x := open(t, otel.Options{Exporter: k, Propagate: c.propagate})
		in := c.in
		in.Method = "tools/list"
		ctx, end := x.Request(t.Context(), &in)
		out := &mcpgate.Observed{Outgoing: true, Method: "tools/list", Traced: in.Traced}
		_, endOut := x.Request(ctx, out)
		endOut()
		end()
		closed(t, x)
		server, client := k.spans[1], k.spans[0]
		if joins := server.SpanContext.TraceID().String() == "0af7651916cd43dd8448eb211c80319c"; joins != c.joins || joins && server.Parent.SpanID().String() != "b7ad6b7169203331" {
			t.Errorf("%s: the span is of trace %s below %s", c.name, server.SpanContext.TraceID(), server.Parent.SpanID())
		}
		want := ""
		if c.tells {
			want = "00-" + client.SpanContext.TraceID().String() + "-" + client.SpanContext.SpanID().String() + "-01"
		}
		if out.Traceparent != want || c.joins && out.Tracestate != state {
			t.Errorf("%s: the server gets %q %q, want %q", c.name, out.Traceparent, out.Tracestate, want)
		}
	}
}
