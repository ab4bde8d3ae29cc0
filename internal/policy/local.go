package policy

import "github.com/stopgate/stopgate"

// LocalTool is a tool that the terminal agent runs as a command.
type LocalTool struct {
	Definition stopgate.ToolDefinition
	Command    []string // the program and its arguments; never empty
}

// LocalTools lists the tools that operators' files declare with a command, in their
// order, each name once. It omits those of untrusted project files, which never run (S3).
func (p *Program) LocalTools() []LocalTool {
	var list []LocalTool
	seen := map[string]bool{}
	for _, l := range p.Layers() {
		for _, t := range l.File.Tools {
			if !l.Trusted || len(t.Command) == 0 || seen[t.Name] {
				continue
			}
			seen[t.Name] = true
			def := stopgate.ToolDefinition{Name: stopgate.ToolName(t.Name), Description: t.About, Schema: []byte(`{"type":"object"}`), EmptyMeansNone: true}
			if t.Schema != nil {
				def.Schema = t.Schema.ToJSONSchema()
			}
			list = append(list, LocalTool{Definition: def, Command: t.Command})
		}
	}
	return list
}
