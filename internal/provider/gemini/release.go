package gemini

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// settled are the outcomes of the calls of a response.
type settled struct {
	args   [][]byte           // of the calls that run, by number
	denial map[*choice]string // text for the denied calls of a candidate, until it is written
	signed map[*choice][]byte // signature of a denied call, for the first call that runs
	wrote  map[*call]bool     // the call was written; its later pieces are removed
}

// settle maps the outcomes to the calls. Every call that is not explicitly allowed is denied, and so
// is every call of a candidate without a normal end (L6).
func (a *answer) settle(outcomes []provider.CallOutcome) *settled {
	s := &settled{denial: map[*choice]string{}, signed: map[*choice][]byte{}, wrote: map[*call]bool{}}
	ended := make([]bool, len(a.list))
	for _, c := range a.choices {
		for _, k := range c.calls {
			ended[k.number] = c.end == stopgate.Ended && !k.refused
		}
	}
	var texts []string
	s.args, texts = provider.Settle(len(a.list), outcomes, func(i int) bool { return ended[i] })
	for _, c := range a.choices {
		var lines []string
		for i, k := range c.calls {
			if s.args[k.number] == nil {
				lines = append(lines, texts[k.number])
				if i == 0 {
					s.signed[c] = k.signature
				}
			}
		}
		s.denial[c] = provider.JoinDenials(lines)
	}
	a.pending = 0
	return s
}

// Release implements [provider.Stream].
func (s *stream) Release(dst []byte, outcomes []provider.CallOutcome, flush provider.Flush) ([]byte, error) {
	if !s.waiting && !s.cancelled {
		return dst, nil
	}
	o := s.settle(outcomes)
	queue := s.queue
	s.queue, s.buffered, s.waiting, s.ended = nil, 0, false, true
	var err error
	for i := range queue {
		q := &queue[i]
		// The events were parsed before, so this cannot fail; if it did, they would have no
		// candidates and be written without edits. They are refused instead.
		if scan(&s.doc, q.ev.Data, s.o.MaxBytes) != nil || !s.chunk.read(s.doc.Root()) || len(s.chunk.candidates) != len(q.calls) {
			continue
		}
		s.edits = s.edits[:0]
		for n := range s.chunk.candidates {
			e := &s.chunk.candidates[n]
			index, _ := e.index()
			e.choice, e.calls = s.choice(index), q.calls[n]
			own := s.ownTexts[index]
			delete(s.ownTexts, index)
			e.edit(&s.edits, o, own)
		}
		if dst, err = s.writeEdited(dst, &q.ev, flush); err != nil {
			return dst, err
		}
	}
	if s.cancelled {
		s.cancelled = false
		dst = s.cancelTail(dst)
	}
	return dst, nil
}

// writeEdited appends an edited event, and flushes long arguments.
func (s *stream) writeEdited(dst []byte, ev *sse.Event, flush provider.Flush) ([]byte, error) {
	return flush.IfFull(s.appendEdited(dst, ev))
}

// AddText implements [provider.TextAdder].
func (s *stream) AddText(choice int, text string) {
	if s.ownTexts == nil {
		s.ownTexts = map[int]string{}
	}
	s.ownTexts[choice] += text
}

var _ provider.TextAdder = (*stream)(nil)

// edit adds the edits of a candidate: allowed calls get the evaluated arguments; a text takes the
// place of the first call if it or another one is denied; denied calls are removed. ownText is a
// text of the gate before the first call.
func (e *candidate) edit(edits *provider.Edits, o *settled, ownText string) {
	kept, n := 0, -1
	for part := range e.parts.Elements() {
		n++
		k := e.calls[n]
		if k == nil {
			kept++
			e.noteText()
			continue
		}
		first := !o.wrote[k]
		o.wrote[k] = true
		text := ""
		if first && k == e.choice.calls[0] {
			text = o.takeText(e.choice, ownText)
		}
		switch {
		case first && o.args[k.number] != nil:
			if text != "" {
				start, _ := part.Span()
				edits.Insert(start, append(wire.Text(text), ','))
			}
			k.edit(edits, part, o)
		case text != "":
			edits.Replace(part, wire.Text(text))
		default:
			continue // removed below
		}
		e.calls[n] = nil
		kept++
	}
	if len(e.calls) == 0 {
		return
	}
	// The probabilities of a call's tokens reveal its bytes (L3).
	edits.Remove(e.v, func(name, _ jsonstream.Value) bool {
		return string(provider.Key(name)) == "logprobsResult" && len(e.choice.calls) > 0
	})
	if kept == 0 {
		edits.Replace(e.parts, []byte(`[{"text":""}]`))
		return
	}
	n = -1
	edits.Remove(e.parts, func(_, _ jsonstream.Value) bool { n++; return e.calls[n] != nil })
}

// takeText returns the text that precedes the calls of a candidate, once.
func (s *settled) takeText(c *choice, ownText string) string {
	text := ownText + s.denial[c]
	if s.denial[c] != "" && c.textSent {
		text = "\n\n" + text
	}
	s.denial[c] = ""
	return text
}

// edit adds the edits of an allowed call: the evaluated arguments in place of the upstream's. The
// provider signs only the first call of a turn and refuses a history without a signature, so the
// signature of a denied first call moves to the first one that runs.
func (k *call) edit(edits *provider.Edits, part jsonstream.Value, o *settled) {
	v, _ := part.Get("functionCall")
	args := o.args[k.number]
	_, end := v.Span()
	if old, ok := v.Get("args"); ok {
		edits.Replace(old, args)
	} else {
		edits.Insert(end-1, append([]byte(`,"args":`), args...))
	}
	edits.Remove(v, func(name, _ jsonstream.Value) bool {
		key := string(provider.Key(name))
		return key == "partialArgs" || key == "willContinue"
	})
	if signature := o.signed[k.choice]; len(signature) > 0 {
		o.signed[k.choice] = nil
		if _, ok := part.Get("thoughtSignature"); !ok {
			_, end := part.Span()
			edits.Insert(end-1, append([]byte(`,"thoughtSignature":`), signature...))
		}
	}
}

// cancelTail appends the end of a response whose upstream was cancelled.
func (s *stream) cancelTail(dst []byte) []byte {
	dst = sse.AppendEventStart(dst, "")
	dst = append(dst, `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":`...)
	dst = append(append(s.appendUsage(dst), s.head...), '}')
	return sse.AppendEventEnd(dst)
}
