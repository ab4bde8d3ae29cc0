package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// historyEntry is one entry of a conversation, independent of a dialect.
type historyEntry struct {
	user   string
	calls  []pastCall
	result *pastResult
}

type pastCall struct{ id, tool, args string }

type pastResult struct {
	id, text string
	failed   bool
}

func user(text string) historyEntry { return historyEntry{user: text} }
func call(id, tool, args string) historyEntry {
	return historyEntry{calls: []pastCall{{id, tool, args}}}
}
func result(id, text string) historyEntry {
	return historyEntry{result: &pastResult{id: id, text: text}}
}

// tongue writes conversations in a dialect.
type tongue struct {
	name, path string
	// whole is the path of requests whose response is not streamed, if it differs.
	whole string
	// fails: a result can be marked as failed.
	fails    bool
	request  func(stream bool, tools []string, history []historyEntry) map[string]any
	response func(stream bool, id string, calls []pastCall) string
}

func tongues() []tongue {
	return []tongue{
		{"chat", chatPath, "", false, chatHistory, chatAnswer},
		{"responses", responsesPath, "", false, responsesHistory, responsesAnswer},
		{"anthropic", anthropicPath, "", true, anthropicHistory, anthropicAnswer},
		{"gemini", geminiPath, geminiWholePath, true, geminiHistory, geminiAnswer},
	}
}

// pathOf returns the path of requests.
func (in *tongue) pathOf(stream bool) string {
	if !stream && in.whole != "" {
		return in.whole
	}
	return in.path
}

func chatHistory(stream bool, tools []string, history []historyEntry) map[string]any {
	var messages, declared []any
	for _, s := range history {
		switch {
		case s.user != "":
			messages = append(messages, map[string]any{"role": "user", "content": s.user})
		case s.result != nil:
			messages = append(messages, map[string]any{"role": "tool", "tool_call_id": s.result.id, "content": s.result.text})
		default:
			var calls []any
			for _, c := range s.calls {
				calls = append(calls, map[string]any{"id": c.id, "type": "function", "function": map[string]any{"name": c.tool, "arguments": c.args}})
			}
			messages = append(messages, map[string]any{"role": "assistant", "content": nil, "tool_calls": calls})
		}
	}
	for _, name := range tools {
		declared = append(declared, map[string]any{"type": "function", "function": map[string]any{"name": name, "parameters": map[string]any{"type": "object"}}})
	}
	return map[string]any{"model": "m", "stream": stream, "messages": messages, "tools": declared}
}

func chatAnswer(stream bool, _ string, calls []pastCall) string {
	if !stream {
		var list []any
		for _, c := range calls {
			list = append(list, map[string]any{"id": c.id, "type": "function", "function": map[string]any{"name": c.tool, "arguments": c.args}})
		}
		message, finish := map[string]any{"role": "assistant", "content": "hi"}, "stop"
		if len(list) > 0 {
			message["tool_calls"], finish = list, "tool_calls"
		}
		return mustJSON(map[string]any{"id": "x", "object": "chat.completion", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}})
	}
	var parts []string
	for i, c := range calls {
		parts = append(parts, chatCall(i, c.id, c.tool, c.args))
	}
	if len(parts) == 0 {
		return chatStream("stop")
	}
	return chatStream("tool_calls", parts...)
}

func responsesHistory(stream bool, tools []string, history []historyEntry) map[string]any {
	var input, declared []any
	for _, s := range history {
		switch {
		case s.user != "":
			input = append(input, map[string]any{"type": "message", "role": "user", "content": s.user})
		case s.result != nil:
			input = append(input, map[string]any{"type": "function_call_output", "call_id": s.result.id, "output": s.result.text})
		default:
			for _, c := range s.calls {
				input = append(input, map[string]any{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.tool, "arguments": c.args})
			}
		}
	}
	for _, name := range tools {
		declared = append(declared, map[string]any{"type": "function", "name": name, "parameters": map[string]any{"type": "object"}})
	}
	return map[string]any{"model": "m", "stream": stream, "input": input, "tools": declared}
}

