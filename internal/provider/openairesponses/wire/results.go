package wire

import "github.com/stopgate/stopgate/jsonstream"

// ResultOf returns the text of the result in an item of a tool that ran at the provider; it is not
// valid if the item has none. whole reports that the model read nothing else from the tool. An item
// that is a message or a call, or has thoughts of the model, is no result.
func ResultOf(typ string, item jsonstream.Value) (text jsonstream.Value, whole bool) {
	switch typ {
	case "message", "reasoning", "compaction", "mcp_approval_request", "computer_call", "tool_search_call":
		return jsonstream.Value{}, true
	case "additional_tools": // tools of the program that sends the request
		return jsonstream.Value{}, true
	case "mcp_call":
		failure, _ := item.Get("error")
		if output, ok := item.Get("output"); ok && output.Kind() == jsonstream.String {
			return output, true
		}
		return failure, false
	case "mcp_list_tools":
		tools, _ := item.Get("tools")
		return tools, tools.IsValid()
	case "code_interpreter_call":
		outputs, _ := item.Get("outputs")
		return outputs, outputs.Kind() == jsonstream.Array && !hasImage(outputs)
	case "file_search_call":
		results, _ := item.Get("results")
		return results, results.Kind() == jsonstream.Array
	case "mcp_approval_response":
		reason, _ := item.Get("reason")
		return reason, true
	case "web_search_call", "image_generation_call":
		return jsonstream.Value{}, false
	}
	return item, false
}

// hasImage reports whether an output is an image.
func hasImage(outputs jsonstream.Value) bool {
	for output := range outputs.Elements() {
		if Text(output, "type") != "logs" {
			return true
		}
	}
	return false
}
