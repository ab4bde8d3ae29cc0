package openairesponses

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// frame is the parsed payload of one event.
type frame struct {
	typ      string
	index    int              // output_index; -1 if there is none
	seq      jsonstream.Value // sequence_number
	itemID   jsonstream.Value
	item     jsonstream.Value
	delta    jsonstream.Value
	response jsonstream.Value
	root     jsonstream.Value

	part, output jsonstream.Value // members "part" and "output"
	strayCall    bool             // a member that no client reads contains calls
}

// The members that clients read. Some clients would read a lookalike of such a name and
// others would not, so it makes the response malformed.
var (
	frameNames = []string{"type", "sequence_number", "output_index", "item_id", "item", "delta", "arguments", "input",
		"name", "command", "command_index", "diff", "response"}
	itemNames = []string{"type", "id", "call_id", "name", "namespace", "arguments", "input", "action", "operation",
		"status", "execution", "environment", "caller"}
	responseNames = []string{"output", "status", "output_text"}
)

// The events that contain or frame a call, and other frequent ones.
const (
	itemAdded      = "response.output_item.added"
	itemDone       = "response.output_item.done"
	argumentsDelta = "response.function_call_arguments.delta"
	argumentsDone  = "response.function_call_arguments.done"
	inputDelta     = "response.custom_tool_call_input.delta"
	inputDone      = "response.custom_tool_call_input.done"
	commandAdded   = "response.shell_call_command.added"
	commandDelta   = "response.shell_call_command.delta"
	commandDone    = "response.shell_call_command.done"
	diffDelta      = "response.apply_patch_call_operation_diff.delta"
	diffDone       = "response.apply_patch_call_operation_diff.done"
	textDelta      = "response.output_text.delta"
	summaryDelta   = "response.reasoning_summary_text.delta"
	reasoningDelta = "response.reasoning_text.delta"
	inProgress     = "response.in_progress"
)

var knownTypes = [...]string{
	argumentsDelta, textDelta, inputDelta, summaryDelta, reasoningDelta, itemAdded, itemDone, argumentsDone, inputDone,
	"response.created", inProgress, "response.queued", "response.completed", "response.incomplete", "response.failed",
	commandAdded, commandDelta, commandDone, diffDelta, diffDone, "error",
}

// read parses the members of an event. It returns false if clients could parse the event
// differently.
func (f *frame) read(root jsonstream.Value) bool {
	*f = frame{index: -1, root: root}
	for k, v := range root.Members() {
		switch key := provider.Key(k); string(key) {
		case "type":
			if v.Kind() != jsonstream.String {
				return false
			}
			f.typ = typeName(v)
		case "output_index":
			n, ok := provider.SmallInt(v)
			if !ok {
				return false
			}
			f.index = n
		case "sequence_number":
			f.seq = v
		case "item_id":
			f.itemID = v
		case "item":
			f.item = v
		case "delta":
			f.delta = v
		case "response":
			f.response = v
		case "part":
			f.part = v
		case "output":
			f.output = v
		default:
			if provider.IsLookalike(key, frameNames...) {
				return false
			}
			f.strayCall = f.strayCall || provider.IsStrayCall(key, v)
		}
	}
	f.strayCall = f.strayCall || provider.HasStrayCall(f.item) || provider.HasStrayCall(f.response) || provider.HasStrayCall(f.delta) || provider.HasStrayCall(f.part)
	return f.typ != "" && provider.ExactNames(f.item, itemNames) && provider.ExactNames(f.response, responseNames) && exactOutput(f.response)
}

// exactOutput reports whether all clients read the items of a response alike.
func exactOutput(response jsonstream.Value) bool {
	output, ok := response.Get("output")
	if !ok || !provider.Present(output) {
		return true
	}
	if output.Kind() != jsonstream.Array {
		return false
	}
	for item := range output.Elements() {
		if item.Kind() != jsonstream.Object || !provider.ExactNames(item, itemNames) {
			return false
		}
	}
	return true
}

// typeName returns the type of an event, without a copy for the known ones.
func typeName(v jsonstream.Value) string {
	for _, known := range knownTypes {
		if v.IsText(known) {
			return known
		}
	}
	return v.Text()
}
