package gateway_test

import (
	"strings"
	"testing"
)

// An answer of another kind than the one that was asked for is refused: an event of a stream as
// a body, a body of another dialect. So is one with calls in a member that no client of the
// dialect reads.
func TestAnswersOfAnotherKind(t *testing.T) {
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
		for _, member := range []string{"tool_calls", "tool_call", "function_call", "tool_use"} {
			others = append(others, strings.TrimSuffix(own, "}")+`,"`+member+`":[`+call+`]}`)
		}
		for _, body := range others {
			if a := ask(body); a.status != 502 || strings.Contains(a.body, `"c1"`) {
				t.Errorf("%s: status %d for %s", path, a.status, body)
			}
		}
	}
}
