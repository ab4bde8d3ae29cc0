package content

import (
	"bytes"
	"fmt"

	"github.com/stopgate/stopgate/internal/provider/script"
	"github.com/stopgate/stopgate/jsonstream"
)

// Script renders answers of the replay model.
var Script = script.Format{
	Folder: "anthropic-messages", Stream: playScript, Body: scriptBody,
	Error: `{"type":"error","error":{"message":%s,"type":%q}}`,
	Answered: func(request jsonstream.Value) int {
		messages, _ := request.Get("messages")
		return script.Messages(messages, "assistant")
	},
}

// playScript renders a turn as Messages events: named events, one block per text and call, two
// or three tokens per delta, an empty first partial_json.
func playScript(a *script.Answer, emit script.Emit) error {
	s := &scriptStream{emit: emit}
	s.event("message_start", 0, 0, `{"type":"message_start","message":{%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}}}`,
		anthropicHead(a), a.Prompt)
	if a.Say != "" {
		s.block(`{"type":"text","text":""}`)
		s.event("ping", 0, 0, `{"type": "ping"}`)
		s.deltas("text_delta", "text", a.Say)
		s.stop()
	}
	for i, call := range a.Calls {
		s.block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%s,"input":{}}`, a.CallID("toolu_", i), script.Quote(call.Tool)))
		s.event("content_block_delta", 0, 0, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":""}}`, s.index)
		s.deltas("input_json_delta", "partial_json", call.Args)
		s.stop()
	}
	s.event("message_delta", 0, 0, `{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`, anthropicStop(a), a.Tokens())
	s.event("message_stop", 0, 0, `{"type":"message_stop"}`)
	return s.err
}

// scriptStream numbers the blocks and keeps the first error.
type scriptStream struct {
	emit  script.Emit
	index int
	err   error
}

func (s *scriptStream) event(name string, tokens, size int, format string, args ...any) {
	if s.err == nil {
		s.err = s.emit(fmt.Appendf(nil, "event: %s\ndata: "+format+"\n\n", append([]any{name}, args...)...), tokens, size)
	}
}

func (s *scriptStream) block(content string) {
	s.event("content_block_start", 0, 0, `{"type":"content_block_start","index":%d,"content_block":%s}`, s.index, content)
}

func (s *scriptStream) deltas(kind, member, text string) {
	const tokens = 2
	for piece := range script.Pieces(text, tokens) {
		if s.err != nil {
			return
		}
		s.event("content_block_delta", tokens, len(piece), `{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, s.index, kind, member, script.Quote(piece))
	}
}

func (s *scriptStream) stop() {
	s.event("content_block_stop", 0, 0, `{"type":"content_block_stop","index":%d}`, s.index)
	s.index++
}

// scriptBody renders a turn as a Messages response.
func scriptBody(a *script.Answer) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `{%s,"content":[`, anthropicHead(a))
	comma := ""
	if a.Say != "" {
		fmt.Fprintf(&out, `{"type":"text","text":%s}`, script.Quote(a.Say))
		comma = ","
	}
	for i, call := range a.Calls {
		fmt.Fprintf(&out, `%s{"type":"tool_use","id":%q,"name":%s,"input":%s}`, comma, a.CallID("toolu_", i), script.Quote(call.Tool), call.Args)
		comma = ","
	}
	fmt.Fprintf(&out, `],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`, anthropicStop(a), a.Prompt, a.Tokens())
	return out.Bytes()
}

func anthropicHead(a *script.Answer) string {
	return fmt.Sprintf(`"id":%q,"type":"message","role":"assistant","model":%s`, a.ID("msg_", "message"), script.Quote(a.Model))
}

func anthropicStop(a *script.Answer) string {
	if len(a.Calls) > 0 {
		return `"tool_use"`
	}
	return `"end_turn"`
}
