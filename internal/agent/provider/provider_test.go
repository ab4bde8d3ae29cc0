package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canned is a provider with one response, which stores the request.
type canned struct {
	status int
	header http.Header
	body   string
	req    *http.Request
	sent   string
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.req, c.sent = r, string(body)
	if c.header == nil {
		c.header = http.Header{"Content-Type": {"text/event-stream"}}
	}
	if c.status == 0 {
		c.status = 200
	}
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
}

// received stores the calls of a sink.
type received struct {
	text, thinking strings.Builder
	calls          []string
	open           map[int]bool
	refuse         bool
}

func (h *received) Text(piece string)     { h.text.WriteString(piece) }
func (h *received) Thinking(piece string) { h.thinking.WriteString(piece) }
func (h *received) Refused() bool         { return h.refuse && len(h.open) > 0 }
func (h *received) Call(e *stopgate.Event) {
	switch e.Kind {
	case stopgate.CallStarted:
		if h.open == nil {
			h.open = map[int]bool{}
		}
		h.open[e.Call] = true
		h.calls = append(h.calls, string(e.Tool)+" ")
	case stopgate.CallArguments:
		h.calls[e.Call] += string(e.Args)
	case stopgate.CallEnded:
		h.calls[e.Call] += " " + e.End.String()
		delete(h.open, e.Call)
	case stopgate.CallRefused:
		h.calls[e.Call] += " " + string(e.Code)
		delete(h.open, e.Call)
	}
}

