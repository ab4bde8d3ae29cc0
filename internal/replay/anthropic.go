package replay

import (
	"bytes"
	"fmt"
)

// streamAnthropic renders a turn as Messages events: named events, one block per text and call, two
// or three tokens per delta, an empty first partial_json.
func streamAnthropic(a *scripted, emit emitFunc) error {
	s := &anthropicStream{emit: emit}
	s.event("message_start", 0, 0, `{"type":"message_start","message":{%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}}}`,
		a.anthropicHead(), a.prompt)
	if a.Say != "" {
		s.block(`{"type":"text","text":""}`)
		s.event("ping", 0, 0, `{"type": "ping"}`)
		s.deltas("text_delta", "text", a.Say)
		s.stop()
	}
	for i, call := range a.Calls {
		s.block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%s,"input":{}}`, a.callID("toolu_", i), quote(call.Tool)))
		s.event("content_block_delta", 0, 0, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":""}}`, s.index)
		s.deltas("input_json_delta", "partial_json", call.Args)
		s.stop()
	}
	s.event("message_delta", 0, 0, `{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`, a.anthropicStop(), a.tokens())
	s.event("message_stop", 0, 0, `{"type":"message_stop"}`)
	return s.err
}

// anthropicStream numbers the blocks and keeps the first error.
type anthropicStream struct {
	emit  emitFunc
	index int
	err   error
}

func (s *anthropicStream) event(name string, tokens, size int, format string, args ...any) {
	if s.err == nil {
		s.err = s.emit(fmt.Appendf(nil, "event: %s\ndata: "+format+"\n\n", append([]any{name}, args...)...), tokens, size)
	}
}

func (s *anthropicStream) block(content string) {
	s.event("content_block_start", 0, 0, `{"type":"content_block_start","index":%d,"content_block":%s}`, s.index, content)
}

func (s *anthropicStream) deltas(kind, member, text string) {
	const tokens = 2
	for piece := range pieces(text, tokens) {
		if s.err != nil {
			return
		}
		s.event("content_block_delta", tokens, len(piece), `{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, s.index, kind, member, quote(piece))
	}
}

func (s *anthropicStream) stop() {
	s.event("content_block_stop", 0, 0, `{"type":"content_block_stop","index":%d}`, s.index)
	s.index++
}

// bodyAnthropic renders a turn as a Messages response.
func bodyAnthropic(a *scripted) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `{%s,"content":[`, a.anthropicHead())
	comma := ""
	if a.Say != "" {
		fmt.Fprintf(&out, `{"type":"text","text":%s}`, quote(a.Say))
		comma = ","
	}
	for i, call := range a.Calls {
		fmt.Fprintf(&out, `%s{"type":"tool_use","id":%q,"name":%s,"input":%s}`, comma, a.callID("toolu_", i), quote(call.Tool), call.Args)
		comma = ","
	}
	fmt.Fprintf(&out, `],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`, a.anthropicStop(), a.prompt, a.tokens())
	return out.Bytes()
}

func (a *scripted) anthropicHead() string {
	return fmt.Sprintf(`"id":%q,"type":"message","role":"assistant","model":%s`, a.id("msg_", "message"), quote(a.model))
}

func (a *scripted) anthropicStop() string {
	if len(a.Calls) > 0 {
		return `"tool_use"`
	}
	return `"end_turn"`
}
