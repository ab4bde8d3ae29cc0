package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
)

// blocksOf renders a response with these blocks, each a text ("t") or a call of a tool ("a", "b").
// A text is the number of its block, and the id of a call is c and its number. oneEvent puts all parts
// of a stream of Gemini into one event.
func blocksOf(dialect string, stream, oneEvent bool, blocks []string) string {
	reason, n := "end_turn", 0
	var list, items []string
	deltas := anthropicStart
	chat, response := chatEvent(`{"role":"assistant"}`, "null"), responsesEvent("response.created", `"response":{"id":"r","status":"in_progress","output":[]}`)
	text, calls := "", []string{}
	for i, b := range blocks {
		say, id, args := fmt.Sprint(i), fmt.Sprint("c", i), fmt.Sprintf(`{"n":%d}`, i)
		if b != "t" {
			reason = "tool_use"
		}
		switch {
		case dialect == "anthropic" && b == "t":
			list, deltas = append(list, fmt.Sprintf(`{"type":"text","text":%q}`, say)), deltas+anthropicText(i, say)
		case dialect == "anthropic":
			list, deltas = append(list, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, b, args)), deltas+anthropicCall(i, id, b, args)
		case dialect == "gemini" && b == "t":
			list = append(list, fmt.Sprintf(`{"text":%q}`, say))
		case dialect == "gemini":
			list = append(list, geminiCall(id, b, args))
		case dialect == "chat" && b == "t":
			text, chat = text+say, chat+chatEvent(fmt.Sprintf(`{"content":%q}`, say), "null")
		case dialect == "chat":
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, b, args))
			chat += chatCall(n, id, b, args)
			n++
		case b == "t":
			part := `{"type":"output_text","annotations":[],"text":`
			item := fmt.Sprintf(`{"id":"m%d","type":"message","status":"completed","role":"assistant","content":[%s%q}]}`, i, part, say)
			at := fmt.Sprintf(`"item_id":"m%d","output_index":%d,"content_index":0,`, i, i)
			items = append(items, item)
			response += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":{"id":"m%d","type":"message","status":"in_progress","role":"assistant","content":[]}`, i, i)) +
				responsesEvent("response.content_part.added", at+`"part":`+part+`""}`) + responsesEvent("response.output_text.delta", at+fmt.Sprintf(`"delta":%q`, say)) +
				responsesEvent("response.output_text.done", at+fmt.Sprintf(`"text":%q`, say)) + responsesEvent("response.content_part.done", at+fmt.Sprintf(`"part":%s%q}`, part, say)) +
				responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
		default:
			item := func(args string) string {
				return fmt.Sprintf(`{"id":"fc_%s","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%q}`, id, id, b, args)
			}
			items = append(items, item(args))
			response += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item(""))) +
				responsesEvent("response.function_call_arguments.delta", fmt.Sprintf(`"output_index":%d,"item_id":"fc_%s","delta":%q`, i, id, args)) +
				responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item(args)))
		}
	}
	switch dialect {
	case "anthropic":
		if stream {
			return deltas + anthropicEnd(reason)
		}
		return fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":%q,"usage":{"output_tokens":3}}`, strings.Join(list, ","), reason)
	case "gemini":
		const stop = `,"finishReason":"STOP"`
		if !stream {
			return geminiEvent(strings.Join(list, ","), stop)
		}
		if oneEvent {
			return "data: " + geminiEvent(strings.Join(list, ","), stop) + "\n\n"
		}
		out := ""
		for _, part := range list {
			out += "data: " + geminiEvent(part, "") + "\n\n"
		}
		return out + "data: " + geminiEvent("", stop) + "\n\n"
	case "chat":
		reason = strings.Replace(strings.Replace(reason, "end_turn", "stop", 1), "tool_use", "tool_calls", 1)
		if stream {
			return chat + chatEvent(`{}`, `"`+reason+`"`) + chatDone
		}
		more := ""
		if n > 0 {
			more = `,"tool_calls":[` + strings.Join(calls, ",") + "]"
		}
		return fmt.Sprintf(`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%q%s},"finish_reason":%q}]}`, text, more, reason)
	}
	final := `{"id":"r","status":"completed","output":[` + strings.Join(items, ",") + `],"usage":{"output_tokens":3}}`
	if stream {
		return response + responsesEvent("response.completed", `"response":`+final)
	}
	return final
}

