package sdk

import (
	"fmt"
	"strings"
)

// toolCall is a call as a provider writes it or a library shows it.
type toolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// say is an ordinary answer: text and then calls. It is rendered in every API.
func say(api, text string, calls ...toolCall) *script {
	switch api {
	case "chat":
		return &script{api: api, events: chatAnswer(text, calls), whole: wholeChat(text, calls), said: calls}
	case "responses":
		return &script{api: api, events: responsesAnswer(text, calls, "completed"), whole: responseObject(text, calls, "completed"), said: calls}
	case "gemini":
		return &script{api: api, events: geminiAnswer(text, calls), whole: wholeGemini(text, calls), said: calls}
	default:
		return &script{api: api, events: messagesAnswer(text, calls, stopOf(calls)), whole: wholeMessage(text, calls), said: calls}
	}
}

func accepted(api string) *script { return say(api, "accepted") }

// Chat Completions.

// delta is a chunk with one choice; finish "" is null.
func delta(choice int, delta, finish string) string {
	if finish == "" {
		finish = "null"
	} else {
		finish = quote(finish)
	}
	return chunk(fmt.Sprintf(`[{"index":%d,"delta":{%s},"logprobs":null,"finish_reason":%s}]`, choice, delta, finish), "")
}

func chunk(choices, more string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt","system_fingerprint":"fp","choices":` + choices + more + "}\n\n"
}

const (
	chatUsage = `"usage":{"prompt_tokens":11,"completion_tokens":42,"total_tokens":53}`
	chatDone  = "data: [DONE]\n\n"
)

func chatUsageChunk() string { return chunk("[]", ","+chatUsage) }

// callDelta is the delta of a call in the first choice.
func callDelta(members string) string { return delta(0, `"tool_calls":[{`+members+`}]`, "") }

// chatCall are the chunks of a call: its head, and its arguments in pieces.
func chatCall(index int, c toolCall) []string {
	list := []string{callDelta(fmt.Sprintf(`"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}`, index, quote(c.ID), quote(c.Name)))}
	for _, p := range pieces(c.Args, width(c.Args)) {
		list = append(list, callDelta(fmt.Sprintf(`"index":%d,"function":{"arguments":%s}`, index, quote(p))))
	}
	return list
}

func chatText(text string) []string {
	list := []string{delta(0, `"role":"assistant","content":""`, "")}
	for _, p := range pieces(text, 5) {
		list = append(list, delta(0, `"content":`+quote(p), ""))
	}
	return list
}

func chatAnswer(text string, calls []toolCall) []string {
	list := chatText(text)
	finish := "stop"
	for i, c := range calls {
		list = append(list, chatCall(i, c)...)
		finish = "tool_calls"
	}
	return append(list, delta(0, "", finish), chatUsageChunk(), chatDone)
}

func wholeChat(text string, calls []toolCall) string {
	message, finish := `"role":"assistant","content":`+quote(text), "stop"
	if len(calls) > 0 {
		var list []string
		for _, c := range calls {
			list = append(list, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(c.ID), quote(c.Name), quote(c.Args)))
		}
		message, finish = message+`,"tool_calls":[`+strings.Join(list, ",")+`]`, "tool_calls"
	}
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt","choices":[{"index":0,"message":{` + message + `,"refusal":null},"logprobs":null,"finish_reason":"` + finish + `"}],` + chatUsage + `}`
}

// Messages.

// named is an event of the APIs that name their events.
func named(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

func messageStart() string {
	return named("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":1}}}`)
}

func blockStart(index int, block string) string {
	return named("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func blockDelta(index int, delta string) string {
	return named("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{%s}}`, index, delta))
}

func blockStop(index int) string {
	return named("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func inputDelta(index int, text string) string {
	return blockDelta(index, `"type":"input_json_delta","partial_json":`+quote(text))
}

func textBlock(index int, text string) []string {
	list := []string{blockStart(index, `{"type":"text","text":""}`)}
	for _, p := range pieces(text, 5) {
		list = append(list, blockDelta(index, `"type":"text_delta","text":`+quote(p)))
	}
	return append(list, blockStop(index))
}

func toolStart(index int, c toolCall) string {
	return blockStart(index, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(c.ID), quote(c.Name)))
}

func toolBlock(index int, c toolCall) []string {
	list := []string{toolStart(index, c), inputDelta(index, "")}
	for _, p := range pieces(c.Args, width(c.Args)) {
		list = append(list, inputDelta(index, p))
	}
	return append(list, blockStop(index))
}

