// Package mirror knows the HTTP headers in which the MCP revision without sessions
// repeats what a message says (WIRE 8.7).
//
//	marks, bad := mirror.Read(schema)        // the inputSchema of a tool
//	headers := marks.Headers(arguments)      // Mcp-Param-Region: Berlin
//	wrong := marks.Compare(header, argument) // "" if they say the same
//
// What it promises: whatever Headers writes Compare accepts, and Compare accepts
// nothing that says something else than the argument; a text that cannot stand in a
// header is encoded, so that no argument writes a header of its own.
package mirror

import (
	"encoding/base64"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// The headers.
const (
	Method = "Mcp-Method" // the message's method
	Name   = "Mcp-Name"   // what a message names: a tool, a prompt or a resource
	Param  = "Mcp-Param-" // what the header of an argument begins with
)

// Marks are the arguments of a tool that headers mirror.
type Marks []mark

type mark struct {
	path   jsonstream.Pointer
	header string // whole
}

// deepest is how far down in a schema marks are looked for.
const deepest = 32

// Read reads the marks of an inputSchema (x-mcp-header); bad says why they cannot be
// used: a client must not offer such a tool over HTTP.
func Read(schema jsonstream.Value) (marks Marks, bad string) {
	seen := map[string]bool{}
	var walk func(schema jsonstream.Value, path jsonstream.Pointer)
	walk = func(schema jsonstream.Value, path jsonstream.Pointer) {
		properties := member(schema, "properties")
		if !properties.IsValid() || properties.Kind() != jsonstream.Object || len(path) > deepest {
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
					bad = "x-mcp-header is no name of a header"
				case kind != "string" && kind != "integer" && kind != "boolean":
					bad = "x-mcp-header stands on what is no string, integer or boolean"
				case seen[strings.ToLower(header)]:
					bad = "two arguments have one x-mcp-header"
				}
				seen[strings.ToLower(header)] = true
				marks = append(marks, mark{at, Param + header})
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

// Headers are those of a call with these arguments; nil if it has none.
func (m Marks) Headers(arguments []byte) map[string]string {
	if len(m) == 0 {
		return nil
	}
	root, err := jsonstream.Parse(arguments, jsonstream.Options{})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, k := range m {
		if v, ok := k.path.Find(root); ok {
			if said, ok := spelled(v); ok {
				out[k.header] = Encode(said)
			}
		}
	}
	return out
}

// Compare reports what is wrong with the headers of a call, "" if nothing is. The
// arguments may be no value.
func (m Marks) Compare(header func(name string) (string, bool), arguments jsonstream.Value) string {
	for _, k := range m {
		said, given := header(k.header)
		var v jsonstream.Value
		if arguments.IsValid() {
			v, _ = k.path.Find(arguments)
		}
		absent := !v.IsValid() || v.Kind() == jsonstream.Null
		switch decoded, ok := Decode(said); {
		case absent && given:
			return k.header + " mirrors an argument that is not there"
		case absent:
		case !given:
			return k.header + " is missing"
		case !ok || !same(v, decoded):
			return k.header + " differs from the argument that it mirrors"
		}
	}
	return ""
}

// spelled is how a header says a value; null and absent values have no header.
func spelled(v jsonstream.Value) (string, bool) {
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

// same reports whether a header says what the argument is; integers compare as numbers.
func same(v jsonstream.Value, said string) bool {
	want, ok := spelled(v)
	if !ok {
		return false
	}
	if v.Kind() != jsonstream.Number {
		return want == said
	}
	d, err := jsonstream.ParseDecimal([]byte(said))
	n, _ := v.Decimal()
	return err == nil && d.Equal(n)
}

// token reports whether a text is a token of RFC 9110.
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

// Encode writes a text so that it can stand in a header.
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

// Decode reads what Encode wrote; ok is false for what nobody can have written.
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
