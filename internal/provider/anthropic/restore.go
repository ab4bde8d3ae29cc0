package anthropic

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

var _ provider.Restorer = Dialect{}

// If the gate answered calls within a message, the message contains the thinking of several
// turns. The provider does not accept it: in the history it expects every turn as it was. A
// seam between two turns is identified by the signature of the thinking with which the
// later turn starts. A turn that starts without thinking, as models continue after a
// result, is identified by the last signature before it and by the text or call with which
// it starts. The signature belongs to the message, so an equal text elsewhere does not
// match.

// mark identifies the thinking with which a turn starts.
type mark struct{ text []byte }

// read adds the signature of a block or of a delta of it.
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

// String returns the key of the mark in a response log, "" if there is no signature.
func (m *mark) String() string {
	if len(m.text) == 0 {
		return ""
	}
	sum := sha256.Sum256(m.text)
	return "thinking_" + hex.EncodeToString(sum[:16])
}

// seamKey returns the key of the n-th seam after thinking with this mark, where no thinking
// follows the seam.
func seamKey(mark string, n int) string { return mark + "/" + strconv.Itoa(n) }

// blockKey identifies the block, at this index of its message, with which a turn starts
// without thinking; "" if the block has no text and no id.
func blockKey(at int, block jsonstream.Value) string {
	for _, member := range [...]string{"text", "id"} {
		if v, _ := block.Get(member); v.Kind() == jsonstream.String {
			return textKey(at, member, v.AppendText(nil))
		}
	}
	return ""
}

func textKey(at int, member string, text []byte) string {
	if len(text) == 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return strconv.Itoa(at) + "_" + member + "_" + hex.EncodeToString(sum[:16])
}

// lastMark returns the mark of the last thinking among blocks, "" if there is none.
func lastMark(blocks [][]byte) (text string) {
	for _, b := range blocks {
		if v, err := jsonstream.Parse(b, provider.EnvelopeOptions(len(b)+1)); err == nil {
			var m mark
			m.read(v, jsonstream.Value{})
			text = cmp.Or(m.String(), text)
		}
	}
	return text
}

// seams are the seams of a message that consists of several turns.
type seams struct {
	list     []provider.ReplacedCall
	next     provider.ReplacedCall // the seam before the next block; without an item, no turn has ended yet
	lastMark string                // mark of the last thinking
	unmarked int                   // number of seams after it that no thinking follows
}

// endTurn ends a turn whose calls were answered.
func (p *seams) endTurn(round provider.Round) {
	r := seam(round)
	if before := p.next; len(before.Item) > 0 && len(r.Item) > 0 { // the client received no block between the two turns
		before.Output = bytes.Join([][]byte{before.Output, []byte(`]},{"role":"assistant","content":[`), r.Item, []byte(`]},{"role":"user","content":[`), r.Output}, nil)
		r = before
	}
	p.next = r
	content, _ := roundContent(round)
	if mark := lastMark(content); mark != "" {
		p.lastMark, p.unmarked = mark, 0
	}
}

// startTurn starts the next turn, with thinking of this mark, or without thinking at a
// block with this key.
func (p *seams) startTurn(mark, place string) {
	r := p.next
	switch {
	case len(r.Item) == 0 || mark == "" && place == "":
		return
	case mark != "":
		r.Message = mark
	case p.lastMark == "":
		p.next = provider.ReplacedCall{}
		return
	default:
		p.unmarked++
		r.Message, r.Position = seamKey(p.lastMark, p.unmarked), place
	}
	p.list, p.next = append(p.list[:len(p.list):len(p.list)], r), provider.ReplacedCall{}
}

// seam returns the calls and results between a round and the next one.
func seam(round provider.Round) (r provider.ReplacedCall) {
	blocks, _ := roundContent(round)
	var calls [][]byte
	for _, b := range blocks {
		if v, err := jsonstream.Parse(b, provider.EnvelopeOptions(len(b)+1)); err == nil && kindOf(v).call() {
			calls = append(calls, b)
		}
	}
	if len(round.Results) > 0 {
		r.Call = string(round.Results[0].Call)
	}
	r.Item, r.Output = bytes.Join(calls, []byte{','}), bytes.Join(resultBlocks(round.Results), []byte{','})
	return r
}

// Restore implements [provider.Restorer].
func (Dialect) Restore(request []byte, l provider.ResponseLog) []byte {
	if !bytes.Contains(request, []byte(`thinking"`)) {
		return request
	}
	var doc jsonstream.Document
	if provider.ReadRequest(&doc, request) != nil {
		return request
	}
	var edits provider.Edits
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

// restore splits a message at its seams.
func restore(edits *provider.Edits, content, role jsonstream.Value, l provider.ResponseLog) {
	roleAt, _ := role.Span()
	contentAt, _ := content.Span()
	opened, closed := `{"role":"assistant","content":[`, `]}`
	if roleAt > contentAt { // the last part keeps the member
		opened, closed = `{"content":[`, `],"role":"assistant"}`
	}
	i := -1
	var after string               // mark of the last thinking
	var nth int                    // seams after it so far
	var next provider.ReplacedCall // the expected seam
	for block := range content.Elements() {
		i++
		var m mark
		m.read(block, jsonstream.Value{})
		var was provider.ReplacedCall
		switch text := m.String(); {
		case text != "":
			if i > 0 {
				was, _ = l.Message(text)
			}
			after, nth = text, 1
			next, _ = l.Message(seamKey(after, nth))
		case next.Position != "" && next.Position == blockKey(i, block):
			was = next
			nth++
			next, _ = l.Message(seamKey(after, nth))
		}
		if len(was.Item) == 0 || len(was.Output) == 0 {
			continue
		}
		at, _ := block.Span()
		edits.Insert(at, bytes.Join([][]byte{was.Item, []byte(closed + `,{"role":"user","content":[`), was.Output, []byte(`]},` + opened)}, nil))
	}
}