func messageEnd(reason string) []string {
	return []string{
		named("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":42}}`),
		named("message_stop", `{"type":"message_stop"}`),
	}
}

func messagesAnswer(text string, calls []toolCall, reason string) []string {
	list := append([]string{messageStart()}, textBlock(0, text)...)
	for i, c := range calls {
		list = append(list, toolBlock(i+1, c)...)
	}
	return append(list, messageEnd(reason)...)
}

func stopOf(calls []toolCall) string {
	if len(calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func wholeMessage(text string, calls []toolCall) string {
	content := `{"type":"text","text":` + quote(text) + `}`
	for _, c := range calls {
		content += fmt.Sprintf(`,{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(c.ID), quote(c.Name), c.Args)
	}
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[` + content + `],"stop_reason":"` + stopOf(calls) + `","stop_sequence":null,"usage":{"input_tokens":11,"output_tokens":42}}`
}

// Responses.

func messageItem(text, status string) string {
	content := ""
	if status == "completed" {
		content = textPart(text)
	}
	return fmt.Sprintf(`{"id":"msg_1","type":"message","status":%q,"role":"assistant","content":[%s]}`, status, content)
}

func textPart(text string) string {
	return `{"type":"output_text","text":` + quote(text) + `,"annotations":[],"logprobs":[]}`
}

func callItem(c toolCall, status, args string) string {
	return fmt.Sprintf(`{"id":%s,"type":"function_call","status":%q,"call_id":%s,"name":%s,"arguments":%s}`, quote("fc_"+c.ID), status, quote(c.ID), quote(c.Name), quote(args))
}

// responses numbers events.
type responses struct {
	list  []string
	index int
}

func (r *responses) add(kind, members string) {
	r.list = append(r.list, named(kind, fmt.Sprintf(`{"type":%q,"sequence_number":%d,%s}`, kind, len(r.list), members)))
}

func (r *responses) begin() {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		r.add(kind, `"response":`+response("in_progress", ""))
	}
}

func (r *responses) message(text string) {
	r.add("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, r.index, messageItem("", "in_progress")))
	at := fmt.Sprintf(`"item_id":"msg_1","output_index":%d,"content_index":0,`, r.index)
	r.add("response.content_part.added", at+`"part":`+textPart(""))
	for _, p := range pieces(text, 5) {
		r.add("response.output_text.delta", at+`"delta":`+quote(p)+`,"logprobs":[]`)
	}
	r.add("response.output_text.done", at+`"text":`+quote(text)+`,"logprobs":[]`)
	r.add("response.content_part.done", at+`"part":`+textPart(text))
	r.add("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, r.index, messageItem(text, "completed")))
	r.index++
}

func (r *responses) callBegins(c toolCall) {
	r.add("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, r.index, callItem(c, "in_progress", "")))
}

func (r *responses) callDelta(c toolCall, text string) {
	r.add("response.function_call_arguments.delta", fmt.Sprintf(`"item_id":%s,"output_index":%d,"delta":%s`, quote("fc_"+c.ID), r.index, quote(text)))
}

func (r *responses) callEnds(c toolCall) {
	r.add("response.function_call_arguments.done", fmt.Sprintf(`"item_id":%s,"output_index":%d,"arguments":%s`, quote("fc_"+c.ID), r.index, quote(c.Args)))
	r.add("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, r.index, callItem(c, "completed", c.Args)))
	r.index++
}

func (r *responses) call(c toolCall) {
	r.callBegins(c)
	for _, p := range pieces(c.Args, width(c.Args)) {
		r.callDelta(c, p)
	}
	r.callEnds(c)
}

func responsesAnswer(text string, calls []toolCall, status string) []string {
	var r responses
	r.begin()
	r.message(text)
	for _, c := range calls {
		r.call(c)
	}
	r.add("response."+status, `"response":`+responseObject(text, calls, status))
	return r.list
}

func responseObject(text string, calls []toolCall, status string) string {
	output := messageItem(text, "completed")
	for _, c := range calls {
		output += "," + callItem(c, "completed", c.Args)
	}
	return response(status, output)
}

func response(status, output string) string {
	usage := "null"
	if status != "in_progress" {
		usage = `{"input_tokens":11,"input_tokens_details":{"cached_tokens":0},"output_tokens":42,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":53}`
	}
	detail := "null"
	if status == "incomplete" {
		detail = `{"reason":"max_output_tokens"}`
	}
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1700000000,"status":%q,"error":null,"incomplete_details":%s,"instructions":null,"metadata":{},"model":"gpt","output":[%s],"parallel_tool_calls":true,"temperature":1,"tool_choice":"auto","tools":[],"top_p":1,"usage":%s}`, status, detail, output, usage)
}
