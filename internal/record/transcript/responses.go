package transcript

import (
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// items reads the input of the Responses API: a text, or a list of items.
func (w Writer) items(l *list, input jsonstream.Value) {
	if text := textOf(input); text != "" {
		l.new("user").text("text", text)
	}
	for _, v := range elements(input) {
		w.item(l, v)
	}
}

// item reads one item. Consecutive items of the model are one message.
func (w Writer) item(l *list, v jsonstream.Value) {
	kind := textOf(v, "type")
	switch {
	case kind == "message" || kind == "" && get(v, "role").IsValid():
		role := textOf(v, "role")
		if role == "assistant" {
			w.contents(l.begin(role), get(v, "content"))
		} else {
			w.contents(l.new(role), get(v, "content"))
		}
	case kind == "function_call" || kind == "mcp_approval_request":
		w.call(l.begin("assistant"), cmp.Or(textOf(v, "call_id"), textOf(v, "id")), textOf(v, "name"), arguments(get(v, "arguments")))
	case kind == "custom_tool_call":
		l.begin("assistant").input(textOf(v, "call_id"), textOf(v, "name"), textOf(v, "input"))
	case kind == "local_shell_call" || kind == "shell_call" || kind == "computer_call":
		w.call(l.begin("assistant"), cmp.Or(textOf(v, "call_id"), textOf(v, "id")), strings.TrimSuffix(kind, "_call"), get(v, "action").Raw())
	case kind == "apply_patch_call":
		w.call(l.begin("assistant"), textOf(v, "call_id"), "apply_patch", get(v, "operation").Raw())
	case strings.HasSuffix(kind, "_output"):
		w.result(l.new("tool"), cmp.Or(textOf(v, "call_id"), textOf(v, "id")), get(v, "output"))
	case kind == "reasoning":
		m := l.begin("assistant")
		for _, part := range elements(get(v, "summary")) {
			m.text("reasoning", textOf(part, "text"))
		}
		for _, part := range elements(get(v, "content")) {
			m.text("reasoning", textOf(part, "text"))
		}
	case strings.HasSuffix(kind, "_call"):
		w.serverCall(l.begin("assistant"), textOf(v, "id"), strings.TrimSuffix(kind, "_call"), kind, nil)
	default:
		l.begin("assistant").other(v)
	}
}

func (w Writer) contents(m *message, content jsonstream.Value) {
	m.text("text", textOf(content))
	for _, part := range elements(content) {
		switch textOf(part, "type") {
		case "input_text", "output_text", "text":
			m.text("text", textOf(part, "text"))
		case "refusal":
			m.text("text", textOf(part, "refusal"))
		case "input_image":
			m.media("image", textOf(part, "image_url"), "")
		case "input_audio":
			m.media("audio", "", "")
		case "input_file":
			m.media("document", textOf(part, "file_url"), "")
		default:
			m.other(part)
		}
	}
}

// responsesBody reads an answer of the Responses API.
func (w Writer) responsesBody(l *list, data []byte) {
	root, _ := parse(data)
	for _, v := range elements(get(root, "output")) {
		w.item(l, v)
	}
}

// responsesStream reads a stream of the Responses API. Its last event has the whole answer; a
// broken stream has the items that were complete.
func (w Writer) responsesStream(l *list, data []byte) {
	var done list
	each(data, func(root jsonstream.Value) {
		switch textOf(root, "type") {
		case "response.output_item.done":
			w.item(&done, get(root, "item"))
		case "response.completed", "response.incomplete", "response.failed":
			if out := elements(get(root, "response", "output")); len(out) > 0 {
				l.messages = nil
				for _, v := range out {
					w.item(l, v)
				}
			}
		}
	})
	if len(l.messages) == 0 {
		*l = done
	}
}
