package anthropic

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var _ wire.Restorer = Dialect{}

// A message in which the gate answered calls holds the thinking of several turns. The
// provider does not take it back so: it wants every turn as it was. The place between
// two turns is known by the signature with which the later one begins. One that begins
// without thinking, as models go on behind a result, is known by the signature that came
// last before it and by the text or the call with which it begins: the signature is the
// message's own, so that an equal text elsewhere is not meant.

// mark identifies the thinking that a turn begins with.
type mark struct{ text []byte }

// read takes what a block, or a delta of it, says.
func (m *mark) read(block, delta jsonstream.Value) {
	if isBlock(block, "thinking") || isBlock(delta, "signature_delta") {
		for _, v := range []jsonstream.Value{block, delta} {
			signature, _ := v.Get("signature")
			m.text = signature.AppendText(m.text)
		}
	}
	if isBlock(block, "redacted_thinking") {
		data, _ := block.Get("data")
		m.text = data.AppendText(m.text)
	}
}

// String is the mark as a ledger knows it, "" for none.
func (m *mark) String() string {
	if len(m.text) == 0 {
		return ""
	}
	sum := sha256.Sum256(m.text)
	return "thinking_" + hex.EncodeToString(sum[:16])
}

// behind is what the place is known by that comes n-th behind thinking of a mark, where no
// thinking follows it.
func behind(mark string, n int) string { return mark + "/" + strconv.Itoa(n) }

// place identifies the block that a turn begins with without thinking, the at-th of its
// message, "" for one that says too little.
func place(at int, block jsonstream.Value) string {
	for _, member := range [...]string{"text", "id"} {
		if v, _ := block.Get(member); v.Kind() == jsonstream.String {
			return placeOf(at, member, v.AppendText(nil))
		}
	}
	return ""
}

func placeOf(at int, member string, text []byte) string {
	if len(text) == 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return strconv.Itoa(at) + "_" + member + "_" + hex.EncodeToString(sum[:16])
}

// last is the mark of the last thinking among blocks, "" for none.
func last(blocks [][]byte) (text string) {
	for _, b := range blocks {
		if v, err := jsonstream.Parse(b, wire.EnvelopeOptions(len(b)+1)); err == nil {
			var m mark
			m.read(v, jsonstream.Value{})
			text = cmp.Or(m.String(), text)
		}
	}
	return text
}

// places are the seams of a message that is made of several turns.
type places struct {
	list  []wire.Replaced
	next  wire.Replaced // in front of what comes; without an item nothing ended yet
	after string        // the mark of the thinking that came last
	nth   int           // places behind it that thinking does not mark
}

// end ends a turn: what the model said in it has come, and its calls were answered.
func (p *places) end(said wire.Said) {
	r := seam(said)
	if before := p.next; len(before.Item) > 0 && len(r.Item) > 0 { // nothing was shown between the two
		before.Output = bytes.Join([][]byte{before.Output, []byte(`]},{"role":"assistant","content":[`), r.Item, []byte(`]},{"role":"user","content":[`), r.Output}, nil)
		r = before
	}
	p.next = r
	content, _ := saidContent(said)
	if mark := last(content); mark != "" {
		p.after, p.nth = mark, 0
	}
}

// begin begins the next turn with thinking of a mark, or without it at a place.
func (p *places) begin(mark, place string) {
	r := p.next
	switch {
	case len(r.Item) == 0 || mark == "" && place == "":
		return
	case mark != "":
		r.Message = mark
	case p.after == "":
		p.next = wire.Replaced{}
		return
	default:
		p.nth++
		r.Message, r.Place = behind(p.after, p.nth), place
	}
	p.list, p.next = append(p.list[:len(p.list):len(p.list)], r), wire.Replaced{}
}

// seam is what stands between a round and the next one: the calls, and their results.
func seam(said wire.Said) (r wire.Replaced) {
	blocks, _ := saidContent(said)
	var calls [][]byte
	for _, b := range blocks {
		if v, err := jsonstream.Parse(b, wire.EnvelopeOptions(len(b)+1)); err == nil && kindOf(v).call() {
			calls = append(calls, b)
		}
	}
	if len(said.Answers) > 0 {
		r.Call = string(said.Answers[0].Call)
	}
	r.Item, r.Output = bytes.Join(calls, []byte{','}), bytes.Join(answers(said.Answers), []byte{','})
	return r
}

// Restore implements [wire.Restorer].
func (Dialect) Restore(request []byte, l wire.Ledger) []byte {
	if !bytes.Contains(request, []byte(`thinking"`)) {
		return request
	}
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return request
	}
	var edits wire.Edits
	messages, _ := doc.Root().Get("messages")
	for m := range messages.Elements() {
		role, _ := m.Get("role")
		if content, _ := m.Get("content"); role.IsText("assistant") {
			restore(&edits, content, role, l)
		}
	}
	if len(edits) == 0 {
		return request
	}
	return edits.AppendTo(nil, request, 0, len(request))
}

// restore takes a message apart where two turns of the model meet in it.
func restore(edits *wire.Edits, content, role jsonstream.Value, l wire.Ledger) {
	roleAt, _ := role.Span()
	contentAt, _ := content.Span()
	opened, closed := `{"role":"assistant","content":[`, `]}`
	if roleAt > contentAt { // the last of the parts keeps it
		opened, closed = `{"content":[`, `],"role":"assistant"}`
	}
	i := -1
	var after string       // the mark of the thinking before
	var nth int            // places behind it so far
	var next wire.Replaced // that is looked for
	for block := range content.Elements() {
		i++
		var m mark
		m.read(block, jsonstream.Value{})
		var was wire.Replaced
		switch text := m.String(); {
		case text != "":
			if i > 0 {
				was, _ = l.Message(text)
			}
			after, nth = text, 1
			next, _ = l.Message(behind(after, nth))
		case next.Place != "" && next.Place == place(i, block):
			was = next
			nth++
			next, _ = l.Message(behind(after, nth))
		}
		if len(was.Item) == 0 || len(was.Output) == 0 {
			continue
		}
		at, _ := block.Span()
		edits.Insert(at, bytes.Join([][]byte{was.Item, []byte(closed + `,{"role":"user","content":[`), was.Output, []byte(`]},` + opened)}, nil))
	}
}
