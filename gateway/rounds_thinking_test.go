package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// spokenMessage returns a message of the provider with any blocks, in chunks if streamed.
func spokenMessage(n int, stream bool, turn string) string {
	var blocks []map[string]any
	_ = json.Unmarshal([]byte("["+turn+"]"), &blocks)
	reason := "end_turn"
	for _, b := range blocks {
		if b["type"] == "tool_use" {
			reason = "tool_use"
		}
	}
	if !stream {
		return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"container":{"id":"box_%d"},"usage":{"input_tokens":7,"output_tokens":3}}`, n, turn, reason, n)
	}
	event := func(typ, members string) string {
		return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"" + members + "}\n\n"
	}
	out := event("message_start", fmt.Sprintf(`,"message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],"container":{"id":"box_%d"},"usage":{"input_tokens":7,"output_tokens":1}}`, n, n))
	for i, b := range blocks {
		var deltas []string
		piece := func(typ, from, to string) {
			if text, ok := b[from].(string); ok {
				b[from] = ""
				for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
					deltas = append(deltas, fmt.Sprintf(`{"type":%q,%q:%s}`, typ, to, mustJSON(part)))
				}
			}
		}
		switch b["type"] {
		case "text":
			piece("text_delta", "text", "text")
		case "thinking":
			piece("thinking_delta", "thinking", "thinking")
			piece("signature_delta", "signature", "signature")
		case "tool_use", "server_tool_use":
			deltas, b["input"] = []string{fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, mustJSON(mustJSON(b["input"])))}, map[string]any{}
		}
		out += event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, mustJSON(b)))
		for _, d := range deltas {
			out += event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, d))
		}
		out += event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	return out + event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":3}`, reason)) + event("message_stop", "")
}

// messageBlocks returns the blocks of a message as the client reads them.
func messageBlocks(t *testing.T, stream bool, body string) (blocks []map[string]any) {
	t.Helper()
	if !stream {
		var m struct{ Content []map[string]any }
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err, body)
		}
		return m.Content
	}
	inputs := map[int]string{}
	for _, event := range strings.Split(strings.TrimSpace(body), "\n\n") {
		_, data, _ := strings.Cut(event, "data: ")
		var e struct {
			Type  string
			Index int
			Block map[string]any `json:"content_block"`
			Delta map[string]any
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, data)
		}
		switch e.Type {
		case "content_block_start":
			if e.Index != len(blocks) {
				t.Errorf("block %d begins as %d", len(blocks), e.Index)
			}
			blocks = append(blocks, e.Block)
		case "content_block_delta":
			b := blocks[e.Index]
			for _, member := range []string{"text", "thinking", "signature"} {
				if piece, ok := e.Delta[member].(string); ok {
					before, _ := b[member].(string)
					b[member] = before + piece
				}
			}
			if piece, ok := e.Delta["partial_json"].(string); ok {
				inputs[e.Index] += piece
				b["input"] = json.RawMessage(inputs[e.Index])
			}
		}
	}
	return blocks
}

const (
	think1 = `{"signature":"sig\\u002b1","thinking":"first \u00e9","type":"thinking"}`
	think2 = `{"data":"opaque2","type":"redacted_thinking"}`
	think3 = `{"signature":"sig3","thinking":"third","type":"thinking"}`
	use1   = `{"id":"x1","input":{"path":"secret"},"name":"a","type":"tool_use"}`
	use2   = `{"id":"x2","input":{},"name":"b","type":"tool_use"}`
	use3   = `{"id":"x3","input":{"n":1},"name":"d","type":"tool_use"}`
	hello  = `{"text":"hello","type":"text"}`
)

func thinkingRig(t *testing.T, turns ...string) (*rig, *scripted) {
	m := &scripted{write: spokenMessage, turns: turns}
	return newRig(t, denying("a", "b"), m, answering(2)), m
}

func messageRequest(stream bool, messages ...string) string {
	return fmt.Sprintf(`{"model":"m","max_tokens":99,"stream":%t,"thinking":{"type":"enabled","budget_tokens":50},"messages":[%s],"tools":[%s]}`, stream, strings.Join(messages, ","),
		`{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"}},{"name":"d","input_schema":{"type":"object"}}`)
}

