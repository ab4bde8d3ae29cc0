package policy

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// A tool returns its text as plain text in a conversation, as a JSON string to a program, and
// as the content of an MCP result. A pattern on results is matched with the text of each.

// resultText returns the text of a result: the value of a JSON string, the text blocks of an
// MCP result on one line each, and data for every other result.
func resultText(data []byte) []byte {
	v, err := jsonstream.Parse(data, jsonstream.Options{})
	if err != nil {
		return data
	}
	if v.Kind() == jsonstream.String {
		return []byte(v.Text())
	}
	if text, ok := contentText(v); ok {
		return text
	}
	return data
}

// contentText returns the text blocks of an MCP result, which is an object with an array
// "content" of objects with a "type".
func contentText(v jsonstream.Value) (text []byte, ok bool) {
	if v.Kind() != jsonstream.Object {
		return nil, false
	}
	content, found := v.Get("content")
	if !found || content.Kind() != jsonstream.Array {
		return nil, false
	}
	var blocks [][]byte
	for block := range content.Elements() {
		kind, found := block.Get("type")
		if !found {
			return nil, false
		}
		if t, found := block.Get("text"); found && kind.Text() == "text" {
			blocks = append(blocks, []byte(t.Text()))
		}
	}
	return bytes.Join(blocks, []byte("\n")), true
}

// mcpValue returns the JSON value in an MCP result: its structured content, or its text if
// that is JSON.
func mcpValue(v jsonstream.Value) (jsonstream.Value, bool) {
	text, ok := contentText(v)
	if !ok {
		return jsonstream.Value{}, false
	}
	if structured, found := v.Get("structuredContent"); found {
		return structured, true
	}
	inner, err := jsonstream.Parse(text, jsonstream.Options{})
	return inner, err == nil
}
