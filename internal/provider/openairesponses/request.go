package openairesponses

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/history"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// customSchema is the schema that rules use for a tool with free text.
const customSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// requestNames are the members on which the evaluation of a request depends.
var requestNames = []string{"input", "tools", "stream", "tool_choice", "model", "background", "previous_response_id", "conversation", "prompt", "prompt_cache_key",
	"instructions", "mcp_servers", "extra_body"}

// switches classifies the members that Request does not handle.
var switches = provider.ToolSwitches{
	Handled: []string{"input", "tools", "stream", "tool_choice", "model", "background", "previous_response_id", "conversation", "prompt"},
	Harmless: map[string]bool{
		"context_management": true, "include": true, "input": true, "instructions": true, "max_output_tokens": true, "max_tool_calls": true, "metadata": true,
		"moderation": true, "parallel_tool_calls": true, "prompt_cache_key": true, "prompt_cache_options": true, "prompt_cache_retention": true, "reasoning": true,
		"safety_identifier": true, "service_tier": true, "store": true, "stream_options": true, "temperature": true, "text": true, "tool_choice": true,
		"top_logprobs": true, "top_p": true, "truncation": true, "user": true, "enable_thinking": true, "client_metadata": true,
	},
}

// Request implements [provider.Dialect].
func (Dialect) Request(body []byte) (*provider.Request, error) {
	var doc jsonstream.Document
	if err := provider.ReadRequest(&doc, body); err != nil {
		return nil, err
	}
	r := &provider.Request{N: 1}
	conversational := true
	var hashes provider.HistoryHash
	var choice jsonstream.Value
	for k, v := range doc.Root().Members() {
		key := provider.Key(k)
		if provider.IsLookalike(key, requestNames...) {
			return nil, provider.BadRequest("The request has a member whose name differs from a known one only in case.")
		}
		if !provider.Present(v) {
			continue
		}
		switch string(key) {
		case "model":
			r.Model = v.Text()
			r.DeclareModel(r.Model)
		case "models":
			r.DeclareModels(v)
		case "instructions":
			hashes.System(v)
		case "conversation", "previous_response_id", "prompt_cache_key":
			history.Hint(&r.Hints, string(key), v)
		case "store":
			r.Hints.Unstored = v.Kind() == jsonstream.False
		case "max_output_tokens":
			if limit, ok := provider.SmallInt(v); ok {
				r.MaxTokens = limit
				conversational = conversational && limit > 1
			}
		case "stream":
			r.Stream = v.Kind() == jsonstream.True
		case "background":
			if v.Kind() != jsonstream.False {
				r.Refusals = append(r.Refusals, &provider.RequestError{Status: 400, Code: stopgate.CodeBackgroundNotSupported,
					Message: "background is not supported: the answer would be fetched around the gate."})
			}
		case "tools":
			if v.Kind() != jsonstream.Array {
				return nil, provider.BadRequest("tools is not an array.")
			}
			for tool := range v.Elements() {
				if err := declare(r, tool, "", r.Declare); err != nil {
					return nil, err
				}
			}
		case "prompt": // stored at the provider, with tools that the gate does not know
			r.DeclareServerTool("prompt")
			r.Unseen = append(r.Unseen, "prompt "+wire.Text(v, "id"))
		case "tool_choice":
			if choice = v; v.IsText("none") {
				conversational = false
			}
		case "input":
		default:
			switches.Declare(r, key, v)
		}
	}
	input, _ := doc.Root().Get("input")
	if err := declareLoaded(r, input); err != nil {
		return nil, err
	}
	if name := wire.Text(choice, "name"); name != "" && wire.Text(choice, "type") == "function" {
		r.ForceTool(stopgate.ToolName(name))
	} else if choice.IsText("required") {
		r.ForceTool("")
	}
	r.Conversational = conversational && len(r.Tools) > 0
	instructions, _ := doc.Root().Get("instructions")
	history.Read(r, instructions, input, &hashes)
	newest := hashes.Hints(r.Hints.PreviousResponse)
	r.Hints.OpeningHash, r.Hints.UserMessageHash = newest.OpeningHash, newest.UserMessageHash
	return r, nil
}