var tool = stopgate.ToolDefinition{Name: "f", Description: "does f", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string","x-stopgate-type":"path"}}}`)}

func ask(t *testing.T, c *canned, e provider.Endpoint, r provider.Request, h *received) (provider.Reply, error) {
	t.Helper()
	e.Transport, e.Model = c, "m"
	if e.URL == "" {
		e.URL = "https://host/v1"
	}
	r.Tools = []stopgate.ToolDefinition{tool}
	s, err := e.Ask(t.Context(), r, h)
	if err != nil {
		return provider.Reply{}, err
	}
	return s.Run()
}

// events joins events of a stream.
func events(list ...string) string {
	var b strings.Builder
	for _, e := range list {
		kind := ""
		var v struct{ Type string }
		if json.Unmarshal([]byte(e), &v) == nil && v.Type != "" {
			kind = "event: " + v.Type + "\n"
		}
		b.WriteString(kind + "data: " + e + "\n\n")
	}
	return b.String()
}

var messagesAnswer = events(
	`{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":7,"output_tokens":1}}}`,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm "}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\"so\""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"tu1","name":"f","input":{}}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`,
	`{"type":"message_stop"}`)

func TestMessages(t *testing.T) {
	c := &canned{body: messagesAnswer}
	var h received
	reply, err := ask(t, c, provider.Endpoint{API: provider.Messages, URL: "https://host", Key: "k"}, provider.Request{System: "be brief"}, &h)
	if err != nil || h.text.String() != "Hello" || h.thinking.String() != `hm "so"` || len(h.calls) != 1 || h.calls[0] != `f {"path":"a"} ended` {
		t.Errorf("%v %q %q %q", err, &h.text, &h.thinking, h.calls)
	}
	want := []conversation.Part{
		{Kind: conversation.Opaque, API: "anthropic", Raw: `{"type":"thinking","thinking":"hm \"so\"","signature":"sig=="}`},
		{Kind: conversation.Text, Text: "Hello"}, {Kind: conversation.Call, ID: "tu1", Tool: "f"},
	}
	if fmt.Sprint(reply.Parts) != fmt.Sprint(want) || reply.Usage != (provider.Usage{In: 7, Out: 9}) || reply.Stopped || reply.Limited {
		t.Errorf("%+v", reply)
	}
	if c.req.URL.String() != "https://host/v1/messages" || c.req.Header.Get("X-Api-Key") != "k" || c.req.Header.Get("Anthropic-Version") == "" {
		t.Errorf("%s %v", c.req.URL, c.req.Header)
	}
	if strings.Contains(c.sent, "x-stopgate-type") || !strings.Contains(c.sent, `"input_schema":{"type":"object"`) || !strings.Contains(c.sent, `"max_tokens":32000`) {
		t.Error(c.sent)
	}
}

func TestChat(t *testing.T) {
	chunk := func(delta, finish string) string {
		return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
	}
	c := &canned{body: events(
		chunk(`{"role":"assistant","content":""}`, "null"), chunk(`{"reasoning_content":"hm"}`, "null"), chunk(`{"content":"Hel"}`, "null"), chunk(`{"content":"lo"}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"a\"}"}}]}`, "null"),
		chunk(`{}`, `"tool_calls"`),
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
	) + "data: [DONE]\n\n"}
	var h received
	reply, err := ask(t, c, provider.Endpoint{API: provider.Chat, Key: "k"}, provider.Request{System: "s"}, &h)
	if err != nil || h.text.String() != "Hello" || h.thinking.String() != "hm" || h.calls[0] != `f {"path":"a"} ended` || reply.Usage != (provider.Usage{In: 3, Out: 4}) {
		t.Errorf("%v %q %q %+v", err, &h.text, h.calls, reply)
	}
	if c.req.URL.String() != "https://host/v1/chat/completions" || c.req.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("%s %v", c.req.URL, c.req.Header)
	}
}

// An opaque part is sent back unchanged to its own provider, and to no other.
func TestOpaquePartsGoBack(t *testing.T) {
	history := []conversation.Message{
		{Role: conversation.FromUser, Text: "a\"b"},
		{Role: conversation.FromModel, Parts: []conversation.Part{
			{Kind: conversation.Opaque, API: "anthropic", Raw: `{"type":"thinking","thinking":"hm","signature":"s"}`},
			{Kind: conversation.Opaque, API: "openai-responses", Raw: `{"type":"reasoning","id":"rs","encrypted_content":"e","summary":[]}`},
			{Kind: conversation.Text, Text: "t"},
			{Kind: conversation.Call, ID: "1", Tool: "bad name!", Args: `{"x":1}`},
		}},
		{Role: conversation.FromTools, Results: []conversation.CallResult{{ID: "1", Text: "no", Failed: true}}},
		{Role: conversation.FromUser, Text: "and"},
	}
	for api, want := range map[provider.API]string{
		provider.Chat:      `"messages":[{"role":"system","content":"s"},{"role":"user","content":"a\"b"},{"role":"assistant","content":"t","tool_calls":[{"id":"1","type":"function","function":{"name":"bad_name__12ad77e9","arguments":"{\"x\":1}"}}]},{"role":"tool","tool_call_id":"1","content":"no"},{"role":"user","content":"and"}]`,
		provider.Responses: `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a\"b"}]},{"type":"reasoning","id":"rs","encrypted_content":"e","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"t"}]},{"type":"function_call","call_id":"1","name":"bad_name__12ad77e9","arguments":"{\"x\":1}"},{"type":"function_call_output","call_id":"1","output":"no"},{"type":"message","role":"user","content":[{"type":"input_text","text":"and"}]}]`,
		provider.Messages:  `"messages":[{"role":"user","content":[{"type":"text","text":"a\"b"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"t"},{"type":"tool_use","id":"1","name":"bad_name__12ad77e9","input":{"x":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":"no"},{"type":"text","text":"and"}]}]`,
	} {
		c := &canned{status: 500}
		_, err := ask(t, c, provider.Endpoint{API: api}, provider.Request{System: "s", Messages: history}, new(received))
		if err == nil || !strings.Contains(c.sent, want) || !json.Valid([]byte(c.sent)) {
			t.Errorf("%s: %v %s", api, err, c.sent)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer canned
		want   string
		again  bool
		after  time.Duration
	}{
		{"unauthorised", canned{status: 401, body: `{"error":{"message":"bad key","type":"x"}}`}, "401 Unauthorized: bad key", false, 0},
		{"busy", canned{status: 429, header: http.Header{"Retry-After": {"7"}}, body: `{"type":"error","error":{"message":"slow down"}}`}, "429 Too Many Requests: slow down", true, 7 * time.Second},
		{"overloaded", canned{status: 529, body: "plain words"}, "529 : plain words", true, 0},
		{"a page", canned{header: http.Header{"Content-Type": {"text/html"}}, body: "<html>"}, "no event stream", false, 0},
		{"moved", canned{status: 302, header: http.Header{"Location": {"https://elsewhere"}}}, "302 Found", false, 0},
		{"no end", canned{body: strings.SplitAfter(messagesAnswer, "\n\n")[0]}, "stream_truncated", false, 0},
		{"no end of a call", canned{body: strings.Split(messagesAnswer, "event: message_delta")[0]}, "stream_truncated", false, 0},
		{"an error on the way", canned{body: events(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, "broke its answer off: Overloaded", false, 0},
		{"no JSON", canned{body: "data: {\n\n"}, "envelope_mismatch", false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h received
			reply, err := ask(t, &test.answer, provider.Endpoint{API: provider.Messages}, provider.Request{}, &h)
			after, again := provider.RetryAfter(err)
			if err == nil || !strings.Contains(err.Error(), test.want) || again != test.again || after != test.after {
				t.Errorf("%v %v %v", err, again, after)
			}
			if len(h.open) > 0 {
				t.Error("a call has no end")
			}
			if strings.Contains(test.name, "end of a call") && len(reply.Parts) != 3 {
				t.Errorf("%+v", reply)
			}
		})
	}
}

// slow is a body that blocks after its text until it is closed.
type slow struct {
	text   *strings.Reader
	closed chan struct{}
}

func (s *slow) Read(p []byte) (int, error) {
	if s.text.Len() > 0 {
		return s.text.Read(p)
	}
	<-s.closed
	return 0, errors.New("closed")
}

func (s *slow) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

type slowly struct{ body *slow }

func (s slowly) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: s.body, Request: r}, nil
}

// Proves D26-22, D26-24: a verdict from another goroutine stops a waiting response, as the end of
// the context does.
func TestStop(t *testing.T) {
	half := strings.Split(messagesAnswer, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}")[0]
	for _, how := range []string{"stop", "context"} {
		h := &received{}
		e := provider.Endpoint{API: provider.Messages, URL: "https://host", Transport: slowly{&slow{strings.NewReader(half), make(chan struct{})}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := e.Ask(ctx, provider.Request{Tools: []stopgate.ToolDefinition{tool}}, h)
		if err != nil {
			t.Fatal(err)
		}
		type result struct {
			reply provider.Reply
			err   error
		}
		done := make(chan result)
		go func() {
			reply, err := s.Run()
			done <- result{reply, err}
		}()
		gone := errors.New("gone")
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Millisecond):
					if how == "context" {
						cancel(gone)
					}
					s.Stop() // no effect before the call has arrived
				}
			}
		}()
		h.refuse = how == "stop"
		r := <-done
		cancel(nil)
		switch {
		case how == "stop" && (r.err != nil || !r.reply.Stopped || !strings.HasSuffix(h.calls[0], " cancelled")):
			t.Errorf("%+v %q", r, h.calls)
		case how == "context" && !errors.Is(r.err, gone):
			t.Errorf("%+v", r)
		}
	}
}

// Recorded responses of real models are read completely: every call has an end, and only broken
// responses are errors.
func TestRecordedAnswers(t *testing.T) {
	dir := corpus.Path(t, "streams")
	for folder, api := range map[string]provider.API{"openai-chat": provider.Chat, "openai-responses": provider.Responses, "anthropic-messages": provider.Messages} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.sse"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files", err)
		}
		calls, texts, broken := 0, 0, 0
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var h received
			reply, err := ask(t, &canned{body: string(body)}, provider.Endpoint{API: api}, provider.Request{}, &h)
			if err != nil {
				broken++
			}
			if len(h.open) > 0 {
				t.Errorf("%s: a call has no end", file)
			}
			n := 0
			for _, p := range reply.Parts {
				if p.Kind == conversation.Call {
					n++
				}
			}
			if n != len(h.calls) {
				t.Errorf("%s: %d calls in the reply, %d received", file, n, len(h.calls))
			}
			calls += n
			if h.text.Len() > 0 {
				texts++
			}
		}
		if calls < 50 || texts < 10 || broken > len(files)/10 {
			t.Errorf("%s: %d calls, %d texts, %d of %d broken", folder, calls, texts, broken, len(files))
		}
		t.Logf("%s: %d calls, %d texts, %d of %d broken", folder, calls, texts, broken, len(files))
	}
}

