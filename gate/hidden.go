package gate

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Redacted replaces a hidden value.
const Redacted = "[redacted]"

// Hidden are the values of JSON texts that telemetry does not show.
type Hidden []jsonstream.Pointer

// Hide parses pointers: "*" matches every member or element, "**" any depth. An invalid
// pointer hides everything. Without pointers the result is nil.
func Hide(pointers ...string) (h Hidden) {
	for _, text := range pointers {
		p, err := jsonstream.ParsePointer(text)
		if err != nil {
			p = jsonstream.Pointer{"**"}
		}
		h = append(h, p)
	}
	return h
}

// Append appends the JSON of v with the hidden values replaced by [Redacted].
func (h Hidden) Append(dst []byte, v jsonstream.Value) []byte {
	for _, p := range h {
		if len(p) == 0 || len(p) == 1 && p[0] == "**" {
			return jsonstream.AppendQuote(dst, Redacted)
		}
	}
	switch v.Kind() {
	case jsonstream.Object:
		dst = append(dst, '{')
		first := true
		for key, value := range v.Members() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(jsonstream.AppendQuote(dst, key.Text()), ':')
			dst = h.below(key.Text()).Append(dst, value)
		}
		return append(dst, '}')
	case jsonstream.Array:
		dst = append(dst, '[')
		first := true
		for value := range v.Elements() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = h.below("*").Append(dst, value)
		}
		return append(dst, ']')
	case jsonstream.String:
		return h.text(dst, v)
	}
	return append(dst, v.Raw()...)
}

// text appends a string. Values in a string that is JSON itself, as results of tools are, are
// hidden too.
func (h Hidden) text(dst []byte, v jsonstream.Value) []byte {
	raw := v.Raw()
	text := bytes.TrimLeft(v.AppendText(nil), " \t\r\n")
	if len(h) == 0 || len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return append(dst, raw...)
	}
	inner, err := jsonstream.Parse(text, jsonstream.Options{MaxExponent: jsonstream.AnyExponent, RepeatedKeys: true})
	if err != nil {
		return append(dst, raw...)
	}
	shown := h.Append(nil, inner)
	if !bytes.Contains(shown, []byte(Redacted)) {
		return append(dst, raw...)
	}
	return jsonstream.AppendQuote(dst, shown)
}

// below returns the remaining pointers for a member or element. Names are compared without
// regard to case, so that other spellings of a name are hidden too.
func (h Hidden) below(token string) (left Hidden) {
	for _, p := range h {
		for len(p) > 0 && p[0] == "**" {
			left = append(left, p)
			p = p[1:]
		}
		if len(p) == 0 {
			continue // "**" at its end hides all that is left
		}
		if p[0] == "*" || strings.EqualFold(p[0], token) {
			left = append(left, p[1:])
		}
	}
	return left
}
