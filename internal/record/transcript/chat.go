package transcript

import (
	"bytes"
	"cmp"

	"github.com/stopgate/stopgate/jsonstream"
)

// chatMessages reads the conversation of Chat Completions.
func (w Writer) chatMessages(l *list, root jsonstream.Value) {
	for _, v := range elements(get(root, "messages")) {
		m := l.new(textOf(v, "role"))
		if m.role == "tool" || m.role == "function" {
			w.result(m, cmp.Or(textOf(v, "tool_call_id"), textOf(v, "name")), get(v, "content"))
			continue
		}
		w.chatMessage(m, v)
	}
}

// chatMessage reads the text and the calls of a message of Chat Completions.
func (w Writer) chatMessage(m *message, v jsonstream.Value) {
	m.text("reasoning", cmp.Or(textOf(v, "reasoning_content"), textOf(v, "reasoning")))
	m.text("text", textOf(v, "content"))
	for _, part := range elements(get(v, "content")) {
		switch textOf(part, "type") {
		case "text":
			m.text("text", textOf(part, "text"))
		case "refusal":
			m.text("text", textOf(part, "refusal"))
		case "image_url":
			m.media("image", textOf(part, "image_url", "url"), "")
		case "input_audio":
			m.media("audio", "", "audio/"+cmp.Or(textOf(part, "input_audio", "format"), "*"))
		case "file":
			m.media("document", "", "")
		default:
			m.other(part)
		}
	}
	m.text("text", textOf(v, "refusal"))
	for _, call := range elements(get(v, "tool_calls")) {
		if custom := get(call, "custom"); custom.IsValid() {
			m.input(textOf(call, "id"), textOf(custom, "name"), textOf(custom, "input"))
			continue
		}
		w.call(m, textOf(call, "id"), textOf(call, "function", "name"), arguments(get(call, "function", "arguments")))
	}
	if call := get(v, "function_call"); call.Kind() == jsonstream.Object {
		w.call(m, "", textOf(call, "name"), arguments(get(call, "arguments")))
	}
}

// arguments returns the text of arguments, which some servers send as an object.
func arguments(v jsonstream.Value) []byte {
	if v.Kind() == jsonstream.String {
		return v.AppendText(nil)
	}
	return v.Raw()
}

// chatBody reads an answer of Chat Completions.
func (w Writer) chatBody(l *list, data []byte) {
	root, _ := parse(data)
	for _, c := range elements(get(root, "choices")) {
		v := get(c, "message")
		w.chatMessage(l.new(cmp.Or(textOf(v, "role"), "assistant")), v)
	}
}

// chatChoice collects the chunks of a choice.
type chatChoice struct {
	text, refusal, reasoning []byte
	calls                    []*partialCall
}

// partialCall collects the chunks of a call.
type partialCall struct {
	key      string
	id, name string
	args     []byte
	free     bool // args is free text
}

// chatStream reads a stream of Chat Completions.
func (w Writer) chatStream(l *list, data []byte) {
	var choices []*chatChoice
	each(data, func(root jsonstream.Value) {
		for _, v := range elements(get(root, "choices")) {
			n := number(get(v, "index"))
			if n < 0 || n >= maxChoices {
				continue
			}
			for len(choices) <= n {
				choices = append(choices, new(chatChoice))
			}
			choices[n].delta(get(v, "delta"))
		}
	})
	for _, c := range choices {
		m := l.new("assistant")
		m.text("reasoning", string(c.reasoning))
		m.text("text", string(c.text))
		m.text("text", string(c.refusal))
		for _, p := range c.calls {
			w.partialCall(m, p)
		}
	}
}

// maxChoices bounds the memory that a stream can use.
const maxChoices = 128

func (c *chatChoice) delta(v jsonstream.Value) {
	c.reasoning = append(c.reasoning, cmp.Or(textOf(v, "reasoning_content"), textOf(v, "reasoning"))...)
	c.text = append(c.text, textOf(v, "content")...)
	c.refusal = append(c.refusal, textOf(v, "refusal")...)
	for _, call := range elements(get(v, "tool_calls")) {
		p := c.call(string(bytes.TrimSpace(get(call, "index").Raw())), textOf(call, "id"))
		p.add(call, get(call, "function"), get(call, "custom"))
	}
	if call := get(v, "function_call"); call.Kind() == jsonstream.Object {
		c.call("legacy", "").add(call, call, jsonstream.Value{})
	}
}

// call finds a call by its index; another id at the same index is another call.
func (c *chatChoice) call(key, id string) *partialCall {
	for i := len(c.calls) - 1; i >= 0; i-- {
		if p := c.calls[i]; p.key == key {
			if id == "" || p.id == "" || p.id == id {
				return p
			}
			break
		}
	}
	p := &partialCall{key: key}
	c.calls = append(c.calls, p)
	return p
}

func (p *partialCall) add(call, function, custom jsonstream.Value) {
	p.id = cmp.Or(p.id, textOf(call, "id"))
	p.name = cmp.Or(p.name, textOf(function, "name"), textOf(custom, "name"))
	p.args = append(p.args, arguments(get(function, "arguments"))...)
	if custom.IsValid() {
		p.free = true
		p.args = append(p.args, textOf(custom, "input")...)
	}
}

func (w Writer) partialCall(m *message, p *partialCall) {
	if p.free {
		m.input(p.id, p.name, string(p.args))
		return
	}
	w.call(m, p.id, p.name, p.args)
}
