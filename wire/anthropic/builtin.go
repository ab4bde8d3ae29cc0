package anthropic

import (
	"slices"
	"strings"
)

// family is a client-executed tool that the provider defines: the request names
// its type and version only, so its schema stands here (WIRE 4.1).
type family struct {
	prefix   string
	versions []string
	schema   string
}

// The schemas are written for rules: every parameter of the tool's
// documentation, with paths and commands marked as such.
var families = []family{
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

// builtin finds the family of a tool type, nil if the provider runs the tool;
// known says whether this version's schema is known.
func builtin(typ string) (f *family, known bool) {
	for i := range families {
		if version, ok := strings.CutPrefix(typ, families[i].prefix); ok {
			return &families[i], slices.Contains(families[i].versions, version)
		}
	}
	return nil, false
}
