package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/stopgate/stopgate"
)

// maxName is the length of the longest name of a function that every API takes.
const maxName = 64

// alias is a tool's name as every API takes it, also in a history: one that a provider
// would refuse, and everything else with it, is spelled otherwise and ends in a hash of
// what it was.
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

// aliases finds the tools of a request whose names were spelled otherwise.
func aliases(list []stopgate.ToolDefinition) map[stopgate.ToolName]stopgate.ToolName {
	names := map[stopgate.ToolName]stopgate.ToolName{}
	for _, t := range list {
		if spelled := stopgate.ToolName(alias(string(t.Name))); spelled != t.Name {
			names[spelled] = t.Name
		}
	}
	return names
}
