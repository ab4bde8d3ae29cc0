package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// customSchema is the schema that rules use for a tool with free text.
const customSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// requestNames are the members on which the evaluation of a request depends.
var requestNames = []string{"messages", "tools", "functions", "n", "stream", "prompt_cache_key", "tool_choice", "model", "models",
	"plugins", "web_search_options", "search_parameters", "enable_search", "compound_custom", "mcp_servers", "data_sources", "connectors",
	"venice_parameters", "extra_body", "web_search"}

// switches classifies the members that Request does not handle: those of OpenAI and of
// compatible servers.
var switches = provider.ToolSwitches{
	Handled: []string{"messages", "tools", "functions", "n", "stream", "model", "models", "tool_choice"},
	Harmless: names("audio", "chat_template", "extra_headers", "frequency_penalty", "function_call", "guided_choice", "guided_grammar", "guided_json", "guided_regex",
		"include_reasoning", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "metadata", "modalities", "parallel_tool_calls", "prediction",
		"presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning", "reasoning_effort", "response_format", "safety_identifier", "seed",
		"service_tier", "stop", "store", "stream_options", "temperature", "thinking", "tool_choice", "tool_stream", "max_tool_calls", "top_k", "top_logprobs", "top_p",
		"user", "verbosity", "enable_thinking", "enable_prefix_caching", "enable_caching"),
}

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// Request implements [provider.Dialect].
func (Dialect) Request(body []byte) (*provider.Request, error) {
	var doc jsonstream.Document
	if err := provider.ReadRequest(&doc, body); err != nil {
		return nil, err
	}
	r := &provider.Request{N: 1}
	conversational, cacheKey := true, ""
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
		case "messages":
			readHistory(r, v)
			if err := declareLoaded(r, v); err != nil {
				return nil, err
			}
		case "prompt_cache_key":
			cacheKey = v.Text()
		case "stream_options":
			usage, _ := v.Get("include_usage")
			r.IncludeUsage = usage.Kind() == jsonstream.True
		case "stream":
			r.Stream = v.Kind() == jsonstream.True
		case "n":
			r.N = smallInt(v)
		case "tools":
			if v.Kind() != jsonstream.Array {
				return nil, provider.BadRequest("tools is not an array.")
			}
			for tool := range v.Elements() {
				if err := declareTool(r, tool, r.Declare); err != nil {
					return nil, err
				}
			}
		case "functions":
			if v.Kind() != jsonstream.Array {
				return nil, provider.BadRequest("functions is not an array.")
			}
			for function := range v.Elements() {
				declareFunction(function, r.Declare)
			}
		case "tool_choice":
			if choice = v; v.IsText("none") {
				conversational = false
			}
		case "max_tokens", "max_completion_tokens":
			if limit, ok := provider.SmallInt(v); ok {
				r.MaxTokens = limit
				conversational = conversational && limit > 1
			}
		default:
			switches.Declare(r, key, v)
		}
	}
	if function, ok := choice.Get("function"); ok && text(function, "name") != "" {
		r.ForceTool(stopgate.ToolName(text(function, "name")))
	} else if choice.IsText("required") {
		r.ForceTool("")
	}
	r.Conversational = conversational && len(r.Tools) > 0
	r.Hints.CacheKey = cacheKey
	r.AddUnseenResults("")
	return r, nil
}

// declareTool reads one entry of tools. An entry that runs at the client is declared by
// name. Any other entry runs at the provider or is unknown, and the surface decides by its
// type.
func declareTool(r *provider.Request, tool jsonstream.Value, declare func(stopgate.ToolDefinition)) error {
	if tool.Kind() != jsonstream.Object {
		return provider.BadRequest("An entry of tools is not an object.")
	}
	typ, _ := tool.Get("type")
	function, isFunction := tool.Get("function")
	switch {
	case typ.IsText("function"), !provider.Present(typ) && isFunction:
		declareFunction(function, declare)
	case typ.IsText("custom"):
		custom, _ := tool.Get("custom")
		if name, ok := custom.Get("name"); ok && name.Kind() == jsonstream.String {
			declare(stopgate.ToolDefinition{
				Name:        stopgate.ToolName(name.Text()),
				Description: text(custom, "description"),
				Schema:      []byte(customSchema),
			})
		}
	case typ.Kind() == jsonstream.String:
		r.DeclareServerTool(typ.Text())
	default:
		return provider.BadRequest("An entry of tools has no type.")
	}
	return nil
}

// declareFunction reads {name, description, parameters}, which has the same form in tools
// and in functions.
func declareFunction(function jsonstream.Value, declare func(stopgate.ToolDefinition)) {
	name, ok := function.Get("name")
	if !ok || name.Kind() != jsonstream.String {
		return
	}
	def := stopgate.ToolDefinition{
		Name:           stopgate.ToolName(name.Text()),
		Description:    text(function, "description"),
		EmptyMeansNone: true,
	}
	strict, _ := function.Get("strict")
	def.Strict = strict.Kind() == jsonstream.True
	if parameters, ok := function.Get("parameters"); ok && provider.Present(parameters) {
		def.Schema = append([]byte(nil), parameters.Raw()...)
	}
	declare(def)
}

// declareLoaded reads the tools that messages of the client declare. Messages of the model
// are ignored: their content comes from the provider.
func declareLoaded(r *provider.Request, messages jsonstream.Value) error {
	for message := range messages.Elements() {
		tools, ok := message.Get("tools")
		if role, _ := message.Get("role"); !ok || !role.IsText("system") && !role.IsText("developer") {
			continue
		}
		for tool := range tools.Elements() {
			if err := declareTool(r, tool, r.DeclareLoaded); err != nil {
				return err
			}
		}
	}
	return nil
}

func text(object jsonstream.Value, key string) string {
	v, _ := object.Get(key)
	return v.Text()
}

// smallInt parses a small whole number; it returns 0 for any other value.
func smallInt(v jsonstream.Value) int {
	raw := v.Raw()
	if v.Kind() != jsonstream.Number || len(raw) > 4 {
		return 0
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
