package mcpgate

import (
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// object writes a JSON object of the gateway. encoding/json is never used for the messages
// of clients and servers.
type object []byte

func (o *object) name(name string) {
	if len(*o) == 0 {
		*o = append(*o, '{')
	} else {
		*o = append(*o, ',')
	}
	*o = append(jsonstream.AppendQuote(*o, name), ':')
}

// raw adds a member that is JSON text.
func (o *object) raw(name string, text []byte) *object {
	o.name(name)
	*o = append(*o, text...)
	return o
}

func (o *object) text(name, value string) *object {
	o.name(name)
	*o = jsonstream.AppendQuote(*o, value)
	return o
}

// optional adds a text member if it is not empty.
func (o *object) optional(name, value string) *object {
	if value != "" {
		o.text(name, value)
	}
	return o
}

func (o *object) bool(name string, value bool) *object {
	return o.raw(name, strconv.AppendBool(nil, value))
}

func (o *object) int(name string, value int64) *object {
	return o.raw(name, strconv.AppendInt(nil, value, 10))
}

// end closes and returns the object.
func (o *object) end() []byte {
	if len(*o) == 0 {
		*o = append(*o, '{')
	}
	*o = append(*o, '}')
	return *o
}

// envelopeText returns the text of a denial that the model reads (G2-15, S10).
func envelopeText(e stopgate.Envelope) []byte {
	var o object
	return o.text("status", e.Status).text("code", string(e.Code)).text("publicReason", e.PublicReason).raw("data", []byte("null")).end()
}

// implementation returns the gateway's name and version.
func (g *Gateway) implementation() []byte {
	var o object
	return o.text("name", "stopgate").text("version", g.version).end()
}