const askedToGo = `{"role":"user","content":"go"}`

// Proves S6, S7, P20, AM7: a model that thinks gets its thinking back unchanged, with signatures;
// the client has the thinking of all rounds in one message; and the history that the client sends
// is split into the turns of the provider, also for counting.
func TestAnswerThinking(t *testing.T) {
	first := strings.ReplaceAll(think1, `\\u002b`, "+")
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprint("streamed ", stream), func(t *testing.T) {
			r, m := thinkingRig(t, first+","+hello+","+use1, think2+","+use2, think3+","+hello+","+use3)
			a := r.post(anthropicPath, messageRequest(stream, askedToGo))
			if a.status != 200 || a.err != nil {
				t.Fatal(a.status, a.err, a.body)
			}
			refused := func(id string) string {
				return `{"type":"tool_result","tool_use_id":"` + id + `","content":"{\"status\":\"denied\",\"code\":\"rule_matched\",\"publicReason\":\"A rule of the policy denies this call.\",\"data\":null}","is_error":true}`
			}
			round1 := askedToGo + `,{"role":"assistant","content":[` + first + "," + hello + "," + use1 + `]},{"role":"user","content":[` + refused("x1") + `]}`
			round2 := round1 + `,{"role":"assistant","content":[` + think2 + "," + use2 + `]},{"role":"user","content":[` + refused("x2") + `]}`
			same := func(n int, want string) {
				t.Helper()
				var got struct {
					Messages  any
					Container string
				}
				var wanted any
				if json.Unmarshal([]byte(m.request(n)), &got) != nil || json.Unmarshal([]byte("["+want+"]"), &wanted) != nil {
					t.Fatal(m.request(n), want)
				}
				if mustJSON(got.Messages) != mustJSON(wanted) {
					t.Errorf("request %d:\n%s\nwant\n%s", n, mustJSON(got.Messages), mustJSON(wanted))
				}
				if n > 1 && got.Container != fmt.Sprint("box_", n-1) {
					t.Errorf("container %q", got.Container)
				}
			}
			same(2, round1)
			same(3, round2)
			blocks := messageBlocks(t, stream, a.body)
			var merged []any
			for _, text := range []string{first, hello, think2, think3, hello, use3} {
				var b any
				_ = json.Unmarshal([]byte(text), &b)
				merged = append(merged, b)
			}
			if mustJSON(blocks) != mustJSON(merged) {
				t.Fatalf("the client has\n%s\nwant\n%s", mustJSON(blocks), mustJSON(merged))
			}
			done := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x3","content":"ok"}]}`
			want := round2 + `,{"role":"assistant","content":[` + think3 + "," + hello + "," + use3 + `]},` + done
			for _, path := range []string{anthropicPath, anthropicPath + "/count_tokens"} {
				for _, message := range []string{`{"role":"assistant","content":` + mustJSON(blocks) + `}`, `{"content":` + mustJSON(blocks) + `,"role":"assistant"}`} {
					r.post(path, messageRequest(stream, askedToGo, message, done))
					same(0, want)
				}
			}
			// Thinking of another principal, or unknown thinking, is forwarded unchanged.
			other := strings.ReplaceAll(mustJSON(blocks), "sig3", "sig4")
			r.post(anthropicPath, messageRequest(stream, askedToGo, `{"role":"assistant","content":`+other+`}`, done))
			mustContain(t, m.request(0), `"signature":"sig4"`)
			mustLack(t, m.request(0), `"x1"}],"role"`)
		})
	}
}

