package servers

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// content converts the result of a call to text for a model: texts unchanged, structured
// content if there is no text, and descriptions of other content.
func content(m *jsonrpc.Message) agent.Result {
	if m.Kind == jsonrpc.ErrorResponse {
		code, _ := m.Error.Get("code")
		text := "error: " + reason(m)
		if code.IsValid() {
			text += " (" + string(code.Raw()) + ")"
		}
		return agent.Result{Text: text, Failed: true}
	}
	if v, ok := m.Result.Get("resultType"); ok && textOf(v) == "input_required" {
		return agent.Result{Text: "error: the server wants an input of the user first, and nobody is asked here", Failed: true}
	}
	var parts []string
	text := false
	list, given := m.Result.Get("content")
	if given && list.Kind() == jsonstream.Array {
		for block := range list.Elements() {
			part, isText := blockText(block)
			text = text || isText
			parts = append(parts, part)
		}
	}
	structured, has := m.Result.Get("structuredContent")
	if has && !text {
		parts = append(parts, string(structured.Raw()))
	}
	r := agent.Result{Text: strings.Join(parts, "\n")}
	if v, ok := m.Result.Get("isError"); ok && v.Kind() == jsonstream.True {
		r.Failed = true
	}
	switch {
	case !given && !has:
		return agent.Result{Text: "error: the server's answer is no result of a tool", Failed: true}
	case r.Text == "":
		r.Text = "[no content]"
	}
	return r
}

// blockText converts one block of content.
func blockText(block jsonstream.Value) (text string, isText bool) {
	if block.Kind() != jsonstream.Object {
		return "[content that cannot be read]", false
	}
	get := func(v jsonstream.Value, name string) string {
		m, _ := v.Get(name)
		return textOf(m)
	}
	switch kind := get(block, "type"); kind {
	case "text":
		return get(block, "text"), true
	case "image", "audio":
		return fmt.Sprintf("[%s, %s, %s: it cannot be shown here]", kind, or(get(block, "mimeType"), "of no type"), bytesOf(get(block, "data"))), false
	case "resource_link":
		return fmt.Sprintf("[link to the resource %s %s]", get(block, "name"), get(block, "uri")), false
	case "resource":
		inner, ok := block.Get("resource")
		if !ok || inner.Kind() != jsonstream.Object {
			return "[a resource that cannot be read]", false
		}
		if v, ok := inner.Get("text"); ok {
			return fmt.Sprintf("[resource %s]\n%s", get(inner, "uri"), textOf(v)), true
		}
		return fmt.Sprintf("[resource %s, %s, %s: it cannot be shown here]", get(inner, "uri"), or(get(inner, "mimeType"), "of no type"), bytesOf(get(inner, "blob"))), false
	default:
		return fmt.Sprintf("[content of the type %q, which cannot be shown here]", kind), false
	}
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// bytesOf returns the number of bytes that a base64 text encodes.
func bytesOf(data string) string {
	return fmt.Sprintf("%d bytes", base64.StdEncoding.DecodedLen(len(data))-(len(data)-len(strings.TrimRight(data, "="))))
}
