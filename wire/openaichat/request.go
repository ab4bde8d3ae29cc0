package openaichat

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// customSchema is what rules see of a tool that takes free text (WIRE 2.3).
const customSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// Request implements [wire.Dialect] (WIRE 2.1, 2.8, 4.9).
func (Dialect) Request(body []byte) (*wire.Request, error) {
	var doc jsonstream.Document
	if err := wire.ReadRequest(&doc, body); err != nil {
		return nil, err
	}
	r := &wire.Request{N: 1}
	conversational, cacheKey := true, ""
	for k, v := range doc.Root().Members() {
		key := wire.Key(k)
		if wire.Lookalike(key, "messages", "tools", "functions", "n", "stream", "prompt_cache_key", "tool_choice", "model",
			"plugins", "web_search_options", "search_parameters", "enable_search", "compound_custom") {
			return nil, wire.BadRequest("The request has a member whose name differs from a known one only in case.")
		}
		if !wire.Present(v) {
			continue
		}
		switch string(key) {
		case "model":
			r.Model = v.Text()
		case "messages":
			readHistory(r, v)
		case "prompt_cache_key":
			cacheKey = v.Text()
		case "stream":
			r.Stream = v.Kind() == jsonstream.True
		case "n":
			r.N = count(v)
		case "tools":
			if v.Kind() != jsonstream.Array {
				return nil, wire.BadRequest("tools is not an array.")
			}
			for tool := range v.Elements() {
				if err := declareTool(r, tool); err != nil {
					return nil, err
				}
			}
		case "functions":
			if v.Kind() != jsonstream.Array {
				return nil, wire.BadRequest("functions is not an array.")
			}
			for function := range v.Elements() {
				declareFunction(r, function)
			}
		case "web_search_options", "plugins", "compound_custom":
			r.DeclareServer(string(key))
		case "search_parameters", "enable_search":
			if mode, _ := v.Get("mode"); v.Kind() != jsonstream.False && !mode.IsText("off") {
				r.DeclareServer(string(key))
			}
		case "tool_choice":
			if v.IsText("none") {
				conversational = false
			}
		case "max_tokens", "max_completion_tokens":
			if limit, ok := wire.Small(v); ok {
				r.MaxTokens = limit
				conversational = conversational && limit > 1
			}
		}
	}
	r.Conversational = conversational && len(r.Tools) > 0
	r.Hints.CacheKey = cacheKey
	return r, nil
}

// declareTool reads one entry of tools. An entry that runs at the client is
// declared by name; anything else runs at the provider or is unknown, and the
// surface decides by its type (WIRE 2.8).
func declareTool(r *wire.Request, tool jsonstream.Value) error {
	if tool.Kind() != jsonstream.Object {
		return wire.BadRequest("An entry of tools is not an object.")
	}
	typ, _ := tool.Get("type")
	function, isFunction := tool.Get("function")
	switch {
	case typ.IsText("function"), !wire.Present(typ) && isFunction:
		declareFunction(r, function)
	case typ.IsText("custom"):
		custom, _ := tool.Get("custom")
		if name, ok := custom.Get("name"); ok && name.Kind() == jsonstream.String {
			r.Declare(stopgate.ToolDefinition{
				Name:        stopgate.ToolName(name.Text()),
				Description: text(custom, "description"),
				Schema:      []byte(customSchema),
			})
		}
	case typ.Kind() == jsonstream.String:
		r.DeclareServer(typ.Text())
	default:
		return wire.BadRequest("An entry of tools has no type.")
	}
	return nil
}

// declareFunction reads {name, description, parameters}, the same in tools and
// in the legacy member functions. What has no name declares nothing: the
// provider judges it.
func declareFunction(r *wire.Request, function jsonstream.Value) {
	name, ok := function.Get("name")
	if !ok || name.Kind() != jsonstream.String {
		return
	}
	def := stopgate.ToolDefinition{
		Name:           stopgate.ToolName(name.Text()),
		Description:    text(function, "description"),
		EmptyMeansNone: true,
	}
	if parameters, ok := function.Get("parameters"); ok && wire.Present(parameters) {
		def.Schema = append([]byte(nil), parameters.Raw()...)
	}
	r.Declare(def)
}

func text(object jsonstream.Value, key string) string {
	v, _ := object.Get(key)
	return v.Text()
}

// count reads a small whole number; 0 is anything else.
func count(v jsonstream.Value) int {
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
