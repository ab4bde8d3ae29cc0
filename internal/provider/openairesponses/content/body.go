package content

import (
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// editTexts visits the texts of a response.
func editTexts(body []byte, to provider.TextVisitor) ([]byte, error) {
	root, err := jsonstream.Parse(body, provider.EnvelopeOptions(len(body)+1))
	if err != nil {
		return body, nil // the codec rejects it
	}
	var edits provider.Edits
	output, _ := root.Get("output")
	var last, lastPart jsonstream.Value
	var was, sent, all string
	put := func() {
		if last.IsValid() && sent != was {
			edits.Replace(last, jsonstream.AppendQuote(nil, sent))
			dropTokens(&edits, lastPart)
		}
		all += sent
	}
	n := 0
	for item := range output.Elements() {
		if _, called := item.Get("call_id"); called {
			to.Pass(0, item, "call_id")
		}
		content, _ := item.Get("content")
		index := 0
		for part := range content.Elements() {
			kind, _ := part.Get("type")
			text, _ := part.Get("text")
			if kind.IsText("output_text") && text.Kind() == jsonstream.String {
				put()
				last, lastPart, was = text, part, text.Text()
				if sent, err = to.Text(0, n<<8|index&0xff, was); err != nil {
					return nil, err
				}
			}
			index++
		}
		n++
	}
	status, _ := root.Get("status")
	reason := status.Text()
	if details, ok := root.Get("incomplete_details"); ok {
		if why, ok := details.Get("reason"); ok && provider.Present(why) {
			reason = why.Text()
		}
	}
	more, err := to.End(0, reason)
	if err != nil {
		return nil, err
	}
	sent += more
	if put(); !last.IsValid() && more != "" && output.Kind() == jsonstream.Array {
		id, _ := root.Get("id")
		edits.AppendElements(output, (&addition{id: "msg_stopgate_end_" + id.Text(), text: more}).item("completed"))
	}
	if v, ok := root.Get("output_text"); ok && v.Kind() == jsonstream.String && !v.IsText(all) {
		edits.Replace(v, jsonstream.AppendQuote(nil, all))
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}
