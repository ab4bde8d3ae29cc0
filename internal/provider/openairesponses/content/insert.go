package content

import (
	"bytes"
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// addition is an inserted item at the end of the output.
type addition struct {
	id, text string
}

func (a *addition) part() []byte {
	return append(jsonstream.AppendQuote([]byte(`{"type":"output_text","annotations":[],"text":`), a.text), '}')
}

func (a *addition) item(status string) []byte {
	b := jsonstream.AppendQuote([]byte(`{"id":`), a.id)
	b = append(b, `,"type":"message","status":"`+status+`","role":"assistant","content":[`...)
	if status == "completed" {
		b = append(b, a.part()...)
	}
	return append(b, "]}"...)
}

// CloseTexts implements [provider.TextCloser]. Sequence numbers are the codec's.
func (s *textStream) CloseTexts(dst []byte) []byte {
	open := map[int]*responseText{} // a text of each open item
	for _, t := range s.texts {
		if t.done || t.id == "" {
			continue
		}
		t.done = true
		open[t.item] = t
		where := `"item_id":` + string(jsonstream.AppendQuote(nil, t.id)) + `,"output_index":` + strconv.Itoa(t.item) + `,"content_index":` + strconv.Itoa(t.part)
		text := addition{text: t.sent.String()}
		dst = appendBare(dst, "response.output_text.done", where+`,"text":`+string(jsonstream.AppendQuote(nil, text.text))+`,"logprobs":[]`)
		dst = appendBare(dst, "response.content_part.done", where+`,"part":`+string(text.part()))
	}
	for _, t := range s.texts {
		if open[t.item] != t {
			continue
		}
		var content []byte
		for _, part := range s.texts {
			if part.item == t.item {
				content = append(append(content, (&addition{text: part.sent.String()}).part()...), ',')
			}
		}
		item := string(jsonstream.AppendQuote([]byte(`{"id":`), t.id)) + `,"type":"message","status":"completed","role":"assistant","content":[` + string(bytes.TrimSuffix(content, []byte(","))) + `]}`
		dst = appendBare(dst, "response.output_item.done", `"output_index":`+strconv.Itoa(t.item)+`,"item":`+item)
	}
	return dst
}

// appendBare appends an event without a sequence number.
func appendBare(dst []byte, typ, members string) []byte {
	return sse.AppendEvent(dst, typ, []byte(`{"type":"`+typ+`",`+members+"}"))
}

// insertItem writes a message item before the current event.
func (s *textStream) insertItem(root jsonstream.Value) {
	a, n := s.extra, strconv.Itoa(s.next)
	id := string(jsonstream.AppendQuote(nil, a.id))
	where := `"item_id":` + id + `,"output_index":` + n + `,"content_index":0`
	s.insert(root, "response.output_item.added", `"output_index":`+n+`,"item":`+string(a.item("in_progress")))
	s.insert(root, "response.content_part.added", where+`,"part":{"type":"output_text","annotations":[],"text":""}`)
	s.insertDelta(root, a.id, s.next, 0, a.text)
	s.insert(root, "response.output_text.done", where+`,"text":`+string(jsonstream.AppendQuote(nil, a.text))+`,"logprobs":[]`)
	s.insert(root, "response.content_part.done", where+`,"part":`+string(a.part()))
	s.insert(root, "response.output_item.done", `"output_index":`+n+`,"item":`+string(a.item("completed")))
	s.next++
}

func (s *textStream) insertDelta(root jsonstream.Value, id string, item, part int, text string) {
	s.insert(root, "response.output_text.delta", `"item_id":`+string(jsonstream.AppendQuote(nil, id))+`,"output_index":`+strconv.Itoa(item)+
		`,"content_index":`+strconv.Itoa(part)+`,"delta":`+string(jsonstream.AppendQuote(nil, text))+`,"logprobs":[]`)
}

// insert writes an event before the current event, with the sequence number that the current one
// would have had.
func (s *textStream) insert(root jsonstream.Value, typ, members string) {
	data := `{"type":"` + typ + `",` + members
	if seq, ok := root.Get("sequence_number"); ok {
		if n, ok := provider.SmallInt(seq); ok {
			data += `,"sequence_number":` + strconv.Itoa(n+s.added)
		}
	}
	s.added++
	s.Inserted = sse.AppendEvent(s.Inserted, typ, []byte(data+"}"))
}
