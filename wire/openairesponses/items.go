package openairesponses

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// kind is what an output item is to the gate (WIRE 3.3).
type kind uint8

const (
	nobody      kind = iota // a message, reasoning, a result
	provider                // of a tool at the provider
	function                // function_call
	custom                  // custom_tool_call: free text
	localShell              // local_shell_call
	shell                   // shell_call that runs at the client
	applyPatch              // apply_patch_call
	unknownCall             // anything else: it may be a call (L14)
)

// call reports whether an item is a call for the client.
func (k kind) call() bool { return k >= function }

// text reports whether the arguments are a string in the item, which is streamed.
func (k kind) text() bool { return k == function || k == custom }

// member is where the item holds its arguments, "" for an item of unknown form.
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

// kinds are the item types with one meaning.
var kinds = map[string]kind{
	"function_call": function, "custom_tool_call": custom, "local_shell_call": localShell, "apply_patch_call": applyPatch,
	"message": nobody, "reasoning": nobody, "compaction": nobody, "mcp_approval_response": nobody, "additional_tools": nobody,
	"web_search_call": provider, "file_search_call": provider, "code_interpreter_call": provider, "image_generation_call": provider,
	"mcp_call": provider, "mcp_list_tools": provider, "program": provider,
}

// kindOf is what an item is to the gate. Of the types that are not known, the
// operator may let some pass.
func (c *calls) kindOf(item jsonstream.Value) kind {
	typ, _ := item.Get("type")
	name := typ.Text()
	if k, ok := kinds[name]; ok {
		return k
	}
	switch {
	case name == "shell_call":
		// Where it runs is for the request to say, and for the item only if the request left
		// that open: a client that has a shell may run whatever carries the name.
		if environment, ok := item.Get("environment"); ok && wire.Present(environment) && slices.Contains(c.req.ServerTools, "shell") {
			if where, _ := environment.Get("type"); !where.IsText("local") {
				return provider
			}
		}
		return shell
	case name == "tool_search_call":
		if execution, _ := item.Get("execution"); !execution.IsText("client") {
			return provider
		}
	case strings.HasSuffix(name, "_output"):
		return nobody
	case slices.Contains(c.o.PassItems, name):
		return provider
	}
	return unknownCall
}

// plainlyCall reports whether a value where no item belongs has the type of a call.
func plainlyCall(v jsonstream.Value) bool { return kinds[text(v, "type")].call() }

// builtins are the client's tools that the provider defines, under the names that
// rules know them by (WIRE 3.3). The argument object is the member of the item,
// the schema is written for rules.
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

// toolOf is the name of the tool that an item calls.
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

// text is a member that is a string, "" for any other.
func text(object jsonstream.Value, member string) string {
	v, _ := object.Get(member)
	return v.Text()
}

// carriesCall reports whether the output of a response has a call.
func (c *calls) carriesCall(response jsonstream.Value) bool {
	output, _ := response.Get("output")
	for item := range output.Elements() {
		if c.kindOf(item).call() {
			return true
		}
	}
	return false
}
