package content

import (
	"bytes"
	"cmp"

	"github.com/stopgate/stopgate/internal/provider/transcript"
	"github.com/stopgate/stopgate/jsonstream"
)

// Transcript converts conversations for telemetry.
var Transcript = transcript.Format{
	Request: func(w transcript.Writer, l *transcript.List, root jsonstream.Value) (system string) {
		chatMessages(w, l, root)
		return ""
	},
	Body: chatBody, Stream: chatStream,
}

// chatMessages reads the conversation of Chat Completions.
func chatMessages(w transcript.Writer, l *transcript.List, root jsonstream.Value) {
	for _, v := range transcript.Elements(transcript.Get(root, "messages")) {
		m := l.New(transcript.TextOf(v, "role"))
		if m.Role() == "tool" || m.Role() == "function" {
			w.Result(m, cmp.Or(transcript.TextOf(v, "tool_call_id"), transcript.TextOf(v, "name")), transcript.Get(v, "content"))
			continue
		}
		chatMessage(w, m, v)
	}
}

// chatMessage reads the text and the calls of a message of Chat Completions.
func chatMessage(w transcript.Writer, m *transcript.Message, v jsonstream.Value) {
	m.Text("reasoning", cmp.Or(transcript.TextOf(v, "reasoning_content"), transcript.TextOf(v, "reasoning")))
	m.Text("text", transcript.TextOf(v, "content"))
	for _, part := range transcript.Elements(transcript.Get(v, "content")) {
		switch transcript.TextOf(part, "type") {
		case "text":
			m.Text("text", transcript.TextOf(part, "text"))
		case "refusal":
			m.Text("text", transcript.TextOf(part, "refusal"))
		case "image_url":
			m.Media("image", transcript.TextOf(part, "image_url", "url"), "")
		case "input_audio":
			m.Media("audio", "", "audio/"+cmp.Or(transcript.TextOf(part, "input_audio", "format"), "*"))
		case "file":
			m.Media("document", "", "")
		default:
			m.Other(part)
		}
	}
	m.Text("text", transcript.TextOf(v, "refusal"))
	for _, call := range transcript.Elements(transcript.Get(v, "tool_calls")) {
		if custom := transcript.Get(call, "custom"); custom.IsValid() {
			m.Input(transcript.TextOf(call, "id"), transcript.TextOf(custom, "name"), transcript.TextOf(custom, "input"))
			continue
		}
		w.Call(m, transcript.TextOf(call, "id"), transcript.TextOf(call, "function", "name"), transcript.Arguments(transcript.Get(call, "function", "arguments")))
	}
	if call := transcript.Get(v, "function_call"); call.Kind() == jsonstream.Object {
		w.Call(m, "", transcript.TextOf(call, "name"), transcript.Arguments(transcript.Get(call, "arguments")))
	}
}

// chatBody reads an answer of Chat Completions.
func chatBody(w transcript.Writer, l *transcript.List, data []byte) {
	root, _ := transcript.Parse(data)
	for _, c := range transcript.Elements(transcript.Get(root, "choices")) {
		v := transcript.Get(c, "message")
		chatMessage(w, l.New(cmp.Or(transcript.TextOf(v, "role"), "assistant")), v)
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
func chatStream(w transcript.Writer, l *transcript.List, data []byte) {
	var choices []*chatChoice
	transcript.Each(data, func(root jsonstream.Value) {
		for _, v := range transcript.Elements(transcript.Get(root, "choices")) {
			n := transcript.Number(transcript.Get(v, "index"))
			if n < 0 || n >= maxWritten {
				continue
			}
			for len(choices) <= n {
				choices = append(choices, new(chatChoice))
			}
			choices[n].delta(transcript.Get(v, "delta"))
		}
	})
	for _, c := range choices {
		m := l.New("assistant")
		m.Text("reasoning", string(c.reasoning))
		m.Text("text", string(c.text))
		m.Text("text", string(c.refusal))
		for _, p := range c.calls {
			writeCall(w, m, p)
		}
	}
}

// maxWritten bounds the memory that a stream can use.
const maxWritten = 128

func (c *chatChoice) delta(v jsonstream.Value) {
	c.reasoning = append(c.reasoning, cmp.Or(transcript.TextOf(v, "reasoning_content"), transcript.TextOf(v, "reasoning"))...)
	c.text = append(c.text, transcript.TextOf(v, "content")...)
	c.refusal = append(c.refusal, transcript.TextOf(v, "refusal")...)
	for _, call := range transcript.Elements(transcript.Get(v, "tool_calls")) {
		p := c.call(string(bytes.TrimSpace(transcript.Get(call, "index").Raw())), transcript.TextOf(call, "id"))
		p.add(call, transcript.Get(call, "function"), transcript.Get(call, "custom"))
	}
	if call := transcript.Get(v, "function_call"); call.Kind() == jsonstream.Object {
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
	p.id = cmp.Or(p.id, transcript.TextOf(call, "id"))
	p.name = cmp.Or(p.name, transcript.TextOf(function, "name"), transcript.TextOf(custom, "name"))
	p.args = append(p.args, transcript.Arguments(transcript.Get(function, "arguments"))...)
	if custom.IsValid() {
		p.free = true
		p.args = append(p.args, transcript.TextOf(custom, "input")...)
	}
}

func writeCall(w transcript.Writer, m *transcript.Message, p *partialCall) {
	if p.free {
		m.Input(p.id, p.name, string(p.args))
		return
	}
	w.Call(m, p.id, p.name, p.args)
}
