package hook

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/jsonstream"
)

// Known is a built-in tool of a host, as its hook declares it.
type Known struct {
	stopgate.ToolDefinition
	// Harmless says that the tool changes nothing and reveals nothing outside of the
	// project (DECISIONS S33).
	Harmless bool
	// Seen says that guards see paths, commands or addresses in its calls.
	Seen bool
}

// Known lists the tools of the host that the table of known tools has.
func (h *Host) Known() (list []Known) {
	for _, t := range h.tools.Tools() {
		seen := false
		for _, p := range t.Parameters {
			seen = seen || p.Kind != knowntools.Value
		}
		for _, name := range t.Names {
			c := contract{t, true}
			list = append(list, Known{ToolDefinition: *c.definition(stopgate.ToolName(name)), Harmless: t.Harmless, Seen: seen})
		}
	}
	return list
}

// contract is what is known of the parameters of a tool. It is known whose tool it is if
// that is built into the host.
type contract struct {
	*knowntools.Tool
	builtIn bool
}

// contract returns what is known of the tool of an event, if it is one of the host. Of any
// other tool, of an MCP server for one, the rows of its name only add to what usual sees: it
// may be a stranger's.
func (h *Host) contract(e *Event) contract {
	if t := h.tools.Tool(e.HostTool); t != nil && e.Call.Server == "" {
		return contract{t, true}
	}
	more := *usual
	has := func(name string) bool {
		return slices.ContainsFunc(more.Parameters, func(p knowntools.Parameter) bool { return p.Name == name })
	}
	for _, row := range knowntools.ByName(e.own()) {
		for _, p := range row.Parameters {
			if p.Kind.Type() != "string" && !has(p.Name) {
				more.Parameters = append(slices.Clip(more.Parameters), p)
			}
		}
	}
	return contract{&more, false}
}

// usual are the names under which tools that no table knows, those of MCP servers among
// them, have paths, commands and addresses: a guard that sees one too many is better
// than one that silently does not guard.
var usual = &knowntools.Tool{Parameters: func() (list []knowntools.Parameter) {
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

// unknown reports that the tool may be anybody's.
func (t contract) unknown() bool { return !t.builtIn }

// patch lists the parameters of which one is a patch, nil if the tool takes none.
func (t contract) patch() (names []string) {
	for _, p := range t.Parameters {
		if p.Kind == knowntools.Patch {
			names = append(names, p.Name)
		}
	}
	return names
}

// definition declares the tool with what is known of its arguments, so that guards
// see its paths, commands and addresses.
func (t contract) definition(name stopgate.ToolName) *stopgate.ToolDefinition {
	schema := []byte(`{"type":"object",`)
	if t.unknown() {
		schema = append(schema, `"additionalProperties":true,`...)
	}
	schema = append(schema, `"properties":{`...)
	if t.patch() != nil {
		schema = append(schema, `"`+patchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`...)
	}
	if new(search).of(t) {
		schema = append(schema, `"`+searchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`+
			`"`+searchGlobs+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path","x-stopgate-expands":true}},`...)
	}
	for _, p := range t.Parameters {
		schema = append(jsonstream.AppendQuote(schema, p.Name), ':')
		open, end := "", ""
		if p.Member != "" {
			open, end = `{"type":"object","properties":{`+string(jsonstream.AppendQuote(nil, p.Member))+`:`, `}}`
		}
		if p.List {
			open, end = `{"type":"array","items":`+open, end+`}`
		}
		schema = append(append(append(append(schema, open...), typed(p)...), end...), ',')
	}
	if schema[len(schema)-1] == ',' {
		schema = schema[:len(schema)-1]
	}
	return &stopgate.ToolDefinition{Name: name, Schema: append(schema, "}}"...)}
}

// typed is the schema of a value of a parameter.
func typed(p knowntools.Parameter) string {
	t := p.Kind.Type()
	switch {
	case t == "string":
		return `{}`
	case p.Kind == knowntools.Folder && !p.List: // some tools take several
		return `{"anyOf":[{"x-stopgate-type":"path"},{"type":"array","items":{"x-stopgate-type":"path"}}]}`
	case p.List && t == "path" && p.Member == "":
		return `{"type":"string","x-stopgate-type":"path"}`
	}
	return `{"x-stopgate-type":"` + t + `"}`
}
