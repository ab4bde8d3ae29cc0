package anthropic

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// body implements [wire.Body] (WIRE 4.10).
type body struct {
	calls
	doc     jsonstream.Document
	content jsonstream.Value
	reason  jsonstream.Value
	order   []*call // by position in content, nil for other blocks
}

// Decode implements [wire.Body].
func (b *body) Decode(text []byte) (wire.Need, error) {
	if err := b.decode(text); err != nil {
		b.refuseOpen(err.Code)
		b.pending = 0
		return wire.Nothing, err
	}
	if b.pending == 0 {
		return wire.Finished, nil
	}
	return wire.Resolve, nil
}

// messageNames are the members of a message that a client reads.
var messageNames = []string{"type", "role", "content", "stop_reason"}

func (b *body) decode(text []byte) *wire.StreamError {
	if err := b.doc.Scan(text, wire.EnvelopeOptions(b.o.MaxBytes)); err != nil {
		return wire.Malformed(err)
	}
	root := b.doc.Root()
	if !plain(root, messageNames) {
		return wire.Malformed(nil)
	}
	b.content, _ = root.Get("content")
	b.reason, _ = root.Get("stop_reason")
	if !wire.Present(b.content) {
		b.content = jsonstream.Value{}
		return nil
	}
	if b.content.Kind() != jsonstream.Array {
		return wire.Malformed(nil)
	}
	for v := range b.content.Elements() {
		if v.Kind() != jsonstream.Object || !plain(v, blockNames) {
			return wire.Malformed(nil)
		}
		isTool, known := isCall(v)
		if !isTool {
			b.order = append(b.order, nil)
			typ, _ := v.Get("type")
			if name := typ.Text(); atProvider(name) {
				b.notes.NotEvaluated = append(b.notes.NotEvaluated, name)
			}
			continue
		}
		k := b.start(v, known)
		b.order = append(b.order, k)
		b.close(k)
	}
	if len(b.list) > 0 {
		b.finish(ending(b.reason))
	}
	return nil
}

// Release implements [wire.Body].
func (b *body) Release(dst []byte, outcomes []wire.Release) []byte {
	var edits wire.Edits
	var lines []string
	args := make([][]byte, len(b.order))
	survivors, first, stuck := 0, -1, false
	for i, k := range b.order {
		if k == nil {
			continue
		}
		if first < 0 {
			first = i
		}
		var line string
		if args[i], line = b.settle(k, outcomes); args[i] != nil {
			survivors++
			continue
		}
		lines = append(lines, line)
		stuck = stuck || k.programmed
	}
	b.pending = 0
	if stuck {
		return appendError(dst, "api_error", stopgate.CodeProtocolViolation, "A call made by code at the provider was not run.")
	}
	denial := ""
	if len(lines) > 0 {
		text := jsonstream.AppendQuote(nil, strings.Join(lines, "\n"))
		denial = `{"type":"text","text":` + string(text) + `}`
	}
	b.editContent(&edits, args, first, denial)
	if survivors == 0 && b.reason.IsText("tool_use") {
		edits.Replace(b.reason, []byte(`"end_turn"`))
	}
	text := b.doc.Text()
	return edits.AppendTo(dst, text, 0, len(text))
}

// editContent puts judged arguments in the place of the upstream's, the denial in
// the place of the first call, and takes denied calls out.
func (b *body) editContent(edits *wire.Edits, args [][]byte, first int, denial string) {
	i := -1
	for v := range b.content.Elements() {
		i++
		k := b.order[i]
		if i == first && denial != "" && args[i] != nil {
			start, _ := v.Span()
			edits.Insert(start, []byte(denial+","))
		}
		switch {
		case k == nil:
		case args[i] != nil:
			if input, ok := v.Get("input"); ok {
				edits.Replace(input, args[i])
			} else {
				_, end := v.Span()
				edits.Insert(end-1, append([]byte(`,"input":`), args[i]...))
			}
		case i == first:
			edits.Replace(v, []byte(denial))
		}
	}
	i = -1
	edits.Remove(b.content, func(_, _ jsonstream.Value) bool {
		i++
		return b.order[i] != nil && args[i] == nil && i != first
	})
}
