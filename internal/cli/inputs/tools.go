package inputs

import (
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/jsonstream"
)

// ReadTools reads tool definitions from a JSON file in any of the forms in which
// they travel: a list, or an object with a member "tools"; each entry as an
// OpenAI function tool, an Anthropic tool or an MCP tool.
func ReadTools(path string) ([]stopgate.ToolDefinition, error) {
	if path == "" {
		return nil, nil
	}
	text, err := config.ReadFile(path, MaxLine)
	if err != nil {
		return nil, fmt.Errorf("read tools: %w", err)
	}
	return ParseTools(path, text)
}

// ParseTools reads tool definitions from the text of a file.
func ParseTools(path string, text []byte) ([]stopgate.ToolDefinition, error) {
	var doc jsonstream.Document
	if err := doc.Scan(text, jsonstream.Options{}); err != nil {
		return nil, fmt.Errorf("read tools: %s: %w", path, err)
	}
	list := doc.Root()
	if list.Kind() == jsonstream.Object {
		list, _ = list.Get("tools")
	}
	if list.Kind() != jsonstream.Array {
		return nil, fmt.Errorf(`read tools: %s: want a list of tools, or an object with a list "tools"`, path)
	}
	var tools []stopgate.ToolDefinition
	seen := map[stopgate.ToolName]bool{}
	for entry := range list.Elements() {
		tool, err := readTool(entry)
		if err != nil {
			return nil, fmt.Errorf("read tools: %s: tool %d: %w", path, len(tools)+1, err)
		}
		if seen[tool.Name] {
			return nil, fmt.Errorf("read tools: %s: tool %q is defined twice", path, tool.Name)
		}
		seen[tool.Name] = true
		tools = append(tools, tool)
	}
	return tools, nil
}

func readTool(entry jsonstream.Value) (stopgate.ToolDefinition, error) {
	if entry.Kind() != jsonstream.Object {
		return stopgate.ToolDefinition{}, fmt.Errorf("want an object, got %s", entry.Kind())
	}
	if function, ok := entry.Get("function"); ok && function.Kind() == jsonstream.Object {
		entry = function
	}
	name, ok := entry.Get("name")
	if !ok || name.Kind() != jsonstream.String {
		return stopgate.ToolDefinition{}, fmt.Errorf(`it has no "name"`)
	}
	tool := stopgate.ToolDefinition{Name: stopgate.ToolName(name.Text())}
	if description, ok := entry.Get("description"); ok && description.Kind() == jsonstream.String {
		tool.Description = description.Text()
	}
	if strict, ok := entry.Get("strict"); ok {
		tool.Strict = strict.Kind() == jsonstream.True
	}
	for _, member := range []string{"parameters", "input_schema", "inputSchema"} {
		if schema, ok := entry.Get(member); ok {
			tool.Schema = schema.Raw()
			return tool, nil
		}
	}
	return tool, nil
}

// DefinitionOf finds a tool among the definitions, nil if it is not there.
func DefinitionOf(tools []stopgate.ToolDefinition, name stopgate.ToolName) *stopgate.ToolDefinition {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}
