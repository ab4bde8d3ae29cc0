package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
)

// A response of another kind than requested is refused: an event of a stream as a body, a body of
// another dialect.
func TestResponsesOfAnotherKind(t *testing.T) {
	const call = `{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}}`
	answers := map[string]string{
		chatPath:        `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`,
		"/v1/responses": `{"id":"r","object":"response","status":"completed","error":null,"output":[]}`,
		anthropicPath:   `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`,
	}
	events := []string{
		`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[` + call + `]}}]}`,
		`{"type":"response.created","response":{"output":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"message_start","message":{"content":[]}}`,
		`{"type":"content_block_start","content":[],"output":[],"index":0}`,
		`{}`,
	}
	for path, own := range answers {
		request := `{"model":"m","max_tokens":9,"messages":[],"input":"x"}`
		ask := func(body string) answer {
			return newRig(t, allowAll, script{body: body, kind: "application/json"}, nil).post(path, request)
		}
		if a := ask(own); a.status != 200 || a.body != own {
			t.Errorf("%s: its own answer: status %d: %s", path, a.status, a.body)
		}
		if a := ask(`{"type":"error","error":{"type":"x","message":"y"}}`); a.status != 200 {
			t.Errorf("%s: an error: status %d: %s", path, a.status, a.body)
		}
		others := events
		for other, body := range answers {
			if other != path {
				others = append(others, body)
			}
		}
		for _, body := range others {
			if a := ask(body); a.status != 502 || strings.Contains(a.body, `"c1"`) {
				t.Errorf("%s: status %d for %s", path, a.status, body)
			}
		}
	}
}

// strayMembers are members that no client of any dialect reads, with content that some client may
// take for a call.
func strayMembers() map[string]string {
	const chat = `{"index":0,"id":"stray","type":"function","function":{"name":"a","arguments":"{}"}}`
	const item = `{"id":"fc_stray","type":"function_call","call_id":"stray","name":"a","arguments":"{}","status":"completed"}`
	const block = `{"type":"tool_use","id":"stray","name":"a","input":{}}`
	members := map[string]string{
		"by name, empty objects": `"toolCalls":[{"id":"stray"}]`,
		"by another case":        `"Tool_Calls":[` + chat + `]`,
		"by an unseen character": `"tool\u200b_calls":[` + chat + `]`,
		"nested":                 `"x_extra":{"deep":[{"function_call":` + item + `}]}`,
		"by form, nested":        `"x_extra":{"deep":[{"deeper":` + block + `}]}`,
	}
	for _, name := range []string{"tool_calls", "tool_call", "function_call", "function_calls", "tool_use", "toolUse", "functionCall"} {
		members["by name "+name] = `"` + name + `":[` + chat + `]`
	}
	for form, v := range map[string]string{"chat": chat, "item": item, "block": block, "bare": `{"name":"a","args":{"id":"stray"}}`} {
		members["by form, "+form] = `"x_next":` + v
		members["by form, a list of "+form] = `"x_next":[1,` + v + `]`
	}
	return members
}

// Content with the name or the form of calls, in a member in which no client of the dialect expects
// calls, is removed from the response and recorded, on every level and in every dialect; the rest
// of the response is unchanged.
func TestStrayCalls(t *testing.T) {
	for _, in := range []struct {
		name, path, whole, stream string
		spots                     []string // a member is added after each of them
		text                      string
	}{
		{"chat", chatPath, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`,
			chatEvent(`{"role":"assistant","content":"hello"}`, "null") + chatEvent("{}", `"stop"`) + chatDone,
			[]string{`{"id":"x",`, `{"index":0,`, `"role":"assistant",`}, "hello"},
		{"responses", responsesPath, `{"id":"resp_1","object":"response","status":"completed","output":[` + hiItem + `]}`,
			responsesEvent("response.created", `"response":{"id":"resp_1","status":"in_progress","output":[]}`) +
				responsesEvent("response.output_item.added", `"output_index":0,"item":`+hiItem) + responsesEvent("response.output_item.done", `"output_index":0,"item":`+hiItem) +
				responsesEvent("response.completed", `"response":{"id":"resp_1","status":"completed","output":[`+hiItem+`],"usage":{"output_tokens":3}}`),
			[]string{`{"id":"resp_1",`, `{"id":"msg_1",`, `{"type":"output_text",`, `"output_index":0,`}, `"text":"hi"`},
		{"anthropic", anthropicPath, `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn"}`,
			anthropicStart + anthropicText(0, "hello") + anthropicEnd("end_turn"),
			[]string{`"role":"assistant",`, `"index":0,`, `{"type":"text",`, `{"type":"text_delta",`}, "hello"},
	} {
		for _, stream := range []bool{true, false} {
			body, kind := in.whole, "application/json"
			if stream {
				body, kind = in.stream, "text/event-stream"
			}
			for _, spot := range in.spots {
				if !strings.Contains(body, spot) {
					continue
				}
				for name, member := range strayMembers() {
					if spot == `"role":"assistant",` && in.name == "chat" && (name == "by name tool_calls" || name == "by name function_call") {
						continue // calls are valid there
					}
					t.Run(fmt.Sprint(in.name, " stream ", stream, " ", spot, " ", name), func(t *testing.T) {
						r := newRig(t, allowAll, script{body: strings.ReplaceAll(body, spot, spot+member+","), kind: kind}, nil)
						request := mustJSON(map[string]any{"model": "m", "stream": stream, "max_tokens": 9, "messages": []any{}, "input": "x"})
						a := r.post(in.path, request)
						if a.status != 200 || a.err != nil || strings.Contains(a.body, "stray") || !strings.Contains(a.body, in.text) {
							t.Errorf("status %d, %v: %s", a.status, a.err, a.body)
						}
						if row := r.log.event(t, stopgate.AuditNotEvaluated); !strings.Contains(row.Cause, "dropped ") {
							t.Errorf("row %+v", row)
						}
					})
				}
			}
		}
	}
}

// A stream with events of another dialect ends with an error before any of them is forwarded.
func TestStreamsOfAnotherDialect(t *testing.T) {
	streams := map[string]string{}
	for _, in := range tongues() {
		streams[in.name] = in.response(true, "answer_1", []pastCall{{"x1", "a", `{"path":"src/b"}`}})
	}
	for _, in := range tongues() {
		for other, body := range streams {
			if other == in.name {
				continue
			}
			t.Run(in.name+" "+other, func(t *testing.T) {
				r := newRig(t, allowAll, script{body: body}, nil)
				a := r.send("POST", in.path, mustJSON(in.request(true, []string{"a"}, []historyEntry{user("go")})), nil)
				if a.err == nil || strings.Contains(a.body, "x1") || !strings.Contains(a.body, "not of the kind") {
					t.Errorf("%v: %s", a.err, a.body)
				}
			})
		}
	}
}
