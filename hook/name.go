package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

type value = jsonstream.Value

// canonical is the name of a tool in policies: SERVER__TOOL of an MCP tool, otherwise
// the host's own name (DECISIONS S39).
func canonical(h *Host, tool string, root value) (stopgate.ToolName, stopgate.ServerID) {
	if of, ok := root.Get("mcp_context"); ok {
		server, _ := of.Get("server_name")
		name, _ := of.Get("tool_name")
		if server.Text() != "" && name.Text() != "" {
			return stopgate.ToolName(server.Text() + "__" + name.Text()), stopgate.ServerID(server.Text())
		}
	}
	if h.mcp != nil {
		if server, name, ok := h.mcp(h, tool); ok {
			return stopgate.ToolName(server + "__" + name), stopgate.ServerID(server)
		}
	}
	return stopgate.ToolName(tool), ""
}

// tools is what is known about the tools of a host.
type tools struct{ list []tool }

// tool is one built-in tool. Its arguments are words, "name" or "name=type", with the
// types path, command, url and argv, a command line or an argument vector; dir, the path of
// the directory in which the command runs; folder, the path of the directory in which the
// tool searches; glob, a path or pattern of paths that begins there, and filter, patterns
// of the files that it looks at there. What has no type is known, and nothing more.
// "name[]=type" is a list of such values, "name[].member=type" one of objects that have
// one as a member.
type tool struct {
	names    string // separated by blanks
	args     string
	harmless bool
	patch    string // the arguments of which one is an apply_patch text
}

// find returns the tool with a name of the host.
func (t *tools) find(name string) (tool, bool) {
	if t == nil {
		return tool{}, false
	}
	for _, k := range t.list {
		for n := range strings.FieldsSeq(k.names) {
			if n == name {
				return k, true
			}
		}
	}
	return tool{}, false
}

// usual are the names under which tools that no table knows, those of MCP servers among
// them, have paths, commands and addresses: a guard that sees one too many is better
// than one that silently does not guard.
const usual = "path=path file_path=path filePath=path filepath=path filename=path file=path absolute_path=path " +
	"relative_path=path directory=path dir=path notebook_path=path old_path=path new_path=path source=path destination=path " +
	"target_file=path cwd=path workdir=path paths=paths files=paths command=argv cmd=argv url=url"

// definition declares the tool with what is known of its arguments, so that guards
// see its paths, commands and addresses.
func (t tool) definition(name stopgate.ToolName) *stopgate.ToolDefinition {
	d := &stopgate.ToolDefinition{Name: name}
	schema := []byte(`{"type":"object","properties":{`)
	if t.names == "" {
		schema = []byte(`{"type":"object","additionalProperties":true,"properties":{`)
		t.args = usual
	}
	if t.patch != "" {
		schema = append(schema, `"`+patchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`...)
	}
	if new(search).of(t) {
		schema = append(schema, `"`+searchPaths+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path"}},`+
			`"`+searchGlobs+`":{"type":"array","items":{"type":"string","x-stopgate-type":"path","x-stopgate-expands":true}},`...)
	}
	for word := range strings.FieldsSeq(t.args) {
		arg, kind, _ := strings.Cut(word, "=")
		arg, member, list := strings.Cut(arg, "[]")
		schema = append(jsonstream.AppendQuote(schema, arg), ':')
		open, end := "", ""
		if member, ok := strings.CutPrefix(member, "."); ok {
			open, end = `{"type":"object","properties":{`+string(jsonstream.AppendQuote(nil, member))+`:`, `}}`
		}
		if list || kind == "paths" || kind == "globs" {
			open, end = `{"type":"array","items":`+open, end+`}`
		}
		schema = append(append(append(append(schema, open...), typed(kind)...), end...), ',')
	}
	if schema[len(schema)-1] == ',' {
		schema = schema[:len(schema)-1]
	}
	d.Schema = append(schema, "}}"...)
	return d
}

// typed is the schema of a value of a kind.
func typed(kind string) string {
	switch kind {
	case "", "filter":
		return `{}`
	case "dir", "glob":
		return `{"x-stopgate-type":"path"}`
	case "folder": // some tools take several
		return `{"anyOf":[{"x-stopgate-type":"path"},{"type":"array","items":{"x-stopgate-type":"path"}}]}`
	case "paths", "globs":
		return `{"type":"string","x-stopgate-type":"path"}`
	}
	return `{"x-stopgate-type":"` + kind + `"}`
}
