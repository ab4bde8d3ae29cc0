package openairesponses

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// kind classifies an output item.
type kind uint8

const (
	plainItem    kind = iota // a message, reasoning, or a result
	providerItem             // of a tool that runs at the provider
	function                 // function_call
	custom                   // custom_tool_call: free text
	localShell               // local_shell_call
	shell                    // shell_call that runs at the client
	applyPatch               // apply_patch_call
	unknownCall              // any other item: it may be a call (L14)
)

// call reports whether an item is a call for the client.
func (k kind) call() bool { return k >= function }

// text reports whether the arguments are a string in the item, which is streamed.
func (k kind) text() bool { return k == function || k == custom }

// member returns the name of the member that contains the arguments, "" for an item of
// unknown form.
func (k kind) member() string {
	switch k {
	case function:
		return "arguments"
	case custom:
		return "input"
	case localShell, shell:
		return "action"
	case applyPatch:
		return "operation"
	}
	return ""
}

// kinds are the item types with only one meaning.
var kinds = map[string]kind{
	"function_call": function, "custom_tool_call": custom, "local_shell_call": localShell, "apply_patch_call": applyPatch,
	"message": plainItem, "reasoning": plainItem, "compaction": plainItem, "mcp_approval_response": plainItem, "additional_tools": plainItem,
	"web_search_call": providerItem, "file_search_call": providerItem, "code_interpreter_call": providerItem, "image_generation_call": providerItem,
	"mcp_call": providerItem, "mcp_list_tools": providerItem, "program": providerItem,
}

// kindOf classifies an item. The operator can let unknown types pass.
func (c *calls) kindOf(item jsonstream.Value) kind {
	typ, _ := item.Get("type")
	name := typ.Text()
	if k, ok := kinds[name]; ok {
		return k
	}
	switch {
	case name == "shell_call":
		// The request determines where it runs, and the item only if the request leaves it
		// open: a client with a shell may run every item of this type.
		if environment, ok := item.Get("environment"); ok && provider.Present(environment) && slices.Contains(c.req.ServerTools, "shell") {
			if where, _ := environment.Get("type"); !where.IsText("local") {
				return providerItem
			}
		}
		return shell
	case name == "tool_search_call":
		if execution, _ := item.Get("execution"); !execution.IsText("client") {
			return providerItem
		}
	case strings.HasSuffix(name, "_output"):
		return plainItem
	case slices.Contains(c.o.PassItems, name):
		return providerItem
	}
	return unknownCall
}

// isCall reports whether a value that should not be an item has the type of a call.
func isCall(v jsonstream.Value) bool { return kinds[text(v, "type")].call() }

// builtins are the client's tools that the provider defines, under the names that rules
// use. The argument object is the member of the item, and the schema is written for rules.
var builtins = map[kind]struct{ tool, schema string }{
	localShell: {"openai.local_shell",
		`{"type":"object","properties":{"type":{"const":"exec"},"command":{"type":"array","items":{"type":"string"},"x-stopgate-type":"argv"},` +
			`"env":{"type":"object","additionalProperties":{"type":"string"}},"timeout_ms":{"type":["integer","null"]},` +
			`"user":{"type":["string","null"]},"working_directory":{"type":["string","null"],"x-stopgate-type":"path"}},` +
			`"required":["command"],"additionalProperties":false}`},
	shell: {"openai.shell",
		`{"type":"object","properties":{"commands":{"type":"array","items":{"type":"string","x-stopgate-type":"command"}},` +
			`"timeout_ms":{"type":["integer","null"]},"max_output_length":{"type":["integer","null"]}},` +
			`"required":["commands"],"additionalProperties":false}`},
	applyPatch: {"openai.apply_patch",
		`{"type":"object","properties":{"type":{"type":"string","enum":["create_file","update_file","delete_file"]},` +
			`"path":{"type":"string","x-stopgate-type":"path"},"diff":{"type":"string"}},` +
			`"required":["type","path"],"additionalProperties":false}`},
}

// toolOf returns the name of the tool that an item calls.
func toolOf(k kind, item jsonstream.Value) string {
	if b, ok := builtins[k]; ok {
		return b.tool
	}
	name := text(item, "name")
	if space := text(item, "namespace"); space != "" && name != "" {
		return space + "." + name
	}
	return name
}

// text returns a string member, "" if it is not a string.
func text(object jsonstream.Value, member string) string {
	v, _ := object.Get(member)
	return v.Text()
}

// outputHasCall reports whether the output of a response contains a call.
func (c *calls) outputHasCall(response jsonstream.Value) bool {
	output, _ := response.Get("output")
	for item := range output.Elements() {
		if c.kindOf(item).call() {
			return true
		}
	}
	return false
}
