package main

import (
	"fmt"
	"math/rand/v2"
)

// answer returns the events of a stream, or one body.
func (t traffic) answer() ([][]byte, error) {
	text, err := source(t.Size)
	if err != nil {
		return nil, err
	}
	args := `{"path":"src/job.go","content":` + quote(text) + `}`
	a := &answer{traffic: t, rng: rand.New(rand.NewPCG(1, 2))}
	if t.Text {
		args = text
	}
	switch {
	case !t.Stream:
		return [][]byte{a.whole(args)}, nil
	case t.Dialect == "responses":
		a.responses(args)
	case t.Dialect == "messages":
		a.messages(args)
	default:
		a.chat(args)
	}
	return a.events, nil
}

// answer is a stream that is being made.
type answer struct {
	traffic
	rng    *rand.Rand
	events [][]byte
}

// whole is an answer that is not streamed.
func (a *answer) whole(args string) []byte {
	switch a.Dialect {
	case "responses":
		return fmt.Appendf(nil, `{"id":"resp_1","object":"response","created_at":1769809582,"status":"completed","error":null,"model":"bench","output":[%s],"parallel_tool_calls":true,"usage":{"input_tokens":98,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"total_tokens":118}}`, item(args, "completed"))
	case "messages":
		return fmt.Appendf(nil, `{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[{"type":"tool_use","id":"toolu_1","name":"fs_create_file","input":%s}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":98,"output_tokens":20}}`, args)
	}
	return fmt.Appendf(nil, `{"id":"chatcmpl-1","object":"chat.completion","created":1769809582,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"fs_create_file","arguments":%s}}],"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":98,"completion_tokens":20,"total_tokens":118},"service_tier":"default","system_fingerprint":"fp_1"}`, quote(args))
}

// chat makes chunks with padding of varying length; or, with usage in each, those of a server of open
// models, whose counter grows.
func (a *answer) chat(args string) {
	chunk := func(delta, finish string, n int) {
		head := `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1769809582,"model":"bench"`
		choices := `"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}]`
		if a.Usage {
			a.events = append(a.events, fmt.Appendf(nil, "data: %s,%s,\"usage\":{\"prompt_tokens\":98,\"total_tokens\":%d,\"completion_tokens\":%d}}\n\n", head, choices, 98+n, n))
			return
		}
		a.events = append(a.events, fmt.Appendf(nil, "data: %s,\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"usage\":null,%s,\"obfuscation\":\"%s\"}\n\n", head, choices, padding(a.rng)))
	}
	chunk(`{"role":"assistant","content":null}`, "null", 1)
	if !a.Text {
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"fs_create_file","arguments":""}}]}`, "null", 2)
	}
	for i, p := range pieces(args, a.Piece) {
		delta := `{"content":` + quote(p) + `}`
		if !a.Text {
			delta = `{"tool_calls":[{"index":0,"function":{"arguments":` + quote(p) + `}}]}`
		}
		chunk(delta, "null", 3+i)
	}
	finish := `"tool_calls"`
	if a.Text {
		finish = `"stop"`
	}
	chunk("{}", finish, 4+len(args)/a.Piece)
	a.events = append(a.events, []byte("data: [DONE]\n\n"))
}

// item is a call of Responses.
func item(args, status string) string {
	return `{"id":"fc_1","type":"function_call","status":"` + status + `","arguments":` + quote(args) + `,"call_id":"call_1","name":"fs_create_file"}`
}

// message is a text of Responses.
func message(text, status string) string {
	return `{"id":"msg_1","type":"message","status":"` + status + `","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(text) + `}],"role":"assistant"}`
}

// responses makes the events of Responses, which repeat the arguments four times.
func (a *answer) responses(args string) {
	event := func(typ, members string) {
		a.events = append(a.events, fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", typ, typ, len(a.events), members))
	}
	event("response.created", `"response":{"id":"resp_1","object":"response","created_at":1769809582,"status":"in_progress","model":"bench","output":[]}`)
	event("response.in_progress", `"response":{"id":"resp_1","object":"response","created_at":1769809582,"status":"in_progress","model":"bench","output":[]}`)
	last := item(args, "completed")
	if a.Text {
		last = message(args, "completed")
		event("response.output_item.added", `"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
		event("response.content_part.added", `"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`)
		for _, p := range pieces(args, a.Piece) {
			event("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+quote(p)+`,"logprobs":[],"obfuscation":"`+padding(a.rng)+`"`)
		}
		event("response.output_text.done", `"item_id":"msg_1","output_index":0,"content_index":0,"text":`+quote(args)+`,"logprobs":[]`)
		event("response.content_part.done", `"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","annotations":[],"logprobs":[],"text":`+quote(args)+`}`)
	} else {
		event("response.output_item.added", `"output_index":0,"item":`+item("", "in_progress"))
		for _, p := range pieces(args, a.Piece) {
			event("response.function_call_arguments.delta", `"item_id":"fc_1","output_index":0,"delta":`+quote(p)+`,"obfuscation":"`+padding(a.rng)+`"`)
		}
		event("response.function_call_arguments.done", `"item_id":"fc_1","output_index":0,"arguments":`+quote(args))
	}
	event("response.output_item.done", `"output_index":0,"item":`+last)
	event("response.completed", `"response":{"id":"resp_1","object":"response","created_at":1769809582,"status":"completed","model":"bench","output":[`+last+`],"usage":{"input_tokens":98,"output_tokens":20,"total_tokens":118}}`)
}

// messages makes the events of Messages, with a ping after the first block has begun.
func (a *answer) messages(args string) {
	event := func(typ, members string) {
		a.events = append(a.events, fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q%s}\n\n", typ, typ, members))
	}
	event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":98,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1,"service_tier":"standard"}}`)
	block, delta, reason := `{"type":"tool_use","id":"toolu_1","name":"fs_create_file","input":{}}`, `{"type":"input_json_delta","partial_json":%s}`, "tool_use"
	if a.Text {
		block, delta, reason = `{"type":"text","text":""}`, `{"type":"text_delta","text":%s}`, "end_turn"
	}
	event("content_block_start", `,"index":0,"content_block":`+block)
	event("ping", "")
	for _, p := range pieces(args, a.Piece) {
		// The service pads lines with spaces of varying number.
		event("content_block_delta", `,"index":0,"delta":`+fmt.Sprintf(delta, quote(p))+fmt.Sprintf("%*s", a.rng.IntN(12), ""))
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":20}`)
	event("message_stop", "")
}
