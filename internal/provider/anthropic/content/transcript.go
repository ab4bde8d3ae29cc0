package content

import (
	"cmp"

	"github.com/stopgate/stopgate/internal/provider/transcript"
	"github.com/stopgate/stopgate/jsonstream"
)

// Transcript converts conversations for telemetry.
var Transcript = transcript.Format{
	Request: func(w transcript.Writer, l *transcript.List, root jsonstream.Value) (system string) {
		anthropicMessages(w, l, root)
		return w.System(root, "system")
	},
	Body: anthropicBody, Stream: anthropicStream,
}

// anthropicMessages reads the conversation of the Messages API.
func anthropicMessages(w transcript.Writer, l *transcript.List, root jsonstream.Value) {
	for _, v := range transcript.Elements(transcript.Get(root, "messages")) {
		writeBlocks(w, l.New(transcript.TextOf(v, "role")), transcript.Get(v, "content"))
	}
}

// writeBlocks reads the content of a message: a text, or a list of blocks.
func writeBlocks(w transcript.Writer, m *transcript.Message, content jsonstream.Value) {
	m.Text("text", transcript.TextOf(content))
	for _, b := range transcript.Elements(content) {
		writeBlock(w, m, b)
	}
}

func writeBlock(w transcript.Writer, m *transcript.Message, b jsonstream.Value) {
	switch kind := transcript.TextOf(b, "type"); kind {
	case "text":
		m.Text("text", transcript.TextOf(b, "text"))
	case "thinking":
		m.Text("reasoning", transcript.TextOf(b, "thinking"))
	case "tool_use":
		w.Call(m, transcript.TextOf(b, "id"), transcript.TextOf(b, "name"), transcript.Get(b, "input").Raw())
	case "tool_result":
		w.Result(m, transcript.TextOf(b, "tool_use_id"), transcript.Get(b, "content"))
	case "server_tool_use", "mcp_tool_use":
		w.ServerCall(m, transcript.TextOf(b, "id"), transcript.TextOf(b, "name"), kind, transcript.Get(b, "input").Raw())
	case "image", "document":
		modality := kind
		m.Media(modality, transcript.TextOf(b, "source", "url"), transcript.TextOf(b, "source", "media_type"))
	default:
		m.Other(b)
	}
}

// anthropicBody reads an answer of the Messages API.
func anthropicBody(w transcript.Writer, l *transcript.List, data []byte) {
	if root, ok := transcript.Parse(data); ok && transcript.Get(root, "content").IsValid() {
		writeBlocks(w, l.New(cmp.Or(transcript.TextOf(root, "role"), "assistant")), transcript.Get(root, "content"))
	}
}

// anthropicBlock collects the chunks of a block.
type anthropicBlock struct {
	kind, id, name string
	text           []byte
	args           []byte
}

// anthropicStream reads a stream of the Messages API.
func anthropicStream(w transcript.Writer, l *transcript.List, data []byte) {
	var order []*anthropicBlock
	open := map[int]*anthropicBlock{}
	begun := false
	transcript.Each(data, func(root jsonstream.Value) {
		at := transcript.Number(transcript.Get(root, "index"))
		switch transcript.TextOf(root, "type") {
		case "message_start":
			begun = true
		case "content_block_start":
			v := transcript.Get(root, "content_block")
			b := &anthropicBlock{kind: transcript.TextOf(v, "type"), id: transcript.TextOf(v, "id"), name: transcript.TextOf(v, "name")}
			b.text = append(b.text, cmp.Or(transcript.TextOf(v, "text"), transcript.TextOf(v, "thinking"))...)
			if in := transcript.Get(v, "input"); in.Kind() == jsonstream.Object && in.Len() > 0 {
				b.args = append(b.args, in.Raw()...)
			}
			open[at] = b
			order = append(order, b)
		case "content_block_delta":
			if b := open[at]; b != nil {
				v := transcript.Get(root, "delta")
				b.text = append(b.text, cmp.Or(transcript.TextOf(v, "text"), transcript.TextOf(v, "thinking"))...)
				b.args = append(b.args, transcript.TextOf(v, "partial_json")...)
			}
		}
	})
	if !begun {
		return
	}
	m := l.New("assistant")
	for _, b := range order {
		switch b.kind {
		case "text":
			m.Text("text", string(b.text))
		case "thinking":
			m.Text("reasoning", string(b.text))
		case "tool_use":
			if len(b.args) == 0 {
				b.args = []byte("{}")
			}
			w.Call(m, b.id, b.name, b.args)
		case "server_tool_use", "mcp_tool_use":
			w.ServerCall(m, b.id, b.name, b.kind, b.args)
		default:
			if b.kind != "" {
				m.Part(b.kind)
				m.End()
			}
		}
	}
}
