package mcpgate

import (
	"encoding/base64"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// mark is an argument that an HTTP header mirrors (x-mcp-header).
type mark struct {
	path   jsonstream.Pointer
	header string // without its prefix
}

const paramHeader = "Mcp-Param-"

// marksOf reads the marks of a schema; bad says why they cannot be used.
func marksOf(schema jsonstream.Value) (marks []mark, bad string) {
	seen := map[string]bool{}
	var walk func(schema jsonstream.Value, path jsonstream.Pointer)
	walk = func(schema jsonstream.Value, path jsonstream.Pointer) {
		properties, ok := memberOf(schema, "properties")
		if !ok || len(path) > 32 {
			return
		}
		for key, property := range properties.Members() {
			if property.Kind() != jsonstream.Object {
				continue
			}
			at := append(path[:len(path):len(path)], key.Text())
			if v, ok := property.Get("x-mcp-header"); ok {
				header := ""
				if v.Kind() == jsonstream.String {
					header = v.Text()
				}
				kind := textOf(property, "type")
				switch {
				case !token(header):
					bad = "x-mcp-header is no name of a header"
				case kind != "string" && kind != "integer" && kind != "boolean":
					bad = "x-mcp-header stands on what is no string, integer or boolean"
				case seen[strings.ToLower(header)]:
					bad = "two arguments have one x-mcp-header"
				}
				seen[strings.ToLower(header)] = true
				marks = append(marks, mark{at, header})
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

// headers mirror the arguments that are sent.
func (t *tool) headers(args []byte) map[string]string {
	if len(t.marks) == 0 {
		return nil
	}
	root, err := jsonstream.Parse(args, jsonstream.Options{})
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, k := range t.marks {
		if v, ok := k.path.Find(root); ok {
			if text, ok := mirrored(v); ok {
				out[paramHeader+k.header] = headerValue(text)
			}
		}
	}
	return out
}

// mirrored is how a header says a value; null and absent values have no header.
func mirrored(v jsonstream.Value) (string, bool) {
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

const (
	encodedStart = "=?base64?"
	encodedEnd   = "?="
)

// headerValue writes a text so that it can stand in a header.
func headerValue(s string) string {
	plain := !(strings.HasPrefix(s, encodedStart) && strings.HasSuffix(s, encodedEnd)) && strings.Trim(s, " \t") == s
	for i := range len(s) {
		plain = plain && s[i] >= 0x20 && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return encodedStart + base64.StdEncoding.EncodeToString([]byte(s)) + encodedEnd
}

// unheader reads what headerValue wrote.
func unheader(s string) (string, bool) {
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

// mirrors reports what is wrong with the headers of a call that mirror its arguments;
// "" if nothing is. Only HTTP has them, in the revision without sessions.
func (x *exchange) mirrors(t *tool, arguments jsonstream.Value) string {
	if x.header == nil {
		return ""
	}
	for _, k := range t.marks {
		name := paramHeader + k.header
		said, given := x.header(name)
		var v jsonstream.Value
		if arguments.IsValid() {
			v, _ = k.path.Find(arguments)
		}
		absent := !v.IsValid() || v.Kind() == jsonstream.Null
		switch text, ok := unheader(said); {
		case absent && given:
			return name + " mirrors an argument that is not there"
		case absent:
		case !given:
			return name + " is missing"
		case !ok || !same(v, text):
			return name + " differs from the argument that it mirrors"
		}
	}
	return ""
}

// same reports whether a header says what the argument is; integers compare as numbers.
func same(v jsonstream.Value, said string) bool {
	want, ok := mirrored(v)
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
