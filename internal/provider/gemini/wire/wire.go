// Package wire reads and writes the parts of messages of the Gemini API. Its members have two
// spellings, camelCase and snake_case.
//
//	call, ok := wire.Get(part, "functionCall")
//	kind, name := wire.KindOf(part)
package wire

import (
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// Camel returns a member name in the spelling of JSON. The API accepts the names of its protocol
// buffers too: system_instruction for systemInstruction.
func Camel(key string) string {
	if !strings.Contains(key, "_") {
		return key
	}
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// Get returns a member in either spelling.
func Get(object jsonstream.Value, name string) (jsonstream.Value, bool) {
	for k, v := range object.Members() {
		if Camel(string(provider.Key(k))) == name {
			return v, provider.Present(v)
		}
	}
	return jsonstream.Value{}, false
}

// Kind classifies a part.
type Kind uint8

// The kinds of parts.
const (
	Plain    Kind = iota // text, thoughts and media
	Call                 // a call for the client
	Provider             // of a tool that runs at the provider
	Unknown
)

// KindOf classifies a part. name is the member that determines the kind.
func KindOf(part jsonstream.Value) (kind Kind, name string) {
	for k, v := range part.Members() {
		switch key := string(provider.Key(k)); key {
		case "functionCall":
			if provider.Present(v) {
				return Call, key
			}
		case "executableCode", "codeExecutionResult", "toolCall", "toolResponse":
			return Provider, key
		case "text", "thought", "thoughtSignature", "inlineData", "fileData", "videoMetadata", "partMetadata", "mediaResolution":
		default:
			name = key
		}
	}
	if name != "" {
		return Unknown, name
	}
	return Plain, ""
}

// Text returns a part with a text.
func Text(text string) []byte {
	return append(jsonstream.AppendQuote([]byte(`{"text":`), text), '}')
}
