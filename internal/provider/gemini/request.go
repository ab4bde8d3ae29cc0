package gemini

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// requestNames are the members on which the evaluation of a request depends.
var requestNames = []string{"contents", "tools", "toolConfig", "systemInstruction", "generationConfig", "cachedContent", "model"}

// switches classifies the members that Request does not handle.
var switches = provider.ToolSwitches{
	Handled:  []string{"contents", "tools", "toolConfig", "generationConfig", "cachedContent"},
	Harmless: map[string]bool{"contents": true, "systemInstruction": true, "safetySettings": true, "labels": true, "model": true, "store": true, "serviceTier": true},
}

// settings classifies the members of generationConfig.
var settings = provider.ToolSwitches{
	Harmless: map[string]bool{
		"responseSchema": true, "responseJsonSchema": true, "responseMimeType": true, "responseModalities": true, "stopSequences": true,
		"speechConfig": true, "thinkingConfig": true, "imageConfig": true, "enableEnhancedCivicAnswers": true, "enableAffectiveDialog": true,
	},
}

// repeats reports whether an object has a member in both spellings: the provider reads one of them.
func repeats(object jsonstream.Value) bool {
	seen := map[string]bool{}
	for k := range object.Members() {
		name := wire.Camel(string(provider.Key(k)))
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

var errTwice = provider.BadRequest("An object in the request body contains the same member in two spellings.")

// Request implements [provider.Dialect]. The model and the method are in the path: see [ReadPath].
func (Dialect) Request(text []byte) (*provider.Request, error) {
	var doc jsonstream.Document
	if err := provider.ReadRequest(&doc, text); err != nil {
		return nil, err
	}
	root := doc.Root()
	if inner, ok := wire.Get(root, "generateContentRequest"); ok { // of countTokens
		root = inner
	}
	if root.Kind() != jsonstream.Object || repeats(doc.Root()) || repeats(root) {
		return nil, errTwice
	}
	r := &provider.Request{N: 1}
	conversational := true
	for k, v := range root.Members() {
		key := wire.Camel(string(provider.Key(k)))
		if provider.IsLookalike([]byte(key), requestNames...) {
			return nil, provider.BadRequest("The request has a member whose name differs from a known one only in case.")
		}
		if !provider.Present(v) {
			continue
		}
		switch key {
		case "tools":
			if v.Kind() != jsonstream.Array {
				return nil, provider.BadRequest("tools is not an array.")
			}
			for tool := range v.Elements() {
				if err := declare(r, tool); err != nil {
					return nil, err
				}
			}
		case "toolConfig", "generationConfig":
			if repeats(v) {
				return nil, errTwice
			}
			if key == "generationConfig" {
				conversational = readSettings(r, v) && conversational
			}
		case "cachedContent": // it may declare tools, which no surface can evaluate
			r.DeclareServerTool(key)
			r.Unseen = append(r.Unseen, "cached content "+v.Text())
		default:
			switches.Declare(r, []byte(key), v)
		}
	}
	conversational = readChoice(r, root) && conversational
	r.Conversational = conversational && len(r.Tools) > 0
	readHistory(r, root)
	r.AddUnseenResults("codeExecution")
	return r, nil
}

// readSettings reads generationConfig. It reports whether the response can be a turn.
func readSettings(r *provider.Request, config jsonstream.Value) bool {
	turn := true
	for k, v := range config.Members() {
		switch key := wire.Camel(string(provider.Key(k))); key {
		case "candidateCount":
			if provider.Present(v) {
				r.N, _ = provider.SmallInt(v)
			}
		case "maxOutputTokens":
			if limit, ok := provider.SmallInt(v); ok {
				r.MaxTokens = limit
				turn = limit > 1
			}
		default:
			settings.Declare(r, []byte(key), v)
		}
	}
	return turn
}

// readChoice reads toolConfig. It reports whether the model may call tools.
func readChoice(r *provider.Request, root jsonstream.Value) bool {
	config, _ := wire.Get(root, "toolConfig")
	calling, _ := wire.Get(config, "functionCallingConfig")
	mode, _ := wire.Get(calling, "mode")
	switch strings.ToUpper(mode.Text()) {
	case "NONE":
		return false
	case "ANY":
		allowed, ok := wire.Get(calling, "allowedFunctionNames")
		if !ok || allowed.Len() == 0 {
			r.ForceTool("")
		}
		for name := range allowed.Elements() {
			if name.Text() != "" {
				r.ForceTool(stopgate.ToolName(name.Text()))
			}
		}
	}
	return true
}

// declare reads an entry of tools: functions that run at the client, and tools of the provider. The
// calls of computerUse run at the client too; they have no declaration.
func declare(r *provider.Request, tool jsonstream.Value) error {
	if tool.Kind() != jsonstream.Object {
		return provider.BadRequest("An entry of tools is not an object.")
	}
	if repeats(tool) {
		return errTwice
	}
	for k, v := range tool.Members() {
		key := wire.Camel(string(provider.Key(k)))
		switch {
		case !provider.Present(v), key == "computerUse":
		case key != "functionDeclarations":
			r.DeclareServerTool(key)
		case v.Kind() != jsonstream.Array:
			return provider.BadRequest("functionDeclarations is not an array.")
		default:
			for function := range v.Elements() {
				if err := declareFunction(r, function); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func declareFunction(r *provider.Request, function jsonstream.Value) error {
	if repeats(function) {
		return errTwice
	}
	name, _ := wire.Get(function, "name")
	if name.Kind() != jsonstream.String {
		return nil // not a declaration: the provider will refuse it
	}
	def := stopgate.ToolDefinition{Name: stopgate.ToolName(name.Text()), EmptyMeansNone: true}
	if d, ok := wire.Get(function, "description"); ok {
		def.Description = d.Text()
	}
	if schema, ok := wire.Get(function, "parametersJsonSchema"); ok {
		def.Schema = append([]byte(nil), schema.Raw()...)
	} else if schema, ok := wire.Get(function, "parameters"); ok {
		def.Schema = appendSchema(nil, schema)
	}
	r.Declare(def)
	return nil
}
