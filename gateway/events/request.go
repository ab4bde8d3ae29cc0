package events

import (
	"errors"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/registry"
	"github.com/stopgate/stopgate/jsonstream"
)

// Request is a request that is sent upstream. After all policies it is parsed strictly again.
type Request struct {
	body  []byte
	texts *provider.Texts
}

// NewRequest returns a request of a dialect ([Exchange.Dialect]). Gateways and tests of policies use it.
func NewRequest(dialect string, body []byte) *Request {
	return &Request{body: body, texts: registry.Texts(dialect)}
}

// Body returns the JSON text of the request after the previous policy. Do not modify it in place.
func (r *Request) Body() []byte { return r.body }

// SetBody replaces the request. It may change model and tools, but neither whether the response is
// streamed nor the model's name where upstreams are chosen by it.
func (r *Request) SetBody(body []byte) { r.body = body }

// structural are the members whose strings are not text of the conversation.
var structural = map[string]bool{
	"role": true, "type": true, "id": true, "model": true, "name": true, "tool_call_id": true, "tool_use_id": true, "call_id": true,
	"previous_response_id": true, "media_type": true, "format": true, "encrypted_content": true, "signature": true, "cache_control": true, "data": true, "file_data": true,
}

// parts are the members of a request that contain texts.
var parts = map[string]bool{"messages": true, "system": true, "input": true, "instructions": true}

// EditTexts calls edit with every text of the conversation: instructions, messages, arguments and
// results of calls. The result replaces the text; all other bytes stay unchanged.
func (r *Request) EditTexts(edit func(text string) string) error {
	root, err := jsonstream.Parse(r.body, provider.EnvelopeOptions(len(r.body)+1))
	if err != nil {
		return err
	}
	var edits provider.Edits
	for key, value := range root.Members() {
		if name := key.Text(); parts[name] || r.texts != nil && slices.Contains(r.texts.Conversation, name) {
			r.editTexts(&edits, value, edit)
		}
	}
	if len(edits) > 0 {
		r.body = edits.AppendTo(nil, r.body, 0, len(r.body))
	}
	return nil
}

func (r *Request) editTexts(edits *provider.Edits, v jsonstream.Value, edit func(string) string) {
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
			r.editTexts(edits, e, edit)
		}
	case jsonstream.Object:
		for key, member := range v.Members() {
			if member.Kind() != jsonstream.String || !r.structural(key.Text()) {
				r.editTexts(edits, member, edit)
			}
		}
	}
}

// structural reports whether the strings of a member are not text of the conversation.
func (r *Request) structural(name string) bool {
	return structural[name] || r.texts != nil && slices.Contains(r.texts.Labels, name)
}

// Response is a response that is not streamed.
type Response struct {
	body  []byte
	texts *provider.Texts
}

// NewResponse returns a response of a dialect ([Exchange.Dialect]).
func NewResponse(dialect string, body []byte) *Response {
	return &Response{body: body, texts: registry.Texts(dialect)}
}

// Body returns the JSON text of the response after the previous policy. Do not modify it in place.
func (r *Response) Body() []byte { return r.body }

// SetBody replaces the response. Its calls are judged like any other.
func (r *Response) SetBody(body []byte) { r.body = body }

// EditTexts calls edit with every text of the model, in order. The result replaces the text.
func (r *Response) EditTexts(edit func(b *Content, text string) string) error {
	to := provider.TextVisitor{
		Text: func(choice, index int, text string) (string, error) {
			return edit(&Content{Choice: choice, Index: index}, text), nil
		},
		End: func(int, string) (string, error) { return "", nil },
	}
	if r.texts == nil {
		return errors.New("events: edit the texts of a response: unknown dialect")
	}
	body, err := r.texts.Body(r.body, to)
	if err == nil {
		r.body = body
	}
	return err
}
