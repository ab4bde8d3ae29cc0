package transcript

import (
	"cmp"

	"github.com/stopgate/stopgate/jsonstream"
)

// anthropicMessages reads the conversation of the Messages API.
func (w Writer) anthropicMessages(l *list, root jsonstream.Value) {
	for _, v := range elements(get(root, "messages")) {
		w.blocks(l.new(textOf(v, "role")), get(v, "content"))
	}
}

// blocks reads the content of a message: a text, or a list of blocks.
func (w Writer) blocks(m *message, content jsonstream.Value) {
	m.text("text", textOf(content))
	for _, b := range elements(content) {
		w.block(m, b)
	}
}

func (w Writer) block(m *message, b jsonstream.Value) {
	switch kind := textOf(b, "type"); kind {
	case "text":
		m.text("text", textOf(b, "text"))
	case "thinking":
		m.text("reasoning", textOf(b, "thinking"))
	case "tool_use":
		w.call(m, textOf(b, "id"), textOf(b, "name"), get(b, "input").Raw())
	case "tool_result":
		w.result(m, textOf(b, "tool_use_id"), get(b, "content"))
	case "server_tool_use", "mcp_tool_use":
		w.serverCall(m, textOf(b, "id"), textOf(b, "name"), kind, get(b, "input").Raw())
	case "image", "document":
		modality := kind
		m.media(modality, textOf(b, "source", "url"), textOf(b, "source", "media_type"))
	default:
		m.other(b)
	}
}

// serverCall adds a call that runs at the provider.
func (w Writer) serverCall(m *message, id, name, kind string, args []byte) {
	m.part("server_tool_call")
	m.member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"server_tool_call":{"type":`...), kind)
	n := len(m.parts)
	m.parts = append(m.parts, `,"arguments":`...)
	if full := len(m.parts); len(args) == 0 || len(w.value(m.parts, args)) == full {
		m.parts = m.parts[:n]
	} else {
		m.parts = w.value(m.parts, args)
	}
	m.parts = append(m.parts, '}')
	m.end()
}

// anthropicBody reads an answer of the Messages API.
func (w Writer) anthropicBody(l *list, data []byte) {
	if root, ok := parse(data); ok && get(root, "content").IsValid() {
		w.blocks(l.new(cmp.Or(textOf(root, "role"), "assistant")), get(root, "content"))
	}
}

// anthropicBlock collects the chunks of a block.
type anthropicBlock struct {
	kind, id, name string
	text           []byte
	args           []byte
}

// anthropicStream reads a stream of the Messages API.
func (w Writer) anthropicStream(l *list, data []byte) {
	var order []*anthropicBlock
	open := map[int]*anthropicBlock{}
	begun := false
	each(data, func(root jsonstream.Value) {
		at := number(get(root, "index"))
		switch textOf(root, "type") {
		case "message_start":
			begun = true
		case "content_block_start":
			v := get(root, "content_block")
			b := &anthropicBlock{kind: textOf(v, "type"), id: textOf(v, "id"), name: textOf(v, "name")}
			b.text = append(b.text, cmp.Or(textOf(v, "text"), textOf(v, "thinking"))...)
			if in := get(v, "input"); in.Kind() == jsonstream.Object && in.Len() > 0 {
				b.args = append(b.args, in.Raw()...)
			}
			open[at] = b
			order = append(order, b)
		case "content_block_delta":
			if b := open[at]; b != nil {
				v := get(root, "delta")
				b.text = append(b.text, cmp.Or(textOf(v, "text"), textOf(v, "thinking"))...)
				b.args = append(b.args, textOf(v, "partial_json")...)
			}
		}
	})
	if !begun {
		return
	}
	m := l.new("assistant")
	for _, b := range order {
		switch b.kind {
		case "text":
			m.text("text", string(b.text))
		case "thinking":
			m.text("reasoning", string(b.text))
		case "tool_use":
			if len(b.args) == 0 {
				b.args = []byte("{}")
			}
			w.call(m, b.id, b.name, b.args)
		case "server_tool_use", "mcp_tool_use":
			w.serverCall(m, b.id, b.name, b.kind, b.args)
		default:
			if b.kind != "" {
				m.part(b.kind)
				m.end()
			}
		}
	}
}
