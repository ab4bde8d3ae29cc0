package content

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/jsonstream"
)

// Script renders answers of the replay model.
var Script = script.Format{
	Folder: "openai-responses", Stream: playScript, Body: scriptBody,
	Error:    `{"error":{"message":%s,"type":%q,"param":null,"code":null}}`,
	Answered: scriptAnswered,
}

// playScript renders a turn as Responses events: numbered and named, one
// item per text and call, one token per delta, every copy of the arguments.
func playScript(a *script.Answer, emit script.Emit) error {
	s := &scriptStream{emit: emit}
	s.event("response.created", 0, 0, `"response":%s`, response(a, "in_progress", "[]", "null"))
	s.event("response.in_progress", 0, 0, `"response":%s`, response(a, "in_progress", "[]", "null"))
	if a.Say != "" {
		s.message(a)
	}
	for i, call := range a.Calls {
		s.call(a, i, call)
	}
	s.event("response.completed", 0, 0, `"response":%s`, response(a, "completed", scriptOutput(a), responsesUsage(a)))
	return s.err
}

// scriptStream numbers the events and the items and keeps the first error.
type scriptStream struct {
	emit  script.Emit
	seq   int
	index int
	err   error
}

func (s *scriptStream) event(name string, tokens, size int, format string, args ...any) {
	if s.err == nil {
		s.err = s.emit(fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", name, name, s.seq, fmt.Sprintf(format, args...)), tokens, size)
		s.seq++
	}
}

func (s *scriptStream) message(a *script.Answer) {
	id := a.ID("msg_", "message")
	s.event("response.output_item.added", 0, 0, `"output_index":%d,"item":%s`, s.index, messageItem(a, "in_progress", ""))
	s.event("response.content_part.added", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"part":%s`, id, s.index, textPart(""))
	for piece := range script.Pieces(a.Say, 1) {
		s.event("response.output_text.delta", 1, len(piece), `"item_id":%q,"output_index":%d,"content_index":0,"delta":%s,"logprobs":[]`, id, s.index, script.Quote(piece))
	}
	s.event("response.output_text.done", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"text":%s,"logprobs":[]`, id, s.index, script.Quote(a.Say))
	s.event("response.content_part.done", 0, 0, `"item_id":%q,"output_index":%d,"content_index":0,"part":%s`, id, s.index, textPart(a.Say))
	s.event("response.output_item.done", 0, 0, `"output_index":%d,"item":%s`, s.index, messageItem(a, "completed", textPart(a.Say)))
	s.index++
}

func (s *scriptStream) call(a *script.Answer, i int, call script.Call) {
	id := a.CallID("fc_", i)
	s.event("response.output_item.added", 0, 0, `"output_index":%d,"item":%s`, s.index, callItem(a, i, "in_progress", ""))
	for piece := range script.Pieces(call.Args, 1) {
		s.event("response.function_call_arguments.delta", 1, len(piece), `"item_id":%q,"output_index":%d,"delta":%s`, id, s.index, script.Quote(piece))
	}
	s.event("response.function_call_arguments.done", 0, 0, `"item_id":%q,"output_index":%d,"name":%s,"arguments":%s`, id, s.index, script.Quote(call.Tool), script.Quote(call.Args))
	s.event("response.output_item.done", 0, 0, `"output_index":%d,"item":%s`, s.index, callItem(a, i, "completed", call.Args))
	s.index++
}

// scriptBody renders a turn as a Responses object.
func scriptBody(a *script.Answer) []byte {
	return []byte(response(a, "completed", scriptOutput(a), responsesUsage(a)))
}

func response(a *script.Answer, status, output, usage string) string {
	return fmt.Sprintf(`{"id":%q,"object":"response","created_at":%d,"status":%q,"background":false,"error":null,"incomplete_details":null,"model":%s,`+
		`"output":%s,"parallel_tool_calls":true,"previous_response_id":null,"store":%t,"tool_choice":"auto","tools":[],"usage":%s}`,
		a.ID(fmt.Sprintf("resp_%d_", a.Step), "response"), a.Created, status, script.Quote(a.Model), output, a.Store, usage)
}

func scriptOutput(a *script.Answer) string {
	var items []string
	if a.Say != "" {
		items = append(items, messageItem(a, "completed", textPart(a.Say)))
	}
	for i, call := range a.Calls {
		items = append(items, callItem(a, i, "completed", call.Args))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func messageItem(a *script.Answer, status, part string) string {
	return fmt.Sprintf(`{"id":%q,"type":"message","status":%q,"role":"assistant","content":[%s]}`, a.ID("msg_", "message"), status, part)
}

func textPart(text string) string {
	return fmt.Sprintf(`{"type":"output_text","annotations":[],"logprobs":[],"text":%s}`, script.Quote(text))
}

func callItem(a *script.Answer, i int, status, args string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function_call","status":%q,"call_id":%q,"name":%s,"arguments":%s}`,
		a.CallID("fc_", i), status, a.CallID("call_", i), script.Quote(a.Calls[i].Tool), script.Quote(args))
}

func responsesUsage(a *script.Answer) string {
	n := a.Tokens()
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
		a.Prompt, n, a.Prompt+n)
}

// scriptAnswered counts the responses of the model in a history: every run of its items in the
// input, and those before the response that the request continues, whose id contains their number.
func scriptAnswered(request jsonstream.Value) int {
	n := 0
	previous, _ := request.Get("previous_response_id")
	if step, ok := strings.CutPrefix(previous.Text(), "resp_"); ok {
		step, _, _ = strings.Cut(step, "_")
		if k, err := strconv.Atoi(step); err == nil {
			n = k + 1
		}
	}
	inside := false
	input, _ := request.Get("input")
	for item := range input.Elements() {
		role, _ := item.Get("role")
		typ, _ := item.Get("type")
		of := role.IsText("assistant") || typ.IsText("reasoning") || strings.HasSuffix(typ.Text(), "_call")
		if of && !inside {
			n++
		}
		inside = of
	}
	return n
}
