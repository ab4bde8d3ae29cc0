package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/stopgate/stopgate"
)

// maxName is the length of the longest function name that every API accepts.
const maxName = 64

// alias returns a tool name that every API accepts, also in a history. A name that a provider would
// refuse, together with the whole request, is modified and ends with a hash of the original.
func alias(tool string) string {
	spelled := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	if spelled == tool && tool != "" && len(tool) <= maxName {
		return tool
	}
	sum := sha256.Sum256([]byte(tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return spelled[:min(len(spelled), maxName-len(end))] + end
}

// aliases maps the modified names of a request's tools to the original ones.
func aliases(list []stopgate.ToolDefinition) map[stopgate.ToolName]stopgate.ToolName {
	names := map[stopgate.ToolName]stopgate.ToolName{}
	for _, t := range list {
		if spelled := stopgate.ToolName(alias(string(t.Name))); spelled != t.Name {
			names[spelled] = t.Name
		}
	}
	return names
}
