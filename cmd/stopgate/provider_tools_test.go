package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// bodyModel is a model that answers every request with the body that was set last.
type bodyModel struct {
	*httptest.Server
	body  atomic.Value // string
	asked atomic.Int32
}

func newBodyModel(t *testing.T) *bodyModel {
	t.Helper()
	m := new(bodyModel)
	m.body.Store("")
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, m.body.Load().(string))
	}))
	t.Cleanup(m.Close)
	return m
}

// upstreams are the flags that make it the upstream of every dialect.
func (m *bodyModel) upstreams() []string {
	return []string{"--openai-upstream", m.URL + "/v1", "--anthropic-upstream", m.URL}
}

// wholeAnswers are answers without a call, by the path of their dialect. %s is a member of
// the message.
var wholeAnswers = map[string]string{
	"/v1/chat/completions": `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",%s"content":"hello"},"finish_reason":"stop"}]}`,
	"/v1/responses":        `{"id":"r1","object":"response","status":"completed","model":"m","error":null,"output":[{"id":"m1","type":"message","status":"completed","role":"assistant",%s"content":[{"type":"output_text","annotations":[],"text":"hello"}]}]}`,
	"/v1/messages":         `{"id":"m1","type":"message","role":"assistant","model":"m",%s"content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
}

// providerTools are requests that make the provider run a tool, in every way in which
// providers let them.
var providerTools = []struct{ path, body, tool string }{
	{"/v1/responses", `"model":"m","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]`, "web_search"},
	{"/v1/responses", `"model":"m","input":[{"type":"tool_search_output","call_id":"t","tools":[{"type":"code_interpreter"}]}]`, "code_interpreter"},
	{"/v1/responses", `"model":"m","input":[{"type":"mcp_list_tools","server_label":"s","tools":[{"name":"x","input_schema":{}}]}]`, "mcp"},
	{"/v1/chat/completions", `"model":"m","messages":[],"mcp_servers":[{"type":"url","url":"https://s"}]`, "mcp_servers"},
	{"/v1/chat/completions", `"model":"m","messages":[],"web_search":true`, "web_search"},
	{"/v1/chat/completions", `"model":"m","messages":[],"data_sources":[{"type":"azure_search","parameters":{}}]`, "data_sources"},
	{"/v1/chat/completions", `"model":"m","messages":[],"connectors":[{"id":"web-search"}]`, "connectors"},
	{"/v1/chat/completions", `"model":"m","messages":[],"venice_parameters":{"enable_web_search":"on"}`, "venice_parameters"},
	{"/v1/chat/completions", `"model":"m","messages":[],"extra_body":{"tools":[{"type":"function"}]}`, "extra_body.tools"},
	{"/v1/chat/completions", `"model":"m","messages":[],"enable_search":true`, "enable_search"},
	{"/v1/chat/completions", `"model":"openai/gpt-4o:online","messages":[]`, "model:openai/gpt-4o:online"},
	{"/v1/chat/completions", `"model":"gpt-4o-search-preview","messages":[]`, "model:gpt-4o-search-preview"},
	{"/v1/chat/completions", `"model":"groq/compound-mini","messages":[]`, "model:groq/compound-mini"},
	{"/v1/messages", `"model":"sonar-pro","max_tokens":9,"messages":[]`, "model:sonar-pro"},
}

// Proves S57, L12 with the built program: a request that makes the provider run a tool is
// refused before anything is sent, unless server_tools lists the tool; then its calls are recorded.
func TestProviderToolsAreRefused(t *testing.T) {
	model := newBodyModel(t)
	for _, listed := range []bool{false, true} {
		policy := guardsOnly
		if listed {
			var tools []string
			for _, c := range providerTools {
				tools = append(tools, fmt.Sprintf("%q", c.tool))
			}
			policy += "[gateway]\nserver_tools = [" + strings.Join(tools, ",") + "]\n"
		}
		dir := liveIn(t, policy)
		s := startUp(t, dir, append([]string{"--policy", "p.toml", "--store", "memory", "--audit", "rows.jsonl"}, model.upstreams()...)...)
		for _, c := range providerTools {
			model.body.Store(fmt.Sprintf(wholeAnswers[c.path], ""))
			before := model.asked.Load()
			status, answer := post(t, s.url+c.path, "{"+c.body+"}")
			if listed {
				if status != http.StatusOK || !strings.Contains(answer, "hello") {
					t.Errorf("listed %s: status %d: %s", c.tool, status, answer)
				}
				continue
			}
			if status != http.StatusBadRequest || !strings.Contains(answer, "server_tool_not_allowed") || !strings.Contains(answer, "server_tools") {
				t.Errorf("%s of %s: status %d: %s", c.tool, c.path, status, answer)
			}
			if model.asked.Load() != before {
				t.Errorf("%s of %s: the request was sent", c.tool, c.path)
			}
		}
		if listed { // a call that ran at the provider
			model.body.Store(fmt.Sprintf(wholeAnswers["/v1/responses"], `"content":[]},{"type":"web_search_call","id":"w1","status":"completed","action":{"type":"search","query":"q"}},{"id":"m2","type":"message","role":"assistant",`))
			if status, answer := post(t, s.url+"/v1/responses", "{"+providerTools[0].body+"}"); status != http.StatusOK || !strings.Contains(answer, "w1") {
				t.Errorf("status %d: %s", status, answer)
			}
			rows, err := os.ReadFile(filepath.Join(dir, "rows.jsonl"))
			if n := strings.Count(string(rows), `"event":"not_evaluated"`); err != nil || n != 1 {
				t.Errorf("%d rows, %v: %s", n, err, rows)
			}
		}
		s.stop(t)
	}
}