// sight is a response as a client reads it, streamed or not: its text, and the arguments of its calls.
func sight(t *testing.T, body string) string {
	text, calls := "", map[string]string{}
	var order []string
	call := func(key string) {
		if _, ok := calls[key]; !ok {
			order = append(order, key)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			str := func(name string) string { s, _ := v[name].(string); return s }
			switch kind := str("type"); {
			case kind == "response.completed":
				walk(v["response"])
			case strings.HasPrefix(kind, "response."): // copies
			case kind == "function_call":
				call(str("call_id"))
				calls[str("call_id")] = str("arguments")
			case kind == "tool_use":
				call(str("id"))
				if input, _ := v["input"].(map[string]any); len(input) > 0 {
					calls[str("id")] = mustJSON(input)
				}
			case kind == "input_json_delta":
				calls[order[len(order)-1]] += str("partial_json")
			case v["functionCall"] != nil:
				c := v["functionCall"].(map[string]any)
				call(c["id"].(string))
				calls[c["id"].(string)] = mustJSON(c["args"])
			case v["function"] != nil:
				if str("id") != "" {
					call(str("id"))
				}
				calls[order[len(order)-1]] += v["function"].(map[string]any)["arguments"].(string)
			default:
				text += str("text")
				if content, ok := v["content"].(string); ok {
					text += content
				}
				for _, name := range []string{"choices", "delta", "message", "content", "content_block", "tool_calls", "candidates", "parts", "output"} {
					walk(v[name])
				}
			}
		}
	}
	lines := []string{body}
	if !strings.HasPrefix(body, "{") {
		lines = strings.Split(body, "\n")
	}
	for _, line := range lines {
		data := strings.TrimPrefix(line, "data: ")
		if !strings.HasPrefix(data, "{") {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Errorf("%v in %s", err, data)
		}
		walk(v)
	}
	out := strings.Join(strings.Fields(text), "")
	for _, id := range order {
		out += " " + id + calls[id]
	}
	return out
}

// onResponse changes no response.
type onResponse struct{}

func (onResponse) Name() string { return "on response" }

func (onResponse) OnResponse(context.Context, *events.Exchange, *events.Response) error { return nil }

