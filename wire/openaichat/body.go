package openaichat

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// body implements [wire.Body] (WIRE 2.9).
type body struct {
	assembly
	doc   jsonstream.Document
	chunk chunk
}

// Decode implements [wire.Body].
func (b *body) Decode(text []byte) (wire.Need, error) {
	err := b.decode(text)
	if err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return wire.Nothing, err
	}
	if b.pending == 0 && !b.chunk.strange {
		return wire.Finished, nil
	}
	return wire.Resolve, nil
}

func (b *body) decode(text []byte) *wire.StreamError {
	if err := b.doc.Scan(text, wire.EnvelopeOptions(b.o.MaxBytes)); err != nil {
		return wire.Malformed(err)
	}
	if !b.chunk.read(b.doc.Root(), messageMember) {
		return wire.Malformed(nil)
	}
	for i := range b.chunk.elements {
		e := &b.chunk.elements[i]
		index, ok := e.index(i)
		if !ok {
			return wire.Malformed(nil)
		}
		// Two elements are two choices, whatever their indexes say.
		e.choice = &choice{index: index}
		b.choices = append(b.choices, e.choice)
		if !b.collect(e) {
			return wire.Malformed(nil)
		}
		if b.chunk.fault.IsValid() {
			b.refuseOpen(stopgate.CodeUpstreamError)
		}
		b.finish(e.choice, ending(e.reason))
	}
	return nil
}

// collect gives the calls of one message to the assembly. Each element of
// tool_calls is a call of its own; its position is its key.
func (b *body) collect(e *element) bool {
	position := 0
	for v := range e.calls.Elements() {
		if v.Kind() != jsonstream.Object {
			return false
		}
		var t entry
		t.read(v)
		k := b.newCall(e.choice, position)
		e.choice.order = append(e.choice.order, k)
		b.apply(e.choice, k, &t)
		position++
	}
	if e.legacy.IsValid() {
		b.addLegacy(e.choice, e.legacy)
	}
	b.mix(e.choice)
	return true
}

// Release implements [wire.Body].
func (b *body) Release(dst []byte, outcomes []wire.Release) []byte {
	p := wire.Splice(dst, b.doc.Text())
	at, _ := b.chunk.root.Span()
	members := p.Cut(at)
	for k, v := range b.chunk.root.Members() {
		from, _ := k.Span()
		valueAt, to := v.Span()
		key := wire.Key(k)
		if wire.Lookalike(key, rootNames...) {
			members.Drop(to)
			continue
		}
		members.Keep(from, to)
		if string(key) != "choices" || len(b.chunk.elements) == 0 {
			continue
		}
		items := p.Cut(valueAt)
		for i := range b.chunk.elements {
			e := &b.chunk.elements[i]
			from, to := e.v.Span()
			items.Keep(from, to)
			b.spliceChoice(&p, e, outcomes)
		}
		items.Close()
	}
	members.Close()
	b.pending = 0
	return p.Finish()
}

// spliceChoice settles the calls of a choice and changes it accordingly.
func (b *body) spliceChoice(p *wire.Splicer, e *element, outcomes []wire.Release) {
	var lines []string
	c := e.choice
	for _, k := range c.calls {
		if line, denied := b.settle(c, k, outcomes); denied {
			lines = append(lines, line)
		} else {
			c.survivors++
		}
	}
	denial := strings.Join(lines, "\n")
	e.splice(p, finishing, messageMember, func() { e.spliceMessage(p, denial) })
}

