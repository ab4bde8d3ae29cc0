// Package definition parses the tool definitions of MCP servers.
//
//	tool, reason := definition.Parse(element)  // one element of the result of tools/list
//	if tool == nil {
//		log.Warn("tool is not offered", "reason", reason)
//	}
//	pins.Check(server, tool.Name, tool.Hash, tool.Canonical)
//
// Two definitions have the same hash exactly when their pinned members are equal, whatever
// the order and encoding of the members (G4). A definition that two readers could read
// differently is rejected (G8). Hidden characters in descriptions can be made visible (G6).
// Annotations of a definition, such as readOnlyHint, are never trusted (G5).
package definition

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// Tool is one tool of a server as its definition describes it.
type Tool struct {
	stopgate.ToolDefinition
	// Hash is the SHA-256 of Canonical in hex. Canonical is the canonical JSON of the
	// pinned members.
	Hash      string
	Canonical []byte
}

// pinned lists the members of a definition that models and clients rely on. Servers may
// change other members at any time.
var pinned = []string{"annotations", "description", "inputSchema", "name", "outputSchema", "title"}

// Parse parses one tool definition. If the definition is invalid, Parse returns nil and the
// reason.
func Parse(v jsonstream.Value) (t *Tool, reason string) {
	if v.Kind() != jsonstream.Object || !jsonrpc.HasExactNames(v) {
		return nil, "two readers could read its member names differently"
	}
	name := stopgate.ToolName(text(v, "name"))
	if !stopgate.ValidToolName(name) {
		return nil, "its name is not a valid tool name"
	}
	t = &Tool{ToolDefinition: stopgate.ToolDefinition{Name: name, Description: text(v, "description")}}
	t.Canonical = append(t.Canonical, '{')
	for _, member := range pinned {
		m, ok := v.Get(member)
		if !ok {
			continue
		}
		if len(t.Canonical) > 1 {
			t.Canonical = append(t.Canonical, ',')
		}
		t.Canonical = append(jsonstream.AppendQuote(t.Canonical, member), ':')
		t.Canonical = jsonstream.AppendCanonical(t.Canonical, m)
	}
	t.Canonical = append(t.Canonical, '}')
	sum := sha256.Sum256(t.Canonical)
	t.Hash = hex.EncodeToString(sum[:])
	schema, ok := v.Get("inputSchema")
	if !ok || schema.Kind() != jsonstream.Object {
		return nil, "it has no inputSchema"
	}
	t.Schema = append([]byte(nil), schema.Raw()...)
	return t, ""
}

// VisitHidden calls visit for every description and title in v that contains hidden
// characters, with the text in which those characters are escaped. It returns their number.
func VisitHidden(v jsonstream.Value, visit func(v jsonstream.Value, text string)) (hidden int) {
	switch v.Kind() {
	case jsonstream.Object:
		for key, value := range v.Members() {
			if value.Kind() == jsonstream.String && (key.IsText("description") || key.IsText("title")) {
				if text, n := escapeHidden(value.Text()); n > 0 {
					hidden += n
					visit(value, text)
				}
				continue
			}
			hidden += VisitHidden(value, visit)
		}
	case jsonstream.Array:
		for value := range v.Elements() {
			hidden += VisitHidden(value, visit)
		}
	}
	return hidden
}

// escapeHidden replaces hidden characters in text by visible escapes and counts them. It
// keeps line feeds and tabs.
func escapeHidden(text string) (shown string, hidden int) {
	var out []byte
	for _, r := range text {
		if r != '\n' && r != '\t' && visible.Hidden(r) {
			hidden++
			out = append(out, visible.Text(string(r))...)
			continue
		}
		out = append(out, string(r)...)
	}
	return string(out), hidden
}

func text(v jsonstream.Value, name string) string {
	m, ok := v.Get(name)
	if !ok || m.Kind() != jsonstream.String {
		return ""
	}
	return m.Text()
}
