package anthropic

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var _ wire.Restorer = Dialect{}

// A message in which the gate answered calls holds the thinking of several turns. The
// provider does not take it back so: it wants every turn as it was. The place between
// two turns is known by the signature with which the later one begins.

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
	first := true
	for block := range content.Elements() {
		var m mark
		if m.read(block, jsonstream.Value{}); first || m.String() == "" {
			first = false
			continue
		}
		was, ok := l.Message(m.String())
		if !ok || len(was.Item) == 0 || len(was.Output) == 0 {
			continue
		}
		at, _ := block.Span()
		edits.Insert(at, bytes.Join([][]byte{was.Item, []byte(closed + `,{"role":"user","content":[`), was.Output, []byte(`]},` + opened)}, nil))
	}
}
