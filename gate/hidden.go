package gate

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Redacted stands in the place of a value that is not shown.
const Redacted = "[redacted]"

// Hidden are the values of JSON texts that telemetry does not show.
type Hidden []jsonstream.Pointer

// Hide reads pointers: "*" stands for every member or element, "**" for any depth. A
// pointer that is none hides everything. Without pointers it is nil.
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

// Append writes a value without those that are hidden.
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

// text writes a string. One that is JSON itself, as results of tools are, is hidden in
// like the rest.
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

// below lists what is left of the pointers one step further. Names are compared
// without regard to case: a secret is one in any spelling.
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
