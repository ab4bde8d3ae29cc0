package jsonrpc

import (
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// Object is a JSON object that is written member by member. The zero Object is empty.
type Object []byte

func (o *Object) key(name string) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(jsonstream.AppendQuote(*o, name), ':')
}

// Raw adds a member that is JSON text.
func (o *Object) Raw(name string, text []byte) *Object {
	o.key(name)
	*o = append(*o, text...)
	return o
}

// Text adds a member that is a string.
func (o *Object) Text(name, value string) *Object {
	o.key(name)
	*o = jsonstream.AppendQuote(*o, value)
	return o
}

// Optional adds a text member if it is not empty.
func (o *Object) Optional(name, value string) *Object {
	if value != "" {
		o.Text(name, value)
	}
	return o
}

// Bool adds a member that is a boolean.
func (o *Object) Bool(name string, value bool) *Object {
	return o.Raw(name, strconv.AppendBool(nil, value))
}

// Int adds a member that is a whole number.
func (o *Object) Int(name string, value int64) *Object {
	return o.Raw(name, strconv.AppendInt(nil, value, 10))
}

// End closes and returns the object.
func (o *Object) End() []byte {
	if len(*o) == 0 {
		*o = append(*o, '{')
	}
	*o = append(*o, '}')
	return *o
}

// TextOf returns a member that is a string, "" otherwise.
func TextOf(object jsonstream.Value, name string) string {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return ""
	}
	if v, ok := object.Get(name); ok && v.Kind() == jsonstream.String {
		return v.Text()
	}
	return ""
}

// MemberOf returns a member that is an object.
func MemberOf(object jsonstream.Value, name string) (jsonstream.Value, bool) {
	if !object.IsValid() || object.Kind() != jsonstream.Object {
		return jsonstream.Value{}, false
	}
	v, ok := object.Get(name)
	return v, ok && v.Kind() == jsonstream.Object
}
