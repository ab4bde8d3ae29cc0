package gemini

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// body implements [provider.Body]. Without alt=sse a stream is a list of responses in one JSON
// array, which is read as a whole.
type body struct {
	answer
	doc    jsonstream.Document
	chunks []chunk
	array  bool // the body is a list
	edited bool // members were removed from it
	failed bool
}

// A list is read as the only member of an object.
const (
	listMember = "\x00list"
	listOpen   = `{"\u0000list":`
	listClose  = `}`
)

var listShape = provider.Shape{listMember: withElements(chunkShape)}

func withElements(s provider.Shape) provider.Shape {
	all := provider.Shape{provider.EvaluatedElements: nil}
	for name, inner := range s {
		all[name] = inner
	}
	return all
}

// Decode implements [provider.Body].
func (b *body) Decode(text []byte) (provider.Need, error) {
	if err := b.decode(text); err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return provider.Continue, err
	}
	if b.pending == 0 && !b.edited {
		return provider.Finished, nil
	}
	return provider.Resolve, nil
}

func (b *body) decode(text []byte) *provider.StreamError {
	limit, shape := b.o.MaxBytes, chunkShape
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		b.array, shape, limit = true, listShape, limit+len(listOpen+listClose)
		text = append(append([]byte(listOpen), text...), listClose...)
	}
	if err := scan(&b.doc, text, limit); err != nil {
		return provider.Malformed(err)
	}
	var edits provider.Edits
	if b.edited = !b.o.AnyKind && b.notes.RemoveStrayCalls(&edits, b.doc.Root(), shape); b.edited {
		if err := scan(&b.doc, edits.AppendTo(nil, text, 0, len(text)), limit); err != nil {
			return provider.Malformed(err)
		}
	}
	roots := []jsonstream.Value{b.doc.Root()}
	if b.array {
		roots = roots[:0]
		list, _ := b.doc.Root().Get(listMember)
		for v := range list.Elements() {
			roots = append(roots, v)
		}
	}
	b.chunks = make([]chunk, len(roots))
	for i, root := range roots {
		c := &b.chunks[i]
		if !c.read(root) || b.o.AnyKind && provider.HasStrayCall(root) {
			return provider.Malformed(nil)
		}
		b.failed = b.failed || c.fault.IsValid()
		if err := b.take(c); err != nil {
			return err
		}
	}
	if !b.o.AnyKind && !b.failed && len(b.choices) == 0 && !b.isResponse() {
		return provider.WrongKind()
	}
	if b.failed {
		b.refuseOpen(stopgate.CodeUpstreamError)
	}
	b.finishAll()
	return nil
}

// isResponse reports whether a body without candidates is a response: the prompt was blocked, or
// the model's answer is empty.
func (b *body) isResponse() bool {
	for _, c := range b.chunks {
		if _, feedback := c.root.Get("promptFeedback"); !feedback && !c.usage.IsValid() {
			return false
		}
	}
	return len(b.chunks) > 0
}

// Release implements [provider.Body].
func (b *body) Release(dst []byte, outcomes []provider.CallOutcome) ([]byte, error) {
	o := b.settle(outcomes)
	var edits provider.Edits
	if len(b.list) > 0 {
		for i := range b.chunks {
			for n := range b.chunks[i].candidates {
				b.chunks[i].candidates[n].edit(&edits, o, "")
			}
		}
	}
	text := b.doc.Text()
	if !b.array {
		return edits.AppendBody(dst, text), nil
	}
	return edits.AppendTo(dst, text, len(listOpen), len(text)-len(listClose)), nil
}