func responsesAnswer(stream bool, id string, calls []pastCall) string {
	item := func(c pastCall, args string) string {
		return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%q}`, c.id, c.id, c.tool, args)
	}
	out := responsesEvent("response.created", fmt.Sprintf(`"response":{"id":%q,"status":"in_progress","output":[]}`, id))
	var items []string
	for i, c := range calls {
		items = append(items, item(c, c.args))
		out += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item(c, ""))) +
			responsesEvent("response.function_call_arguments.delta", fmt.Sprintf(`"output_index":%d,"item_id":"fc_%s","delta":%q`, i, c.id, c.args)) +
			responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item(c, c.args)))
	}
	final := fmt.Sprintf(`{"id":%q,"status":"completed","output":[%s],"usage":{"output_tokens":3}}`, id, strings.Join(items, ","))
	if !stream {
		return final
	}
	return out + responsesEvent("response.completed", `"response":`+final)
}

func anthropicHistory(stream bool, tools []string, history []historyEntry) map[string]any {
	var messages, declared []any
	for _, s := range history {
		switch {
		case s.user != "":
			messages = append(messages, map[string]any{"role": "user", "content": s.user})
		case s.result != nil:
			block := map[string]any{"type": "tool_result", "tool_use_id": s.result.id, "content": []any{map[string]any{"type": "text", "text": s.result.text}}}
			if s.result.failed {
				block["is_error"] = true
			}
			messages = append(messages, map[string]any{"role": "user", "content": []any{block}})
		default:
			var blocks []any
			for _, c := range s.calls {
				blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": json.RawMessage(c.args)})
			}
			messages = append(messages, map[string]any{"role": "assistant", "content": blocks})
		}
	}
	for _, name := range tools {
		declared = append(declared, map[string]any{"name": name, "input_schema": map[string]any{"type": "object"}})
	}
	return map[string]any{"model": "m", "max_tokens": 99, "stream": stream, "messages": messages, "tools": declared}
}

func anthropicAnswer(stream bool, id string, calls []pastCall) string {
	if !stream {
		blocks, reason := []any{map[string]any{"type": "text", "text": "hi"}}, "end_turn"
		for _, c := range calls {
			blocks, reason = append(blocks, map[string]any{"type": "tool_use", "id": c.id, "name": c.tool, "input": json.RawMessage(c.args)}), "tool_use"
		}
		return mustJSON(map[string]any{"id": id, "type": "message", "role": "assistant", "model": "m", "content": blocks, "stop_reason": reason, "usage": map[string]any{"output_tokens": 3}})
	}
	event := func(typ, members string) string {
		return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"" + members + "}\n\n"
	}
	out := event("message_start", fmt.Sprintf(`,"message":{"id":%q,"type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`, id)) +
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`) +
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"hi"}`) + event("content_block_stop", `,"index":0`)
	reason := "end_turn"
	for i, c := range calls {
		reason = "tool_use"
		out += event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, i+1, c.id, c.tool)) +
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":%q}`, i+1, c.args)) +
			event("content_block_stop", fmt.Sprintf(`,"index":%d`, i+1))
	}
	return out + event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":3}`, reason)) + event("message_stop", "")
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// model is a provider that responds with the given calls, in the dialect of the request, and stores
// the requests.
type model struct {
	mu     sync.Mutex
	next   [][]pastCall // calls of the next responses; then none
	asked  []string
	served int
	door   func(body string) // called with requests that are not turns
}

func (m *model) will(calls ...pastCall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = append(m.next, calls)
}

// lastRequest returns the last request.
func (m *model) lastRequest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	at := slices.IndexFunc(tongues(), func(t tongue) bool { return t.path == r.URL.Path || t.whole == r.URL.Path })
	if at < 0 {
		m.door(string(body))
		_, _ = io.WriteString(w, "{}")
		return
	}
	var request struct{ Stream bool }
	_ = json.Unmarshal(body, &request)
	request.Stream = request.Stream || r.URL.Path == geminiPath
	m.mu.Lock()
	m.asked = append(m.asked, string(body))
	m.served++
	id := fmt.Sprint("answer_", m.served)
	var calls []pastCall
	if len(m.next) > 0 {
		calls, m.next = m.next[0], m.next[1:]
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[request.Stream])
	_, _ = io.WriteString(w, tongues()[at].response(request.Stream, id, calls))
}

// talk is a conversation through a gateway.
type talk struct {
	*rig
	tongue
	model  *model
	stream bool
	tools  []string
	header map[string]string
	more   map[string]any // members of the request
}

func newTalk(t *testing.T, in tongue, policy string, change func(*gateway.Options)) *talk {
	m := &model{}
	return &talk{rig: newRig(t, policy, m, change), tongue: in, model: m, stream: true, tools: []string{"test", "deploy", "read", "write", "pay"}}
}

// converse sends a history, to which the model responds with calls, and returns the response for the
// client.
func (k *talk) converse(calls []pastCall, history ...historyEntry) string {
	k.t.Helper()
	k.model.will(calls...)
	request := k.request(k.stream, k.tools, history)
	for name, v := range k.more {
		request[name] = v
	}
	a := k.send("POST", k.pathOf(k.stream), mustJSON(request), k.header)
	if a.status != 200 || a.err != nil {
		k.t.Fatalf("status %d, %v: %s", a.status, a.err, a.body)
	}
	return a.body
}

// allows reports whether the model's call reaches the client.
func (k *talk) allows(c pastCall, history ...historyEntry) bool {
	k.t.Helper()
	body := k.converse([]pastCall{c}, history...)
	got := strings.Contains(body, `"`+c.id+`"`)
	if denied := strings.Contains(body, "was not run"); got == denied {
		k.t.Fatalf("call %v, text %v: %s", got, denied, body)
	}
	return got
}

// expect compares allows with the expected result.
func (k *talk) expect(want bool, c pastCall, history ...historyEntry) {
	k.t.Helper()
	if got := k.allows(c, history...); got != want {
		k.t.Errorf("%s %s allowed: %v, want %v; rows %q", c.tool, c.args, got, want, k.log.decisions())
	}
}
