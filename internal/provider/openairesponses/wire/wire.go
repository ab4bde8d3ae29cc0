// Package wire has the names of the Responses API that its codec and its histories share: kinds of
// items, the tools that the provider defines, and the ids of the gate's own messages.
package wire

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// Kind classifies an output item.
type Kind uint8

// The kinds of items.
const (
	Plain      Kind = iota // a message, reasoning, or a result
	Provider               // of a tool that runs at the provider
	Function               // function_call
	Custom                 // custom_tool_call: free text
	LocalShell             // local_shell_call
	Shell                  // shell_call that runs at the client
	ApplyPatch             // apply_patch_call
	Unknown                // any other item: it may be a call (L14)
)

// Call reports whether an item is a call for the client.
func (k Kind) Call() bool { return k >= Function }

// Text reports whether the arguments are a string in the item, which is streamed.
func (k Kind) Text() bool { return k == Function || k == Custom }

// Member returns the name of the member that contains the arguments, "" for an item of
// unknown form.
func (k Kind) Member() string {
	switch k {
	case Function:
		return "arguments"
	case Custom:
		return "input"
	case LocalShell, Shell:
		return "action"
	case ApplyPatch:
		return "operation"
	}
	return ""
}

// Kinds are the item types with only one meaning.
var Kinds = map[string]Kind{
	"function_call": Function, "custom_tool_call": Custom, "local_shell_call": LocalShell, "apply_patch_call": ApplyPatch,
	"message": Plain, "reasoning": Plain, "compaction": Plain, "mcp_approval_response": Plain, "additional_tools": Plain,
	"web_search_call": Provider, "file_search_call": Provider, "code_interpreter_call": Provider, "image_generation_call": Provider,
	"mcp_call": Provider, "mcp_list_tools": Provider, "program": Provider,
}

// Builtins are the client's tools that the provider defines, under the names that rules
// use. The argument object is the member of the item, and the schema is written for rules.
var Builtins = map[Kind]struct{ Tool, Schema string }{
	LocalShell: {"openai.local_shell",
		`{"type":"object","properties":{"type":{"const":"exec"},"command":{"type":"array","items":{"type":"string"},"x-stopgate-type":"argv"},` +
			`"env":{"type":"object","additionalProperties":{"type":"string"}},"timeout_ms":{"type":["integer","null"]},` +
			`"user":{"type":["string","null"]},"working_directory":{"type":["string","null"],"x-stopgate-type":"path"}},` +
			`"required":["command"],"additionalProperties":false}`},
	Shell: {"openai.shell",
		`{"type":"object","properties":{"commands":{"type":"array","items":{"type":"string","x-stopgate-type":"command"}},` +
			`"timeout_ms":{"type":["integer","null"]},"max_output_length":{"type":["integer","null"]}},` +
			`"required":["commands"],"additionalProperties":false}`},
	ApplyPatch: {"openai.apply_patch",
		`{"type":"object","properties":{"type":{"type":"string","enum":["create_file","update_file","delete_file"]},` +
			`"path":{"type":"string","x-stopgate-type":"path"},"diff":{"type":"string"}},` +
			`"required":["type","path"],"additionalProperties":false}`},
}

// ToolOf returns the name of the tool that an item calls.
func ToolOf(k Kind, item jsonstream.Value) string {
	if b, ok := Builtins[k]; ok {
		return b.Tool
	}
	name := Text(item, "name")
	if space := Text(item, "namespace"); space != "" && name != "" {
		return space + "." + name
	}
	return name
}

// Text returns a string member, "" if it is not a string.
func Text(object jsonstream.Value, member string) string {
	v, _ := object.Get(member)
	return v.Text()
}

// List returns an array of items.
func List(parts ...[][]byte) []byte {
	var items [][]byte
	for _, p := range parts {
		items = append(items, p...)
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// UserMessage returns the item that is equivalent to a text as input.
func UserMessage(input jsonstream.Value) []byte {
	return append(append([]byte(`{"type":"message","role":"user","content":`), input.Raw()...), '}')
}

// CallKind returns the kind of an item if it is a known call.
func CallKind(item jsonstream.Value) Kind {
	if Text(item, "type") == "shell_call" {
		return Shell
	}
	return Kinds[Text(item, "type")]
}

// MessagePrefix is the prefix of the ids of messages that replace denied calls.
const MessagePrefix = "msg_stopgate_"
