// Package definition reads what MCP servers say that their tools are.
//
//	tool, bad := definition.Read(element)  // one element of the result of tools/list
//	if tool == nil {
//		log.Warn("a tool is left out", "because", bad)
//	}
//	pins.Check(server, tool.Name, tool.Hash, tool.Canonical)
//
// What it promises: two definitions have one hash exactly when they say the same to
// whoever goes by them, whatever the order and the spelling of their members (WIRE
// 8.4, THREATS G4); a definition that two readers could read differently is none
// (THREATS G8); and what a description hides can be shown (THREATS G6). It believes
// nothing of what a definition says about itself, such as that it only reads (THREATS
// G5).
package definition

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Tool is one tool of a server as its definition describes it.
type Tool struct {
	stopgate.ToolDefinition
	// Hash is the SHA-256 in hex of Canonical, which is canonical JSON of what is pinned.
	Hash      string
	Canonical []byte
}

// pinned are the members of a definition that a model or a client goes by; the others
// may change from day to day (WIRE 8.4).
var pinned = []string{"annotations", "description", "inputSchema", "name", "outputSchema", "title"}

// Read takes a definition in; nil if it is none that anybody can go by, and why.
func Read(v jsonstream.Value) (t *Tool, bad string) {
	if v.Kind() != jsonstream.Object || !jsonrpc.Exact(v) {
		return nil, "the names of its members are ambiguous"
	}
	name := stopgate.ToolName(text(v, "name"))
	if !stopgate.ValidToolName(name) {
		return nil, "its name is not one that tools can have"
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

// Hiding calls shown for every text of a definition that a model reads and that holds
// characters nobody sees, with the text in which they are escapes, and counts them.
func Hiding(v jsonstream.Value, shown func(v jsonstream.Value, text string)) (hidden int) {
	switch v.Kind() {
	case jsonstream.Object:
		for key, value := range v.Members() {
			if value.Kind() == jsonstream.String && (key.IsText("description") || key.IsText("title")) {
				if text, n := show(value.Text()); n > 0 {
					hidden += n
					shown(value, text)
				}
				continue
			}
			hidden += Hiding(value, shown)
		}
	case jsonstream.Array:
		for value := range v.Elements() {
			hidden += Hiding(value, shown)
		}
	}
	return hidden
}

// show writes what nobody sees as escapes and counts it. Lines and tabs stay.
func show(text string) (shown string, hidden int) {
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
