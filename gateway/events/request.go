package events

import (
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// Request is a request on its way upstream. It is read again, strictly, when all
// policies have seen it.
type Request struct {
	body []byte
}

// Body is the JSON text of the request as the policy before left it. It must not be
// changed in place.
func (r *Request) Body() []byte { return r.body }

// SetBody replaces the request. Model and tools may change; whether the response is
// streamed, and the model's name where upstreams are chosen by it, are the client's.
func (r *Request) SetBody(body []byte) { r.body = body }

// structural are the members whose strings are no text of anybody.
var structural = map[string]bool{
	"role": true, "type": true, "id": true, "model": true, "name": true, "tool_call_id": true, "tool_use_id": true, "call_id": true,
	"previous_response_id": true, "media_type": true, "format": true, "encrypted_content": true, "signature": true, "cache_control": true, "data": true, "file_data": true,
}

// parts are the members of a request that hold texts.
var parts = map[string]bool{"messages": true, "system": true, "input": true, "instructions": true}

// EditTexts calls edit with every text of the conversation: instructions, messages,
// arguments and results of calls. What it returns takes the text's place; everything
// else stays byte for byte.
func (r *Request) EditTexts(edit func(text string) string) error {
	root, err := jsonstream.Parse(r.body, wire.EnvelopeOptions(len(r.body)+1))
	if err != nil {
		return err
	}
	var edits wire.Edits
	for key, value := range root.Members() {
		if parts[key.Text()] {
			editTexts(&edits, value, edit)
		}
	}
	if len(edits) > 0 {
		r.body = edits.AppendTo(nil, r.body, 0, len(r.body))
	}
	return nil
}

func editTexts(edits *wire.Edits, v jsonstream.Value, edit func(string) string) {
	switch v.Kind() {
	case jsonstream.String:
		old := v.Text()
		if strings.HasPrefix(old, "data:") {
			return // an image or a file
		}
		if text := edit(old); text != old {
			edits.Replace(v, jsonstream.AppendQuote(nil, text))
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			editTexts(edits, e, edit)
		}
	case jsonstream.Object:
		for key, member := range v.Members() {
			if member.Kind() != jsonstream.String || !structural[key.Text()] {
				editTexts(edits, member, edit)
			}
		}
	}
}

// Response is a response that is not streamed.
type Response struct {
	body  []byte
	texts textsOf
}

// textsOf walks the texts of a body in the form of its provider.
type textsOf func(body []byte, to bodySink) ([]byte, error)

// Body is the JSON text of the response as the policy before left it. It must not be
// changed in place.
func (r *Response) Body() []byte { return r.body }

// SetBody replaces the response. Calls in it are judged like any other.
func (r *Response) SetBody(body []byte) { r.body = body }

// EditTexts calls edit with every text of the model, in order. What it returns takes the
// text's place.
func (r *Response) EditTexts(edit func(b *Content, text string) string) error {
	to := bodySink{
		text: func(b *Content, text string) (string, error) { return edit(b, text), nil },
		end:  func(int, string) (string, error) { return "", nil },
	}
	body, err := r.texts(r.body, to)
	if err == nil {
		r.body = body
	}
	return err
}