// Proves F14 with the built program: an answer of another kind than the one that was asked for
// is 502, and nothing of it reaches the client.
func TestAnswersOfAnotherKindAreRefused(t *testing.T) {
	model := newBodyModel(t)
	dir := liveIn(t, guardsOnly)
	s := startUp(t, dir, append([]string{"--policy", "p.toml", "--store", "memory", "--audit", "rows.jsonl"}, model.upstreams()...)...)
	const call = `{"id":"call_1","type":"function","function":{"name":"a","arguments":"{}"}}`
	events := []string{
		`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[` + call + `]},"finish_reason":null}]}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"call_1","name":"a","arguments":"{}"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"a","input":{}}}`,
	}
	for path, own := range wholeAnswers {
		others := append([]string{}, events...)
		for other, body := range wholeAnswers {
			if other != path {
				others = append(others, fmt.Sprintf(body, ""))
			}
		}
		model.body.Store(fmt.Sprintf(own, ""))
		if status, answer := post(t, s.url+path, `{"model":"m","max_tokens":9,"messages":[],"input":"x"}`); status != http.StatusOK {
			t.Errorf("%s: its own answer: status %d: %s", path, status, answer)
		}
		for _, body := range others {
			model.body.Store(body)
			status, answer := post(t, s.url+path, `{"model":"m","max_tokens":9,"messages":[],"input":"x"}`)
			if status != http.StatusBadGateway || strings.Contains(answer, "call_1") || strings.Contains(answer, "hello") {
				t.Errorf("%s: status %d for %s: %s", path, status, body, answer)
			}
		}
	}
}

// Proves L12 with the built program: a member that no client of the dialect reads, and that has
// the name or the form of a call, is taken out of the answer of every dialect and recorded.
func TestStrayCallsAreRemoved(t *testing.T) {
	model := newBodyModel(t)
	dir := liveIn(t, guardsOnly)
	s := startUp(t, dir, append([]string{"--policy", "p.toml", "--store", "memory", "--audit", "rows.jsonl"}, model.upstreams()...)...)
	members := []string{
		`"tool_call":{"id":"stray","name":"a"},`,
		`"toolUse":{"toolUseId":"stray","name":"a","input":{}},`,
		`"next":{"type":"tool_use","id":"stray","name":"a","input":{}},`,
		`"next":[{"id":"stray","type":"function","function":{"name":"a","arguments":"{}"}}],`,
	}
	n := 0
	for path, own := range wholeAnswers {
		list := members
		if path != "/v1/chat/completions" { // where it is a call
			list = append(list, `"function_call":{"id":"stray","name":"a","arguments":"{}"},`)
		}
		for _, member := range list {
			model.body.Store(fmt.Sprintf(own, member))
			status, answer := post(t, s.url+path, `{"model":"m","max_tokens":9,"messages":[],"input":"x"}`)
			if status != http.StatusOK || strings.Contains(answer, "stray") || !strings.Contains(answer, "hello") {
				t.Errorf("%s: %s: status %d: %s", path, member, status, answer)
			}
			n++
			if rows, err := os.ReadFile(filepath.Join(dir, "rows.jsonl")); err != nil || strings.Count(string(rows), `"cause":"dropped `) != n {
				t.Errorf("%s: %s is not recorded: %v", path, member, err)
			}
		}
	}
}