// Proves S6, AM7: models continue after a result without new thinking. Such a turn is found by the
// signature before it and by its start, also if a turn in between showed nothing; an equal text in
// another message is not mistaken for it.
func TestAnswerThinkingOnce(t *testing.T) {
	first := strings.ReplaceAll(think1, `\\u002b`, "+")
	bye := `{"text":"and on \u00e9","type":"text"}`
	allowed := `{"id":"x9","input":{"n":1},"name":"d","type":"tool_use"}`
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"{\"status\":\"denied\",\"code\":\"rule_matched\",\"publicReason\":\"A rule of the policy denies this call.\",\"data\":null}","is_error":true}]}`
	}
	turn := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	for _, c := range []struct {
		name  string
		turns [][]string
		shown []string // to the client
	}{
		{"texts", [][]string{{first, hello, use1}, {bye, use2}, {hello, use3}}, []string{first, hello, bye, hello, use3}},
		{"an equal text before", [][]string{{first, hello, use1}, {hello, use2}, {bye, use3}}, []string{first, hello, hello, bye, use3}},
		{"equal texts", [][]string{{first, use1}, {hello, use2}, {hello, use3}}, []string{first, hello, hello, use3}},
		{"nothing between", [][]string{{first, hello, use1}, {use2}, {bye, use3}}, []string{first, hello, bye, use3}},
		{"a call", [][]string{{first, use1}, {bye, use2}, {allowed}}, []string{first, bye, allowed}},
		{"thinking again", [][]string{{first, use1}, {bye, think2, use2}, {hello, use3}}, []string{first, bye, think2, hello, use3}},
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, streamed %t", c.name, stream), func(t *testing.T) {
				var turns, history []string
				for i, blocks := range c.turns {
					turns = append(turns, strings.Join(blocks, ","))
					history = append(history, turn(blocks...))
					if i < 2 {
						history = append(history, result(fmt.Sprint("x", i+1)))
					}
				}
				r, m := thinkingRig(t, turns...)
				a := r.post(anthropicPath, messageRequest(stream, askedToGo))
				if a.status != 200 || a.err != nil {
					t.Fatal(a.status, a.err, a.body)
				}
				blocks := messageBlocks(t, stream, a.body)
				var shown any
				_ = json.Unmarshal([]byte("["+strings.Join(c.shown, ",")+"]"), &shown)
				if mustJSON(blocks) != mustJSON(shown) {
					t.Fatalf("the client has\n%s\nwant\n%s", mustJSON(blocks), mustJSON(shown))
				}
				// The same texts after other thinking, and after none.
				others := turn(think3, hello, bye) + "," + askedToGo + "," + turn(hello, bye)
				done := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x3","content":"ok"}]}`
				r.post(anthropicPath, messageRequest(stream, askedToGo, others, askedToGo, `{"role":"assistant","content":`+mustJSON(blocks)+`}`, done))
				var got struct{ Messages any }
				var want any
				_ = json.Unmarshal([]byte(m.request(0)), &got)
				if err := json.Unmarshal([]byte("["+askedToGo+","+others+","+askedToGo+","+strings.Join(history, ",")+","+done+"]"), &want); err != nil {
					t.Fatal(err)
				}
				if mustJSON(got.Messages) != mustJSON(want) {
					t.Errorf("the provider has\n%s\nwant\n%s", mustJSON(got.Messages), mustJSON(want))
				}
			})
		}
	}
}

// Code at the provider that waits for the result of a call gets a refusal, in its container.
func TestAnswerProgram(t *testing.T) {
	program := `{"caller":{"tool_id":"s1","type":"code_execution_20250825"},"id":"x1","input":{},"name":"a","type":"tool_use"}`
	run := `{"id":"s1","input":{"code":"a()"},"name":"code_execution","type":"server_tool_use"}`
	for _, stream := range []bool{true, false} {
		m := &scripted{write: spokenMessage, turns: []string{run + "," + program, hello}}
		r := newRig(t, denying("a"), m, func(o *gateway.Options) {
			answering(1)(o)
			o.Settings.ServerTools = []string{"code_execution_*"}
		})
		a := r.post(anthropicPath, messageRequest(stream, askedToGo))
		mustContain(t, m.request(2), `"tool_use_id":"x1"`, `"is_error":true`, `"container":"box_1"`, `"s1"`)
		if a.err != nil || len(messageBlocks(t, stream, a.body)) != 2 {
			t.Error(a.err, a.body)
		}
	}
}