// declare reads one entry of tools. Client tools that this version cannot evaluate are
// refused by name (S57).
func declare(r *provider.Request, tool jsonstream.Value, namespace string, add func(stopgate.ToolDefinition)) error {
	typ, _ := tool.Get("type")
	if tool.Kind() != jsonstream.Object || typ.Kind() != jsonstream.String {
		return provider.BadRequest("An entry of tools is not an object with a type.")
	}
	if callers, ok := tool.Get("allowed_callers"); ok && provider.Present(callers) {
		for caller := range callers.Elements() {
			if !caller.IsText("direct") {
				refuseTool(r, "allowed_callers")
			}
		}
	}
	switch name := typ.Text(); {
	case name == "function", name == "custom":
		declareNamed(tool, name, namespace, add)
	case name == "namespace":
		group := wire.Text(tool, "name")
		members, _ := tool.Get("tools")
		if namespace != "" || group == "" || members.Kind() != jsonstream.Array {
			return provider.BadRequest("A namespace in tools needs a name and tools, and none inside of it.")
		}
		for member := range members.Elements() {
			if err := declare(r, member, group, add); err != nil {
				return err
			}
		}
	case name == "local_shell":
		declareBuiltin(add, wire.LocalShell)
	case name == "apply_patch":
		declareBuiltin(add, wire.ApplyPatch)
	case name == "shell":
		if environment, ok := tool.Get("environment"); ok && provider.Present(environment) && wire.Text(environment, "type") != "local" {
			r.DeclareServerTool(name)
		} else {
			declareBuiltin(add, wire.Shell)
		}
	case strings.HasPrefix(name, "computer"), name == "tool_search" && wire.Text(tool, "execution") == "client":
		refuseTool(r, name)
	case name == "mcp":
		r.DeclareServerTool(name)
		if wire.Text(tool, "require_approval") != "never" {
			r.Refusals = append(r.Refusals, &provider.RequestError{Status: 400, Code: stopgate.CodePolicyNotConfigured,
				Message: `A tool of type mcp needs "require_approval": "never": approval requests of a connector are not supported.`})
		}
	default:
		r.DeclareServerTool(name)
	}
	return nil
}

// declareNamed declares a function or a tool with free text. An entry without a name is not
// a declaration: the provider will refuse it.
func declareNamed(tool jsonstream.Value, typ, namespace string, add func(stopgate.ToolDefinition)) {
	name, _ := tool.Get("name")
	if name.Kind() != jsonstream.String {
		return
	}
	def := stopgate.ToolDefinition{Name: stopgate.ToolName(name.Text()), Description: wire.Text(tool, "description")}
	if namespace != "" {
		def.Name = stopgate.ToolName(namespace) + "." + def.Name
	}
	if typ == "custom" {
		def.Schema = []byte(customSchema)
	} else {
		def.EmptyMeansNone = true
		strict, _ := tool.Get("strict")
		def.Strict = strict.Kind() == jsonstream.True
		if parameters, ok := tool.Get("parameters"); ok && provider.Present(parameters) {
			def.Schema = append([]byte(nil), parameters.Raw()...)
		}
	}
	add(def)
}

func declareBuiltin(add func(stopgate.ToolDefinition), k wire.Kind) {
	b := wire.Builtins[k]
	add(stopgate.ToolDefinition{Name: stopgate.ToolName(b.Tool), Schema: []byte(b.Schema)})
}

func refuseTool(r *provider.Request, what string) {
	r.Refusals = append(r.Refusals, &provider.RequestError{Status: 400, Code: stopgate.CodePolicyNotConfigured,
		Message: "This request declares a tool with " + what + ", whose calls the gate cannot judge."})
}

// declareLoaded reads the tools that items of the input declare: the client's own lists,
// and the results of a tool search. A list of a connector's tools declares tools that run
// at the provider.
func declareLoaded(r *provider.Request, input jsonstream.Value) error {
	for item := range input.Elements() {
		tools, ok := item.Get("tools")
		if !ok {
			continue
		}
		switch wire.Text(item, "type") {
		case "additional_tools", "tool_search_output":
			if !provider.Present(tools) {
				continue
			}
			if tools.Kind() != jsonstream.Array {
				return provider.BadRequest("tools of an item in input is not an array.")
			}
			for tool := range tools.Elements() {
				if err := declare(r, tool, "", r.DeclareLoaded); err != nil {
					return err
				}
			}
		case "mcp_list_tools":
			if tools.Len() > 0 {
				r.DeclareServerTool("mcp")
			}
		}
	}
	return nil
}
