package mcpgate

import (
	"bytes"
	"context"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// resultTexts are the texts of a tool's result: the structured content where there is one, and its
// content blocks unless they repeat it.
type resultTexts struct {
	text   []byte
	more   []byte // the content blocks, next to structured content that differs
	opaque bool   // there are blocks that are no text, such as images
}

// textsOf returns the texts of a result object.
func textsOf(result jsonstream.Value) (t resultTexts) {
	content, _ := result.Get("content")
	blocks, opaque := provider.ReadContent(content)
	t.opaque = opaque
	structured, ok := result.Get("structuredContent")
	switch {
	case !content.IsValid() && !ok:
		t.text = result.Raw()
	case !ok || structured.Kind() == jsonstream.Null:
		t.text = blocks
	case !sameJSON(blocks, structured):
		t.text, t.more = structured.Raw(), blocks
	default:
		t.text = structured.Raw()
	}
	return t
}

// sameJSON reports whether a text is the JSON of a value, or empty.
func sameJSON(text []byte, v jsonstream.Value) bool {
	if len(bytes.TrimSpace(text)) == 0 {
		return true
	}
	other, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	return err == nil && jsonstream.HashCanonical(other) == jsonstream.HashCanonical(v)
}

// addText adds content that the client receives from a server to the texts of its session.
func (p *client) addText(ctx context.Context, text gate.Text) {
	if !p.g.gate.ReadsTexts() || p.owner.Session == "" {
		return
	}
	if err := p.g.gate.AddTexts(context.WithoutCancel(ctx), p.owner, "", gate.Texts{List: []gate.Text{text}}); err != nil {
		p.g.log.Warn("adding a text to the session failed", "error", err)
	}
}

// addContent adds the content of a response that is no result of a tool: a resource, or a prompt that
// a server wrote.
func (p *client) addContent(ctx context.Context, result jsonstream.Value) {
	for _, name := range [...]string{"contents", "messages", "description"} {
		v, ok := result.Get(name)
		if !ok {
			continue
		}
		p.addText(ctx, gate.Text{Result: &flow.Result{Data: v.Raw(), Opaque: hasBlob(v)}})
	}
}

// hasBlob reports whether content has a part that is no text.
func hasBlob(v jsonstream.Value) bool {
	for element := range v.Elements() {
		if hasBlob(element) {
			return true
		}
	}
	for k, member := range v.Members() {
		if name := k.Text(); (name == "blob" || name == "data") && member.Kind() == jsonstream.String || hasBlob(member) {
			return true
		}
	}
	return false
}

// addAnswer adds the answer of the client's user to an elicitation, one text for each value that the
// user wrote. Words that the server itself wrote in its form, such as defaults and choices, are not
// the user's.
func (p *client) addAnswer(ctx context.Context, asked []byte, answer jsonstream.Value) {
	if !p.g.gate.ReadsTexts() || p.owner.Session == "" || jsonrpc.TextOf(answer, "action") != "accept" {
		return
	}
	form, err := jsonstream.Parse(asked, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	content, ok := answer.Get("content")
	if err != nil || !ok {
		return
	}
	for _, word := range words(form, content) {
		p.addText(ctx, gate.Text{Message: &flow.Message{Source: flow.User, Text: []byte(word), Answer: true}})
	}
}

// words are the values of an answer that are not in the form.
func words(form, content jsonstream.Value) (list []string) {
	written := strings.ToLower(strings.Join(leaves(form, nil), "\n"))
	for _, value := range leaves(content, nil) {
		if !strings.Contains(written, strings.ToLower(strings.TrimSpace(value))) {
			list = append(list, value)
		}
	}
	return list
}

// leaves appends the strings and numbers of a value.
func leaves(v jsonstream.Value, list []string) []string {
	switch v.Kind() {
	case jsonstream.String:
		list = append(list, v.Text())
	case jsonstream.Number:
		list = append(list, string(v.Raw()))
	case jsonstream.Array:
		for element := range v.Elements() {
			list = leaves(element, list)
		}
	case jsonstream.Object:
		for k, member := range v.Members() {
			list = leaves(member, append(list, k.Text()))
		}
	}
	return list
}
