package anthropic

import (
	"slices"
	"strings"
)

// providerTool is a client-executed tool that the provider defines. The request contains
// only its type and version, so its schema is defined here.
type providerTool struct {
	prefix   string
	versions []string
	schema   string
}

// The schemas are written for rules: they contain every documented parameter, and mark
// paths and commands.
var providerTools = []providerTool{
	{"bash_", []string{"20241022", "20250124"},
		`{"type":"object","properties":{"command":{"type":"string","x-stopgate-type":"command"},"restart":{"type":"boolean"}},"additionalProperties":false}`},
	{"text_editor_", []string{"20241022", "20250124", "20250429", "20250728"},
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"]},` +
			`"path":{"type":"string","x-stopgate-type":"path"},"view_range":{"type":"array","items":{"type":"integer"}},"file_text":{"type":"string"},` +
			`"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"}},` +
			`"required":["command","path"],"additionalProperties":false}`},
	{"memory_", []string{"20250818"},
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"]},` +
			`"path":{"type":"string","x-stopgate-type":"path"},"view_range":{"type":"array","items":{"type":"integer"}},"file_text":{"type":"string"},` +
			`"old_str":{"type":"string"},"new_str":{"type":"string"},"insert_line":{"type":"integer"},"insert_text":{"type":"string"},` +
			`"old_path":{"type":"string","x-stopgate-type":"path"},"new_path":{"type":"string","x-stopgate-type":"path"}},` +
			`"required":["command"],"additionalProperties":false}`},
	{"computer_", []string{"20241022", "20250124", "20251124"},
		`{"type":"object","properties":{"action":{"type":"string"},"coordinate":{"type":"array","items":{"type":"integer"}},` +
			`"start_coordinate":{"type":"array","items":{"type":"integer"}},"text":{"type":"string"},"duration":{"type":"number"},` +
			`"scroll_direction":{"type":"string"},"scroll_amount":{"type":"integer"},"region":{"type":"array","items":{"type":"integer"}}},` +
			`"required":["action"],"additionalProperties":false}`},
}

// findProviderTool returns the tool for a type, nil if the tool runs at the provider. known
// reports whether the schema of this version is known.
func findProviderTool(typ string) (f *providerTool, known bool) {
	for i := range providerTools {
		if version, ok := strings.CutPrefix(typ, providerTools[i].prefix); ok {
			return &providerTools[i], slices.Contains(providerTools[i].versions, version)
		}
	}
	return nil, false
}
