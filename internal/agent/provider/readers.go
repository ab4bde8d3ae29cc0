package provider

import (
	"github.com/stopgate/stopgate/jsonstream"
)

// reader reads the parts of a response that the codec ignores: text, reasoning, usage.
type reader interface {
	read(s *Stream, v jsonstream.Value)
}

func (a API) reader() reader {
	switch a {
	case Responses:
		return responsesReader{}
	case Messages:
		return &messagesReader{}
	}
	return chatReader{}
}

// at returns the value at a path of names.
func at(v jsonstream.Value, path ...string) jsonstream.Value {
	for _, name := range path {
		v, _ = v.Get(name)
	}
	return v
}

func number(v jsonstream.Value) int64 {
	d, _ := v.Decimal()
	n, _ := d.Int64()
	return n
}

// chatReader reads chunks of Chat Completions.
type chatReader struct{}

func (chatReader) read(s *Stream, v jsonstream.Value) {
	if e := at(v, "error"); e.Kind() == jsonstream.Object {
		s.fail(v)
		return
	}
	choice, _ := at(v, "choices").Index(0)
	delta := at(choice, "delta")
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if t := at(delta, name); t.Kind() == jsonstream.String {
			s.sink.Thinking(t.Text())
			break
		}
	}
	s.addText(at(delta, "content").Text())
	s.addText(at(delta, "refusal").Text())
	s.limit = s.limit || at(choice, "finish_reason").IsText("length")
	if u := at(v, "usage"); u.Kind() == jsonstream.Object {
		s.usage = Usage{In: number(at(u, "prompt_tokens")), Out: number(at(u, "completion_tokens"))}
	}
}

// responsesReader reads events of Responses.
type responsesReader struct{}

func (responsesReader) read(s *Stream, v jsonstream.Value) {
	switch at(v, "type").Text() {
	case "response.output_text.delta", "response.refusal.delta":
		s.addText(at(v, "delta").Text())
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.sink.Thinking(at(v, "delta").Text())
	case "response.output_item.done":
		if item := at(v, "item"); at(item, "type").IsText("reasoning") {
			s.keep(string(item.Raw()))
		}
	case "response.completed", "response.incomplete":
		u := at(v, "response", "usage")
		s.usage = Usage{In: number(at(u, "input_tokens")), Out: number(at(u, "output_tokens"))}
		s.limit = s.limit || at(v, "response", "incomplete_details", "reason").IsText("max_output_tokens")
	case "response.failed":
		s.fail(at(v, "response"))
	case "error":
		s.fail(v)
	}
}

// messagesReader reads events of the Messages API. It joins the chunks of a block of reasoning,
// which is sent back to the provider unchanged.
type messagesReader struct {
	kind, thinking, signature string
}

func (r *messagesReader) read(s *Stream, v jsonstream.Value) {
	switch at(v, "type").Text() {
	case "message_start":
		s.usage.In = number(at(v, "message", "usage", "input_tokens"))
	case "content_block_start":
		block := at(v, "content_block")
		*r = messagesReader{kind: at(block, "type").Text(), thinking: at(block, "thinking").Text(), signature: at(block, "signature").Text()}
		if r.kind == "text" {
			s.addText(at(block, "text").Text())
		}
		if r.kind == "redacted_thinking" {
			s.keep(string(block.Raw()))
		}
	case "content_block_delta":
		d := at(v, "delta")
		s.addText(at(d, "text").Text())
		if piece := at(d, "thinking").Text(); piece != "" {
			r.thinking += piece
			s.sink.Thinking(piece)
		}
		r.signature += at(d, "signature").Text()
	case "content_block_stop":
		if r.kind == "thinking" && r.signature != "" {
			var t text
			t.raw(`{"type":"thinking","thinking":`)
			t.quote(r.thinking)
			t.raw(`,"signature":`)
			t.quote(r.signature)
			t.raw("}")
			s.keep(string(t))
		}
		*r = messagesReader{}
	case "message_delta":
		s.usage.Out = number(at(v, "usage", "output_tokens"))
		s.limit = s.limit || at(v, "delta", "stop_reason").IsText("max_tokens")
	case "error":
		s.fail(v)
	}
}
