package anthropic

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// requestNames are the members on which the evaluation of a request depends.
var requestNames = []string{"messages", "tools", "stream", "tool_choice", "model", "mcp_servers", "max_tokens", "system",
	"extra_body", "container"}

// switches classifies the members that Request does not handle.
var switches = provider.ToolSwitches{
	Handled: []string{"messages", "tools", "stream", "tool_choice", "model", "mcp_servers"},
	Harmless: map[string]bool{
		"anthropic_beta": true, "anthropic_version": true, "betas": true, "enable_thinking": true, "cache_control": true, "context_management": true, "inference_geo": true,
		"messages": true, "metadata": true, "output_config": true, "output_format": true, "service_tier": true, "speed": true, "stop_sequences": true,
		"system": true, "temperature": true, "thinking": true, "top_k": true, "top_p": true,
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
		case "metadata":
			if id, _ := v.Get("user_id"); len(id.Raw()) <= maxUserID {
				r.Hints.UserID = id.Text()
			}
		case "stream":
			r.Stream = v.Kind() == jsonstream.True
		case "tools":
			if v.Kind() != jsonstream.Array {
				return nil, provider.BadRequest("tools is not an array.")
			}
			for tool := range v.Elements() {
				if err := declare(r, tool); err != nil {
					return nil, err
				}
			}
		case "tool_choice":
			choice = v
			if typ, ok := v.Get("type"); ok && typ.IsText("none") {
				conversational = false
			}
		case "max_tokens":
			if limit, ok := provider.SmallInt(v); ok {
				r.MaxTokens = limit
				conversational = conversational && limit > 1
			}
		default:
			switches.Declare(r, key, v)
		}
	}
	name, _ := choice.Get("name")
	switch typ, _ := choice.Get("type"); {
	case typ.IsText("tool") && name.Text() != "":
		r.ForceTool(stopgate.ToolName(name.Text()))
	case typ.IsText("any"):
		r.ForceTool("")
	}
	r.Conversational = conversational && len(r.Tools) > 0
	readHistory(r, doc.Root())
	return r, nil
}

// declare reads an entry of tools: a client tool with its schema, a client tool whose
// schema the provider defines, or a tool of the provider.
func declare(r *provider.Request, tool jsonstream.Value) error {
	if tool.Kind() != jsonstream.Object {
		return provider.BadRequest("An entry of tools is not an object.")
	}
	name, _ := tool.Get("name")
	typ, _ := tool.Get("type")
	def := stopgate.ToolDefinition{Name: stopgate.ToolName(name.Text()), EmptyMeansNone: true}
	if !provider.Present(typ) || typ.IsText("custom") {
		if name.Kind() != jsonstream.String {
			return nil // not a declaration: the provider will refuse it
		}
		strict, _ := tool.Get("strict")
		def.Strict = strict.Kind() == jsonstream.True
		if d, ok := tool.Get("description"); ok {
			def.Description = d.Text()
		}
		if schema, ok := tool.Get("input_schema"); ok && provider.Present(schema) {
			def.Schema = append([]byte(nil), schema.Raw()...)
		}
		r.Declare(def)
		return nil
	}
	if typ.Kind() != jsonstream.String {
		return provider.BadRequest("The type of an entry of tools is not a string.")
	}
	family, known := findProviderTool(typ.Text())
	switch {
	case family == nil:
		r.DeclareServerTool(typ.Text())
	case known:
		def.Schema = []byte(family.schema)
		r.Declare(def)
	default:
		// The version is unknown, so its schema is too. Declaring the name twice makes it
		// unknown, and calls to it are refused.
		r.Declare(def)
		r.Declare(def)
	}
	return nil
}