// Proves V3-10, V3-20, V3-22, V3-29: the same response gives the same texts and calls streamed and not,
// wherever its texts and calls are: policies receive both in their order.
func TestStreamedIsWhole(t *testing.T) {
	block := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		switch {
		case s.IsOutputFinished():
			return nil
		case b.Name == "b":
			return s.SendText("BLOCKED", true)
		}
		return s.Send(events.BlockChunk(b))
	})
	silent := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		switch {
		case s.IsOutputFinished():
			return nil
		case b.Name == "b":
			defer s.MarkOutputFinished()
			return s.DropSilently()
		}
		return s.Send(events.BlockChunk(b))
	})
	stop := onCallComplete(func(_ *events.Exchange, s events.Stream, b *events.Call) error {
		switch {
		case s.IsOutputFinished():
			return nil
		case b.Name == "b":
			defer s.Stop()
			return s.SendText("BLOCKED", true)
		}
		return s.Send(events.BlockChunk(b))
	})
	inText := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error {
		if s.IsOutputFinished() {
			return nil
		}
		return s.SendText(delta, strings.Contains(delta, "1"))
	})
	var patterns [][]string
	for n := range 81 {
		patterns = append(patterns, []string{"tab"[n%3 : n%3+1], "tab"[n/3%3 : n/3%3+1], "tab"[n/9%3 : n/9%3+1], "tab"[n/27 : n/27+1]})
	}
	for _, in := range tongues() {
		for name, list := range map[string][]events.Policy{
			"block": {block}, "silent": {silent}, "stop": {stop}, "in text": {inText}, "before OnResponse": {block, onResponse{}}, "after OnResponse": {onResponse{}, block},
		} {
			t.Run(in.name+" "+name, func(t *testing.T) {
				body := ""
				r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					held{body: body, wait: func(*http.Request) bool { return true }}.ServeHTTP(w, r)
				}), with(list...))
				get := func(stream, oneEvent bool, blocks []string) string {
					body = blocksOf(in.name, stream, oneEvent, blocks)
					got := r.post(in.pathOf(stream), mustJSON(in.request(stream, []string{"a", "b"}, []historyEntry{user("go")})))
					if got.err != nil || got.status != http.StatusOK {
						t.Errorf("%v: %d %v %s", blocks, got.status, got.err, got.body)
					}
					return sight(t, got.body)
				}
				for _, blocks := range patterns {
					if in.name == "chat" && !slices.IsSortedFunc(blocks, func(a, b string) int { return strings.Count(b, "t") - strings.Count(a, "t") }) {
						continue // a message has its text before its calls
					}
					if adjacent := strings.Contains(strings.Join(blocks, ""), "tt"); adjacent && name == "in text" && (in.name == "chat" || in.name == "gemini") {
						continue // they are one text, which is one piece only if the response is not streamed
					}
					whole := get(false, false, blocks)
					if got := get(true, false, blocks); got != whole {
						t.Errorf("%v: streamed %q, whole %q", blocks, got, whole)
					}
					if in.name == "gemini" && name != "in text" { // without hooks for calls, events are not split
						if got := get(true, true, blocks); got != whole {
							t.Errorf("%v in one event: streamed %q, whole %q", blocks, got, whole)
						}
					}
					if at := slices.Index(blocks, "b"); at >= 0 && name != "in text" {
						for i := range blocks[at:] {
							if strings.Contains(whole, fmt.Sprint(at+i)) {
								t.Errorf("%v: %q has a block after the end", blocks, whole)
							}
						}
					}
				}
			})
		}
	}
}

// Proves V3-05, L6: a hook stops the response while its last event, with a text and the finish reason,
// has been read: the client gets the end of the response and not the error of the cancelled provider.
func TestStopAtTheLastEvent(t *testing.T) {
	stop := onCallComplete(func(_ *events.Exchange, s events.Stream, _ *events.Call) error {
		defer s.Stop()
		return s.SendText("BLOCKED", true)
	})
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+geminiEvent(geminiCall("c0", "a", `{}`), "")+"\n\ndata: "+geminiEvent(`{"text":"later"}`, `,"finishReason":"STOP"`)+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), with(stop))
	got := r.post(geminiPath, geminiRequest(""))
	mustContain(t, got.body, "BLOCKED", `"STOP"`)
	mustLack(t, got.body, "later", "error")
	if got.err != nil {
		t.Error(got.err)
	}
}

// Proves V3-18: in Responses an empty message takes the place of a call that was dropped silently, so
// that the model gets its call back when the client continues.
func TestSilentDropsAreRestored(t *testing.T) {
	for _, stream := range []bool{true, false} {
		var request string
		r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			request = string(body)
			held{body: blocksOf("responses", stream, false, []string{"t", "b"}), wait: func(*http.Request) bool { return true }}.ServeHTTP(w, r)
		}), with(events.ContentOnly{Silent: true}))
		const item = `{"id":"msg_stopgate_fc_c1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":""}]}`
		got := r.post(responsesPath, mustJSON(responsesHistory(stream, []string{"a", "b"}, []historyEntry{user("go")})))
		mustContain(t, got.body, item)
		mustLack(t, got.body, "function_call")
		r.idle(t)
		r.post(responsesPath, fmt.Sprintf(`{"model":"m","stream":%t,"input":[%s,{"role":"user","content":"go on"}]}`, stream, item))
		mustContain(t, request, `"type":"function_call","status":"completed","call_id":"c1"`, `"type":"function_call_output","call_id":"c1"`)
		mustLack(t, request, "msg_stopgate_")
	}
}
