package content

import (
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/provider/transcript"
	"github.com/stopgate/stopgate/jsonstream"
)

// Transcript converts conversations for telemetry.
var Transcript = transcript.Format{
	Request: func(w transcript.Writer, l *transcript.List, root jsonstream.Value) (system string) {
		writeItems(w, l, transcript.Get(root, "input"))
		return w.System(root, "instructions")
	},
	Body: responsesBody, Stream: responsesStream,
}

// writeItems reads the input of the Responses API: a text, or a list of items.
func writeItems(w transcript.Writer, l *transcript.List, input jsonstream.Value) {
	if text := transcript.TextOf(input); text != "" {
		l.New("user").Text("text", text)
	}
	for _, v := range transcript.Elements(input) {
		writeItem(w, l, v)
	}
}

// writeItem reads one item. Consecutive items of the model are one message.
func writeItem(w transcript.Writer, l *transcript.List, v jsonstream.Value) {
	kind := transcript.TextOf(v, "type")
	switch {
	case kind == "message" || kind == "" && transcript.Get(v, "role").IsValid():
		role := transcript.TextOf(v, "role")
		if role == "assistant" {
			writeContents(w, l.Begin(role), transcript.Get(v, "content"))
		} else {
			writeContents(w, l.New(role), transcript.Get(v, "content"))
		}
	case kind == "function_call" || kind == "mcp_approval_request":
		w.Call(l.Begin("assistant"), cmp.Or(transcript.TextOf(v, "call_id"), transcript.TextOf(v, "id")), transcript.TextOf(v, "name"), transcript.Arguments(transcript.Get(v, "arguments")))
	case kind == "custom_tool_call":
		l.Begin("assistant").Input(transcript.TextOf(v, "call_id"), transcript.TextOf(v, "name"), transcript.TextOf(v, "input"))
	case kind == "local_shell_call" || kind == "shell_call" || kind == "computer_call":
		w.Call(l.Begin("assistant"), cmp.Or(transcript.TextOf(v, "call_id"), transcript.TextOf(v, "id")), strings.TrimSuffix(kind, "_call"), transcript.Get(v, "action").Raw())
	case kind == "apply_patch_call":
		w.Call(l.Begin("assistant"), transcript.TextOf(v, "call_id"), "apply_patch", transcript.Get(v, "operation").Raw())
	case strings.HasSuffix(kind, "_output"):
		w.Result(l.New("tool"), cmp.Or(transcript.TextOf(v, "call_id"), transcript.TextOf(v, "id")), transcript.Get(v, "output"))
	case kind == "reasoning":
		m := l.Begin("assistant")
		for _, part := range transcript.Elements(transcript.Get(v, "summary")) {
			m.Text("reasoning", transcript.TextOf(part, "text"))
		}
		for _, part := range transcript.Elements(transcript.Get(v, "content")) {
			m.Text("reasoning", transcript.TextOf(part, "text"))
		}
	case strings.HasSuffix(kind, "_call"):
		w.ServerCall(l.Begin("assistant"), transcript.TextOf(v, "id"), strings.TrimSuffix(kind, "_call"), kind, nil)
	default:
		l.Begin("assistant").Other(v)
	}
}

func writeContents(w transcript.Writer, m *transcript.Message, content jsonstream.Value) {
	m.Text("text", transcript.TextOf(content))
	for _, part := range transcript.Elements(content) {
		switch transcript.TextOf(part, "type") {
		case "input_text", "output_text", "text":
			m.Text("text", transcript.TextOf(part, "text"))
		case "refusal":
			m.Text("text", transcript.TextOf(part, "refusal"))
		case "input_image":
			m.Media("image", transcript.TextOf(part, "image_url"), "")
		case "input_audio":
			m.Media("audio", "", "")
		case "input_file":
			m.Media("document", transcript.TextOf(part, "file_url"), "")
		default:
			m.Other(part)
		}
	}
}

// responsesBody reads an answer of the Responses API.
func responsesBody(w transcript.Writer, l *transcript.List, data []byte) {
	root, _ := transcript.Parse(data)
	for _, v := range transcript.Elements(transcript.Get(root, "output")) {
		writeItem(w, l, v)
	}
}

// responsesStream reads a stream of the Responses API. Its last event has the whole answer; a
// broken stream has the items that were complete.
func responsesStream(w transcript.Writer, l *transcript.List, data []byte) {
	var done transcript.List
	transcript.Each(data, func(root jsonstream.Value) {
		switch transcript.TextOf(root, "type") {
		case "response.output_item.done":
			writeItem(w, &done, transcript.Get(root, "item"))
		case "response.completed", "response.incomplete", "response.failed":
			if out := transcript.Elements(transcript.Get(root, "response", "output")); len(out) > 0 {
				l.Reset()
				for _, v := range out {
					writeItem(w, l, v)
				}
			}
		}
	})
	if l.Len() == 0 {
		*l = done
	}
}
