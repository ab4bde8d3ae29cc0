package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// streamResponses renders a turn as Responses events: numbered and named, one
// item per text and call, one token per delta, every copy of the arguments.
func streamResponses(a *scripted, emit emitFunc) error {
	s := &responsesStream{emit: emit}
	s.event("response.created", 0, 0, `"response":%s`, a.response("in_progress", "[]", "null"))
	s.event("response.in_progress", 0, 0, `"response":%s`, a.response("in_progress", "[]", "null"))
	if a.Say != "" {
		s.message(a)
	}
	for i, call := range a.Calls {
		s.call(a, i, call)
	}
	s.event("response.completed", 0, 0, `"response":%s`, a.response("completed", a.output(), a.responsesUsage()))
	return s.err
}

// responsesStream numbers the events and the items and keeps the first error.
type responsesStream struct {
	emit  emitFunc
	seq   int
	index int
	err   error
}

func (s *responsesStream) event(name string, tokens, size int, format string, args ...any) {
	if s.err == nil {
		s.err = s.emit(fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", name, name, s.seq, fmt.Sprintf(format, args...)), tokens, size)
		s.seq++
	}
}

func (s *responsesStream) message(a *scripted) {
	id := a.id("msg_", "message")
	s.event("response.output_item.added", 0, 0, `"output_index":%d,"item":%s`, s.index, a.messageItem("in_progress", ""))
	s.event("response.content_part.added", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"part":%s`, id, s.index, textPart(""))
	for piece := range pieces(a.Say, 1) {
		s.event("response.output_text.delta", 1, len(piece), `"item_id":%q,"output_index":%d,"content_index":0,"delta":%s,"logprobs":[]`, id, s.index, quote(piece))
	}
	s.event("response.output_text.done", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"text":%s,"logprobs":[]`, id, s.index, quote(a.Say))
	s.event("response.content_part.done", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"part":%s`, id, s.index, textPart(a.Say))
	s.event("response.output_item.done", 0, 0, `"output_index":%d,"item":%s`, s.index, a.messageItem("completed", textPart(a.Say)))
	s.index++
}

func (s *responsesStream) call(a *scripted, i int, call ScriptedCall) {
	id := a.callID("fc_", i)
	s.event("response.output_item.added", 0, 0, `"output_index":%d,"item":%s`, s.index, a.callItem(i, "in_progress", ""))
	for piece := range pieces(call.Args, 1) {
		s.event("response.function_call_arguments.delta", 1, len(piece), `"item_id":%q,"output_index":%d,"delta":%s`, id, s.index, quote(piece))
	}
	s.event("response.function_call_arguments.done", 0, 0, `"item_id":%q,"output_index":%d,"name":%s,"arguments":%s`, id, s.index, quote(call.Tool), quote(call.Args))
	s.event("response.output_item.done", 0, 0, `"output_index":%d,"item":%s`, s.index, a.callItem(i, "completed", call.Args))
	s.index++
}

// bodyResponses renders a turn as a Responses object.
func bodyResponses(a *scripted) []byte {
	return []byte(a.response("completed", a.output(), a.responsesUsage()))
}

func (a *scripted) response(status, output, usage string) string {
	return fmt.Sprintf(`{"id":%q,"object":"response","created_at":%d,"status":%q,"background":false,"error":null,"incomplete_details":null,"model":%s,`+
		`"output":%s,"parallel_tool_calls":true,"previous_response_id":null,"store":%t,"tool_choice":"auto","tools":[],"usage":%s}`,
		a.id(fmt.Sprintf("resp_%d_", a.step), "response"), a.created, status, quote(a.model), output, a.store, usage)
}

func (a *scripted) output() string {
	var items []string
	if a.Say != "" {
		items = append(items, a.messageItem("completed", textPart(a.Say)))
	}
	for i, call := range a.Calls {
		items = append(items, a.callItem(i, "completed", call.Args))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func (a *scripted) messageItem(status, part string) string {
	return fmt.Sprintf(`{"id":%q,"type":"message","status":%q,"role":"assistant","content":[%s]}`, a.id("msg_", "message"), status, part)
}

func textPart(text string) string {
	return fmt.Sprintf(`{"type":"output_text","annotations":[],"logprobs":[],"text":%s}`, quote(text))
}

func (a *scripted) callItem(i int, status, args string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function_call","status":%q,"call_id":%q,"name":%s,"arguments":%s}`,
		a.callID("fc_", i), status, a.callID("call_", i), quote(a.Calls[i].Tool), quote(args))
}

func (a *scripted) responsesUsage() string {
	n := a.tokens()
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
		a.prompt, n, a.prompt+n)
}

// responsesAnswered counts the responses of the model in a history: every run of its items in the
// input, and those before the response that the request continues, whose id contains their number.
func responsesAnswered(previous string, input json.RawMessage) int {
	n := 0
	if step, ok := strings.CutPrefix(previous, "resp_"); ok {
		step, _, _ = strings.Cut(step, "_")
		if k, err := strconv.Atoi(step); err == nil {
			n = k + 1
		}
	}
	var items []struct{ Type, Role string }
	if !bytes.HasPrefix(bytes.TrimSpace(input), []byte("[")) || json.Unmarshal(input, &items) != nil {
		return n
	}
	inside := false
	for _, item := range items {
		of := item.Role == "assistant" || item.Type == "reasoning" || strings.HasSuffix(item.Type, "_call")
		if of && !inside {
			n++
		}
		inside = of
	}
	return n
}
