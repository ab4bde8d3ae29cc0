package hook

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// KnownTool is a built-in tool of a host.
type KnownTool struct {
	stopgate.ToolDefinition
	// Harmless reports that the tool changes nothing and reads nothing outside the project
	// (S33).
	Harmless bool
	// Guarded reports that the tool has parameters that guards evaluate: paths, commands or
	// addresses.
	Guarded bool
}

// KnownTools returns the host's tools in the table of known tools.
func (h *Host) KnownTools() (list []KnownTool) {
	for _, t := range h.tools().Tools() {
		seen := false
		for _, p := range t.Parameters {
			seen = seen || p.Kind != knowntools.Value
		}
		for _, name := range t.Names {
			c := contract{t, true}
			list = append(list, KnownTool{ToolDefinition: *c.definition(stopgate.ToolName(name)), Harmless: t.Harmless, Guarded: seen})
		}
	}
	return list
}

// contract describes the parameters of a tool. builtIn reports that the tool is built into
// the host.
type contract struct {
	*knowntools.Tool
	builtIn bool
}

// contract returns the contract of an event's tool. For a tool that is not built in, such
// as one of an MCP server, rows of the same name are added to usualParameters only, because
// the tool may be a different one.
func (h *Host) contract(e *Event) contract {
	if t := h.tools().Tool(e.HostTool); t != nil && e.Call.Server == "" {
		return contract{t, true}
	}
	more := *usualParameters
	more.Parameters = slices.Clone(more.Parameters)
	for _, row := range knowntools.ByName(e.toolName()) {
		for _, p := range row.Parameters {
			i := slices.IndexFunc(more.Parameters, func(q knowntools.Parameter) bool { return q.Name == p.Name })
			switch {
			case p.Kind.Type() == "string":
			case i < 0:
				more.Parameters = append(more.Parameters, p)
			case p.Kind == knowntools.Folder && more.Parameters[i].List:
				more.Parameters[i] = p // one path or several
			}
		}
	}
	return contract{&more, false}
}

// usualParameters are common parameter names for paths, commands and addresses in tools
// that no table contains, including those of MCP servers. Guards evaluate too many
// parameters rather than too few.
var usualParameters = &knowntools.Tool{Parameters: func() (list []knowntools.Parameter) {
	for _, name := range []string{
		"path", "file_path", "filePath", "filepath", "filename", "file", "absolute_path", "relative_path", "directory", "dir",
		"notebook_path", "old_path", "new_path", "source", "destination", "target_file", "cwd", "workdir",
	} {
		list = append(list, knowntools.Parameter{Name: name, Kind: knowntools.Path})
	}
	return append(list,
		knowntools.Parameter{Name: "paths", List: true, Kind: knowntools.Path}, knowntools.Parameter{Name: "files", List: true, Kind: knowntools.Path},
		knowntools.Parameter{Name: "command", Kind: knowntools.Argv}, knowntools.Parameter{Name: "cmd", Kind: knowntools.Argv},
		knowntools.Parameter{Name: "url", Kind: knowntools.URL})
}()}

// unknown reports that the tool is not built into the host.
func (t contract) unknown() bool { return !t.builtIn }

// patch returns the names of the parameters that can contain a patch.
func (t contract) patch() (names []string) {
	for _, p := range t.Parameters {
		if p.Kind == knowntools.Patch {
			names = append(names, p.Name)
		}
	}
	return names
}

// definition returns the definition of the tool with the types of its known parameters, so
// that guards evaluate its paths, commands and addresses.
func (t contract) definition(name stopgate.ToolName) *stopgate.ToolDefinition {
	schema := []byte(`{"type":"object",`)
	if t.unknown() {
		schema = append(schema, `"additionalProperties":true,`...)
	}
	schema = append(schema, `"properties":{`...)
	if t.patch() != nil {
		schema = append(schema, `"`+patchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`...)
	}
	if _, searches := t.search(); searches {
		schema = append(schema, `"`+searchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`+
			`"`+searchGlobs+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path","x-stopgate-expands":true}},`...)
	}
	for _, p := range t.Parameters {
		schema = append(jsonstream.AppendQuote(schema, p.Name), ':')
		open, end := "", ""
		if p.Members {
			open, end = `{"type":"array","items":`, `}`
		}
		if p.Member != "" {
			open, end = `{"type":"object","properties":{`+string(jsonstream.AppendQuote(nil, p.Member))+`:`+open, end+`}}`
		}
		if p.List {
			open, end = `{"type":"array","items":`+open, end+`}`
		}
		schema = append(append(append(append(schema, open...), parameterSchema(p)...), end...), ',')
	}
	if schema[len(schema)-1] == ',' {
		schema = schema[:len(schema)-1]
	}
	return &stopgate.ToolDefinition{Name: name, Schema: append(schema, "}}"...)}
}

// parameterSchema returns the schema of a parameter's value.
func parameterSchema(p knowntools.Parameter) string {
	t := p.Kind.Type()
	switch {
	case t == "string":
		return `{}`
	case p.Kind == knowntools.Folder && !p.List: // some tools accept several
		return `{"anyOf":[{"x-stopgate-type":"path"},{"type":"array","items":{"x-stopgate-type":"path"}}]}`
	case p.List && t == "path" && p.Member == "":
		return `{"type":"string","x-stopgate-type":"path"}`
	}
	return `{"x-stopgate-type":"` + t + `"}`
}