// A tool whose name a provider would refuse is declared and called under an alias; everything else
// uses its own name. The schema of a server is sent unchanged.
func TestAliases(t *testing.T) {
	long := stopgate.ToolName("server__" + strings.Repeat("x", 70))
	c := &canned{body: events(
		`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"wiki__get_page_a06429c5","arguments":"{}"}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`) + "data: [DONE]\n\n"}
	h := new(received)
	e := provider.Endpoint{API: provider.Chat, URL: "https://host/v1", Transport: c, Model: "m"}
	schema := `{"type":"object","$comment":"kept","properties":{"n":{"multipleOf":3}}}`
	s, err := e.Ask(t.Context(), provider.Request{Tools: []stopgate.ToolDefinition{
		{Name: "wiki__get.page", Schema: []byte(schema)}, {Name: long, Schema: []byte("{}")},
	}}, h)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(h.calls) != 1 || !strings.HasPrefix(h.calls[0], "wiki__get.page ") || reply.Parts[0].Tool != "wiki__get.page" {
		t.Errorf("%q %+v\n%s", h.calls, reply, c.sent)
	}
	var sent struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(c.sent), &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Tools) != 2 || len(sent.Tools[1].Function.Name) != 64 || !strings.Contains(c.sent, schema) {
		t.Errorf("%s", c.sent)
	}
}
