package gemini

import (
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

// counts are the keywords of a schema whose numbers may be written as text, as protocol buffers
// write them.
var counts = map[string]bool{"minItems": true, "maxItems": true, "minLength": true, "maxLength": true, "minProperties": true, "maxProperties": true}

// appendSchema converts parameters from the API's form of OpenAPI to JSON Schema: types in lower
// case, nullable as a type, numbers as numbers.
func appendSchema(dst []byte, schema jsonstream.Value) []byte {
	if schema.Kind() != jsonstream.Object {
		return append(dst, schema.Raw()...)
	}
	nullable, _ := wire.Get(schema, "nullable")
	dst = append(dst, '{')
	n := 0
	member := func(name string) {
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = append(jsonstream.AppendQuote(dst, name), ':')
	}
	for k, v := range schema.Members() {
		name := wire.Camel(string(provider.Key(k)))
		switch {
		case name == "nullable" || !provider.Present(v):
		case name == "type" && v.Kind() == jsonstream.String:
			typ := strings.ToLower(v.Text())
			if typ == "type_unspecified" {
				continue
			}
			member(name)
			if nullable.Kind() == jsonstream.True {
				dst = append(jsonstream.AppendQuote(append(dst, '['), typ), `,"null"]`...)
			} else {
				dst = jsonstream.AppendQuote(dst, typ)
			}
		case counts[name] && v.Kind() == jsonstream.String:
			if _, err := jsonstream.Parse([]byte(`{"n":`+v.Text()+`}`), provider.EnvelopeOptions(1<<10)); err == nil {
				member(name)
				dst = append(dst, v.Text()...)
			}
		case name == "properties" && v.Kind() == jsonstream.Object:
			member(name)
			dst = append(dst, '{')
			first := true
			for property, s := range v.Members() {
				if !first {
					dst = append(dst, ',')
				}
				first = false
				dst = appendSchema(append(append(dst, property.Raw()...), ':'), s)
			}
			dst = append(dst, '}')
		case name == "items" || name == "additionalProperties":
			member(name)
			dst = appendSchema(dst, v)
		case name == "anyOf" && v.Kind() == jsonstream.Array:
			member(name)
			dst = append(dst, '[')
			for s := range v.Elements() {
				if dst[len(dst)-1] != '[' {
					dst = append(dst, ',')
				}
				dst = appendSchema(dst, s)
			}
			dst = append(dst, ']')
		default:
			member(name)
			dst = append(dst, v.Raw()...)
		}
	}
	return append(dst, '}')
}
