// Package mirror implements the HTTP headers that repeat parts of an MCP message, in the
// MCP revision without sessions.
//
//	params, reason := mirror.ParseSchema(schema) // the inputSchema of a tool
//	headers := params.Headers(arguments)         // Mcp-Param-Region: Berlin
//	problem := params.Compare(header, arguments) // "" if they agree
//
// Compare accepts every header that Headers writes, and no header that differs from its
// argument. Text that is not valid in a header is encoded, so an argument cannot inject a
// header.
package mirror

import (
	"encoding/base64"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// Header names.
const (
	Method = "Mcp-Method" // the method of the message
	Name   = "Mcp-Name"   // the tool, prompt or resource that the message names
	Param  = "Mcp-Param-" // prefix of the header of an argument
)

// Params are the arguments of a tool that are mirrored in headers.
type Params []param

type param struct {
	pointer jsonstream.Pointer
	header  string // the full header name
}

// maxDepth is the depth of a schema below which x-mcp-header is ignored.
const maxDepth = 32

// ParseSchema reads the x-mcp-header annotations of an inputSchema. If they are invalid, it
// returns the reason; a client must not offer such a tool over HTTP.
func ParseSchema(schema jsonstream.Value) (marks Params, bad string) {
	seen := map[string]bool{}
	var walk func(schema jsonstream.Value, path jsonstream.Pointer)
	walk = func(schema jsonstream.Value, path jsonstream.Pointer) {
		properties := member(schema, "properties")
		if !properties.IsValid() || properties.Kind() != jsonstream.Object || len(path) > maxDepth {
			return
		}
		for key, property := range properties.Members() {
			if property.Kind() != jsonstream.Object {
				continue
			}
			at := append(path[:len(path):len(path)], key.Text())
			if v := member(property, "x-mcp-header"); v.IsValid() {
				header, kind := text(v), text(member(property, "type"))
				switch {
				case !token(header):
					bad = "x-mcp-header is not a valid header name"
				case kind != "string" && kind != "integer" && kind != "boolean":
					bad = "x-mcp-header is set on a property that is not a string, integer or boolean"
				case seen[strings.ToLower(header)]:
					bad = "two arguments have the same x-mcp-header"
				}
				seen[strings.ToLower(header)] = true
				marks = append(marks, param{at, Param + header})
			}
			walk(property, at)
		}
	}
	walk(schema, nil)
	if bad != "" {
		return nil, bad
	}
	return marks, ""
}

// Headers returns the headers of a call with these arguments, nil if it has none.
func (m Params) Headers(arguments []byte) map[string]string {
	if len(m) == 0 {
		return nil
	}
	root, err := jsonstream.Parse(arguments, jsonstream.Options{})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, k := range m {
		if v, ok := k.pointer.Find(root); ok {
			if text, ok := format(v); ok {
				out[k.header] = Encode(text)
			}
		}
	}
	return out
}

// Compare compares the headers of a call with its arguments and returns the first
// difference, "" if there is none. arguments may be invalid (absent).
func (m Params) Compare(header func(name string) (string, bool), arguments jsonstream.Value) string {
	for _, k := range m {
		value, given := header(k.header)
		var v jsonstream.Value
		if arguments.IsValid() {
			v, _ = k.pointer.Find(arguments)
		}
		absent := !v.IsValid() || v.Kind() == jsonstream.Null
		switch decoded, ok := Decode(value); {
		case absent && given:
			return k.header + " is set, but its argument is absent"
		case absent:
		case !given:
			return k.header + " is missing"
		case !ok || !same(v, decoded):
			return k.header + " differs from its argument"
		}
	}
	return ""
}

// format returns v as it is written in a header. Null and absent values have no header.
func format(v jsonstream.Value) (string, bool) {
	switch v.Kind() {
	case jsonstream.String:
		return v.Text(), true
	case jsonstream.True:
		return "true", true
	case jsonstream.False:
		return "false", true
	case jsonstream.Number:
		if d, ok := v.Decimal(); ok && d.IsInteger() {
			return d.String(), true
		}
	}
	return "", false
}

// same reports whether header text denotes the value v. Integers compare as numbers.
func same(v jsonstream.Value, text string) bool {
	want, ok := format(v)
	if !ok {
		return false
	}
	if v.Kind() != jsonstream.Number {
		return want == text
	}
	d, err := jsonstream.ParseDecimal([]byte(text))
	n, _ := v.Decimal()
	return err == nil && d.Equal(n)
}

// token reports whether s is a token of RFC 9110 of at most 128 bytes.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

const (
	encodedStart = "=?base64?"
	encodedEnd   = "?="
)

// Encode encodes s as a header value: unchanged if it is printable ASCII, in base64
// otherwise.
func Encode(s string) string {
	plain := !(strings.HasPrefix(s, encodedStart) && strings.HasSuffix(s, encodedEnd)) && strings.Trim(s, " \t") == s
	for i := range len(s) {
		plain = plain && s[i] >= 0x20 && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(s)) + encodedEnd
}

// Decode decodes a header value that Encode wrote. ok is false if the base64 is invalid.
func Decode(s string) (text string, ok bool) {
	inner, ok := strings.CutPrefix(s, encodedStart)
	if !ok {
		return s, true
	}
	if inner, ok = strings.CutSuffix(inner, encodedEnd); !ok {
		return s, true
	}
	raw, err := base64.StdEncoding.DecodeString(inner)
	return string(raw), err == nil
}

func member(object jsonstream.Value, name string) jsonstream.Value {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return jsonstream.Value{}
	}
	v, _ := object.Get(name)
	return v
}

func text(v jsonstream.Value) string {
	if !v.IsValid() || v.Kind() != jsonstream.String {
		return ""
	}
	return v.Text()
}
