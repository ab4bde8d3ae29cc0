package jsonstream

import "slices"

// Aggregator is a [Handler] that writes the value again while its events arrive: members in
// the same order, numbers as they are written, strings by [AppendQuote], and no white space
// outside of strings (L4). The result and its values are the only source of the arguments
// that run (F043-08): the received text is never passed on. The zero Aggregator is ready
// for use.
//
// The value is complete at the End event, but it counts only when the parser's Close has
// returned nil, because data may follow it.
type Aggregator struct {
	doc Document
	// last is the node that the latest event completed, plus 1.
	last uint32
}

var _ EncodedTextHandler = (*Aggregator)(nil)

// Reset empties the aggregator for the next text and retains its buffers. It invalidates
// the values and the bytes that it returned.
func (a *Aggregator) Reset() {
	text := reuse(a.doc.text, maxKeptBytes)
	a.doc.Reset()
	a.doc.text, a.last = text, 0
}

// Document returns the value. Its root is invalid until the End event.
func (a *Aggregator) Document() *Document { return &a.doc }

// Bytes returns the complete value as it was written; nil until the End event.
func (a *Aggregator) Bytes() []byte { return a.doc.Text() }

// Last returns the value that the latest event completed, at any depth, and the
// zero Value if it completed none. It can be used while the rest of the text is
// still arriving, until Reset.
func (a *Aggregator) Last() Value {
	if a.last == 0 {
		return Value{}
	}
	return Value{doc: &a.doc, at: a.last - 1}
}

// Event processes one event of a [Parser]. It never stops the parser.
func (a *Aggregator) Event(e *Event) (stop bool) {
	d := &a.doc
	a.last = 0
	switch e.Kind {
	case ObjectStart:
		a.enter(Object, '{')
	case ArrayStart:
		a.enter(Array, '[')
	case ObjectEnd:
		a.leave('}')
	case ArrayEnd:
		a.leave(']')
	case Key:
		a.separate()
		start := len(d.text)
		d.text = AppendQuote(d.text, e.Text)
		info := uint32(String)
		if len(d.text)-start > len(e.Text)+2 {
			info |= infoEscaped
		}
		d.push(node{start: uint32(start), end: uint32(len(d.text)), next: uint32(len(d.nodes)) + 1, info: info})
		d.text = append(d.text, ':')
	case StringStart:
		a.begin(String)
		d.text = append(d.text, '"')
	case StringPart:
		if e.Escaped && (e.Encoded || needsEscape(e.Text[0])) {
			d.nodes[len(d.nodes)-1].info |= infoEscaped
		}
		if e.Escaped && !e.Encoded && needsEscape(e.Text[0]) {
			d.text = appendEscape(d.text, e.Text[0])
			break
		}
		if cap(d.text)-len(d.text) < len(e.Text) {
			// A long text doubles its buffer: append alone would copy it more often.
			d.text = slices.Grow(d.text, max(len(e.Text), len(d.text)))
		}
		d.text = append(d.text, e.Text...)
	case StringEnd:
		d.text = append(d.text, '"')
		a.end(len(d.nodes) - 1)
	case Number:
		scalar(a, Number, e.Text)
	case True:
		scalar(a, True, "true")
	case False:
		scalar(a, False, "false")
	case Null:
		scalar(a, Null, "null")
	case End:
		d.complete, d.canonicalQuotes = true, true
	}
	return false
}

// WantsEncoded implements [EncodedTextHandler]: the aggregator only writes string text
// again.
func (a *Aggregator) WantsEncoded() bool { return true }

// separate writes the comma before a member or element that is not the first.
func (a *Aggregator) separate() {
	d := &a.doc
	if n := len(d.open); n > 0 && d.nodes[d.open[n-1].node].info >= infoOne {
		d.text = append(d.text, ',')
	}
}

// begin adds the node of a value whose text follows.
func (a *Aggregator) begin(kind Kind) {
	d := &a.doc
	if n := len(d.open); n > 0 && d.open[n-1].info == uint32(Array) {
		a.separate()
	}
	d.push(node{start: uint32(len(d.text)), info: uint32(kind)})
}

// end completes the value of node i, whose text is written.
func (a *Aggregator) end(i int) {
	d := &a.doc
	d.nodes[i].end, d.nodes[i].next = uint32(len(d.text)), uint32(len(d.nodes))
	if n := len(d.open); n > 0 {
		d.nodes[d.open[n-1].node].info += infoOne
	}
	a.last = uint32(i) + 1
}

func (a *Aggregator) enter(kind Kind, bracket byte) {
	a.begin(kind)
	d := &a.doc
	d.open = append(d.open, openNode{node: uint32(len(d.nodes)) - 1, info: uint32(kind)})
	d.text = append(d.text, bracket)
}

func (a *Aggregator) leave(bracket byte) {
	d := &a.doc
	i := d.open[len(d.open)-1].node
	d.open = d.open[:len(d.open)-1]
	d.text = append(d.text, bracket)
	a.end(int(i))
}

func scalar[T []byte | string](a *Aggregator, kind Kind, literal T) {
	a.begin(kind)
	a.doc.text = append(a.doc.text, literal...)
	a.end(len(a.doc.nodes) - 1)
}