// spliceMessage changes a message: surviving calls get the text that was judged,
// the others go, and the denial joins the content.
func (e *element) spliceMessage(p *wire.Splicer, denial string) {
	at, end := e.delta.Span()
	members := p.Cut(at)
	said := denial == ""
	for k, v := range e.delta.Members() {
		from, _ := k.Span()
		valueAt, to := v.Span()
		key := wire.Key(k)
		switch string(key) {
		case "content":
			members.Keep(from, to)
			if !said {
				appendContent(p, v, denial)
				said = true
			}
		case "tool_calls":
			if e.calls.IsValid() && !survives(e.choice.order) {
				members.Drop(to)
				continue
			}
			members.Keep(from, to)
			if e.calls.IsValid() {
				e.spliceCalls(p, valueAt)
			}
		case "function_call":
			old := e.choice.current(theOld)
			if old != nil && old.released == nil {
				members.Drop(to)
				continue
			}
			members.Keep(from, to)
			if old != nil {
				old.spliceCarrier(p, v)
			}
		default:
			if wire.Lookalike(key, deltaNames...) {
				members.Drop(to)
				continue
			}
			members.Keep(from, to)
		}
	}
	members.Close()
	if !said {
		insert(p, end, members.Kept() > 0, `"content":`, denial)
	}
}

func survives(calls []*call) bool {
	for _, k := range calls {
		if k.released != nil {
			return true
		}
	}
	return false
}

// spliceCalls keeps the surviving elements of tool_calls.
func (e *element) spliceCalls(p *wire.Splicer, at int) {
	items := p.Cut(at)
	i := 0
	for v := range e.calls.Elements() {
		k := e.choice.order[i]
		i++
		from, to := v.Span()
		if k.released == nil {
			items.Drop(to)
			continue
		}
		items.Keep(from, to)
		k.splice(p, v)
	}
	items.Close()
}

// splice changes one surviving element of tool_calls.
func (k *call) splice(p *wire.Splicer, v jsonstream.Value) {
	at, end := v.Span()
	members := p.Cut(at)
	named := false
	for name, m := range v.Members() {
		from, _ := name.Span()
		valueAt, to := m.Span()
		key := wire.Key(name)
		if wire.Lookalike(key, entryNames...) {
			members.Drop(to)
			continue
		}
		members.Keep(from, to)
		switch string(key) {
		case "id":
			named = true
			if !says(m) {
				p.Resume(jsonstream.AppendQuote(p.Insert(valueAt), k.id), to)
			}
		case k.member():
			k.spliceCarrier(p, m)
		}
	}
	members.Close()
	if !named {
		insert(p, end, members.Kept() > 0, `"id":`, k.id)
	}
}

// spliceCarrier puts the text that was judged in the place of the upstream's.
func (k *call) spliceCarrier(p *wire.Splicer, v jsonstream.Value) {
	at, end := v.Span()
	members := p.Cut(at)
	written := false
	for name, m := range v.Members() {
		from, _ := name.Span()
		valueAt, to := m.Span()
		key := wire.Key(name)
		if wire.Lookalike(key, entryNames...) {
			members.Drop(to)
			continue
		}
		members.Keep(from, to)
		if string(key) == k.textMember() {
			p.Resume(jsonstream.AppendQuote(p.Insert(valueAt), k.released), to)
			written = true
		}
	}
	members.Close()
	if !written {
		insert(p, end, members.Kept() > 0, `"`+k.textMember()+`":`, k.released)
	}
}

// appendContent adds the denial behind what the message says.
func appendContent(p *wire.Splicer, content jsonstream.Value, denial string) {
	from, to := content.Span()
	switch {
	case content.Kind() == jsonstream.Array:
		insert(p, to, content.Len() > 0, `{"type":"text","text":`, denial)
		p.Replace(to-1, to-1, "}")
	case says(content):
		quoted := jsonstream.AppendQuote(nil, "\n\n"+denial)
		p.Replace(to-1, to-1, string(quoted[1:len(quoted)-1]))
	default:
		p.Resume(jsonstream.AppendQuote(p.Insert(from), denial), to)
	}
}

// insert puts a string with something before it in front of the bracket that
// stands at the end of an object or array.
func insert[T ~[]byte | ~string](p *wire.Splicer, end int, comma bool, before string, text T) {
	dst := p.Insert(end - 1)
	if comma {
		dst = append(dst, ',')
	}
	p.Resume(jsonstream.AppendQuote(append(dst, before...), text), end-1)
}
