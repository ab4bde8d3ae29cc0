package source

import (
	"github.com/stopgate/stopgate/jsonstream"
)

// The bounds of a structured result. Larger ones are plain text, and beyond maxText no text at all.
const (
	maxText   = 8 << 20
	maxYAML   = 1 << 20
	maxPython = 4 << 20
	maxDepth  = 128
	maxValues = 1 << 18
)

// The formats of structured results, as policy files name them.
const (
	formatJSON   = "json"
	formatYAML   = "yaml"
	formatPython = "python"
	formatText   = "text"
)

// options are strict: a text with a repeated key has no structure.
var options = jsonstream.Options{MaxBytes: maxText, MaxDepth: maxDepth, MaxValues: maxValues, MaxExponent: jsonstream.AnyExponent}

// document is a result as a format reads it. The other formats are converted to JSON text, which
// one strict parser reads.
type document struct {
	format string
	root   jsonstream.Value // invalid if the result does not parse
}

// read reads a result in a format; "" is JSON.
func read(data []byte, format string) *document {
	d := &document{format: format}
	text, ok := data, true
	switch format {
	case formatYAML:
		text, ok = yamlToJSON(data)
	case formatPython:
		text, ok = pythonToJSON(data)
	case formatText:
		ok = false
	}
	if !ok {
		return d
	}
	if root, err := jsonstream.Parse(text, options); err == nil {
		d.root = root
	}
	return d
}

// structured reports whether the result is an object or an array.
func (d *document) structured() bool {
	if d == nil {
		return false
	}
	k := d.root.Kind()
	return k == jsonstream.Object || k == jsonstream.Array
}

// resolve appends the values at a pointer. The token "*" is every element of an array and every
// member of an object; an element has its index. complete is false if there is no value on a path,
// or a value that has no such part.
func resolve(dst []jsonstream.Value, v jsonstream.Value, p jsonstream.Pointer) (values []jsonstream.Value, complete bool) {
	if len(p) == 0 {
		return append(dst, v), v.IsValid()
	}
	complete = true
	step := func(next jsonstream.Value, rest jsonstream.Pointer) {
		var ok bool
		dst, ok = resolve(dst, next, rest)
		complete = complete && ok
	}
	switch {
	case p[0] == "*" && v.Kind() == jsonstream.Array:
		for e := range v.Elements() {
			step(e, p[1:])
		}
	case p[0] == "*" && v.Kind() == jsonstream.Object:
		for _, m := range v.Members() {
			step(m, p[1:])
		}
	default:
		next, ok := p[:1].Find(v)
		if !ok {
			return dst, false
		}
		step(next, p[1:])
	}
	return dst, complete
}

// isText reports whether a value is a leaf that is a text: a string or a number.
func isText(v jsonstream.Value) bool {
	return v.Kind() == jsonstream.String || v.Kind() == jsonstream.Number
}

// textOf returns the text of a string or a number, which is its literal.
func textOf(v jsonstream.Value) []byte {
	if v.Kind() == jsonstream.Number {
		return v.Raw()
	}
	if text, ok := v.TextBytes(); ok {
		return text
	}
	return v.AppendText(nil)
}

// leaves calls each for the leaves of a value that are texts, in their order.
func leaves(v jsonstream.Value, each func(leaf jsonstream.Value)) {
	switch v.Kind() {
	case jsonstream.Object:
		for _, m := range v.Members() {
			leaves(m, each)
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			leaves(e, each)
		}
	case jsonstream.String, jsonstream.Number:
		each(v)
	}
}

// keys calls each for the keys of all objects of a value.
func keys(v jsonstream.Value, each func(key jsonstream.Value)) {
	switch v.Kind() {
	case jsonstream.Object:
		for k, m := range v.Members() {
			each(k)
			keys(m, each)
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			keys(e, each)
		}
	}
}

// offset identifies a value or a key in its document.
func offset(v jsonstream.Value) int {
	start, _ := v.Span()
	return start
}
