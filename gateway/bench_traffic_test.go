package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pacedProvider serves prepared events, each with one write and one flush, and a pause after it if pace
// is set; or one body.
type pacedProvider struct {
	events [][]byte
	pace   time.Duration
	whole  []byte // a body instead of events
}

func (p *pacedProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	if p.whole != nil {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(p.whole)))
		_, _ = w.Write(p.whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	var ticks <-chan time.Time
	if p.pace > 0 {
		t := time.NewTicker(p.pace)
		defer t.Stop()
		ticks = t.C
	}
	for _, event := range p.events {
		if ticks != nil {
			<-ticks
			event = stamp(event)
		}
		if _, err := w.Write(event); err != nil {
			return
		}
		if err := rc.Flush(); err != nil {
			return
		}
	}
}

// stampMark is the placeholder for the time at which a paced event is sent.
const stampMark = "0000000000000000000"

func stamp(event []byte) []byte {
	return bytes.Replace(event, []byte(stampMark), fmt.Appendf(nil, "%019d", time.Now().UnixNano()), 1)
}

// source returns text with the JSON escapes of source code.
func source(n int) string {
	line := `	if err := run(ctx, "job", i); err != nil { return fmt.Errorf("job %d: %w", i, err) }` + "\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

const chunkHead = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench","system_fingerprint":"fp_1","choices":[{"index":0,"delta":`

func chunk(delta, finish string) []byte {
	return []byte(chunkHead + delta + `,"logprobs":null,"finish_reason":` + finish + "}]}\n\n")
}

// callEvents returns a stream with one call whose arguments have about size bytes, in chunks as
// small as those of real models.
func callEvents(size int) [][]byte {
	const piece = 18
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	events := [][]byte{
		chunk(`{"role":"assistant","content":null}`, "null"),
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"fs_create_file","arguments":""}}]}`, "null"),
	}
	for part := range slices.Chunk([]byte(args), piece) {
		events = append(events, chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+strconv.Quote(string(part))+`}}]}`, "null"))
	}
	return append(events, chunk(`{}`, `"tool_calls"`), []byte("data: [DONE]\n\n"))
}

// textEvents returns a stream of text only.
func textEvents(size int) [][]byte {
	const piece = 18
	events := [][]byte{chunk(`{"role":"assistant","content":""}`, "null")}
	for part := range slices.Chunk([]byte(source(size)), piece) {
		events = append(events, chunk(`{"content":`+strconv.Quote(string(part))+`,"t":"`+stampMark+`"}`, "null"))
	}
	return append(events, chunk(`{}`, `"stop"`), []byte("data: [DONE]\n\n"))
}

// responsesEvents is callEvents in the dialect of Responses, which repeats the arguments four
// times.
func responsesEvents(size int) [][]byte {
	const piece = 18
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	var events [][]byte
	event := func(typ, members string) {
		events = append(events, fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,%s,\"sequence_number\":%d}\n\n", typ, typ, members, len(events)))
	}
	item := func(args string) string {
		return `{"id":"fc_1","type":"function_call","status":"completed","arguments":` + args + `,"call_id":"call_1","name":"fs_create_file"}`
	}
	event("response.created", `"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`)
	event("response.output_item.added", `"output_index":0,"item":`+item(`""`))
	for part := range slices.Chunk([]byte(args), piece) {
		event("response.function_call_arguments.delta", `"delta":`+strconv.Quote(string(part))+`,"item_id":"fc_1","obfuscation":"w8GBz1wJ","output_index":0`)
	}
	whole := strconv.Quote(args)
	event("response.function_call_arguments.done", `"arguments":`+whole+`,"item_id":"fc_1","output_index":0`)
	event("response.output_item.done", `"output_index":0,"item":`+item(whole))
	event("response.completed", `"response":{"id":"resp_1","object":"response","status":"completed","output":[`+item(whole)+`],"usage":{"output_tokens":9}}`)
	return events
}

// messagesEvents is callEvents in the dialect of Messages.
func messagesEvents(size int) [][]byte {
	const piece = 18
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	var events [][]byte
	event := func(typ, members string) {
		events = append(events, fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q%s}\n\n", typ, typ, members))
	}
	event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"bench","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"fs_create_file","input":{}}`)
	for part := range slices.Chunk([]byte(args), piece) {
		event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":`+strconv.Quote(string(part))+`}`)
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}`)
	event("message_stop", "")
	return events
}

// wholeAnswer returns a body with one call whose arguments have about size bytes.
func wholeAnswer(size int) []byte {
	args := `{"path":"src/job.go","content":` + strconv.Quote(source(size*9/10)) + `}`
	return []byte(`{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":null,` +
		`"tool_calls":[{"id":"call_1","type":"function","function":{"name":"fs_create_file","arguments":` + strconv.Quote(args) + `}}]},"logprobs":null,"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`)
}

const benchRequest = `{"model":"bench","stream":true,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"fs_create_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}]}`

const benchMessages = `{"model":"bench","stream":true,"max_tokens":9999,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"fs_create_file","input_schema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]}`

const benchResponses = `{"model":"bench","stream":true,"input":"go","tools":[{"type":"function","name":"fs_create_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]}`
