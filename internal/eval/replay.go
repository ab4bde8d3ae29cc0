package eval

import "github.com/stopgate/stopgate/jsonstream"

// judge evaluates a complete value by a plan without parsing: result rules apply to the arguments
// that ran (D25-42), whose bytes are not counted.
func (e *Evaluation) judge(p *plan, v jsonstream.Value) {
	e.reset(p)
	e.replayValue(v)
	e.settle()
}

// probe evaluates a complete value by the conditions at and below a shape: a schema's default, at
// compile time.
func (e *Evaluation) probe(s *shape, v jsonstream.Value) {
	e.resizeWalkers(1)
	e.walkers[0].reset(&view{root: s})
	e.replayValue(v)
}

// replayValue passes the events of a value to the walkers.
func (e *Evaluation) replayValue(v jsonstream.Value) {
	switch v.Kind() {
	case jsonstream.Object:
		e.replayEvent(jsonstream.ObjectStart, nil)
		for key, member := range v.Members() {
			e.replayEvent(jsonstream.Key, e.textOf(key))
			e.replayValue(member)
		}
		e.value = v
		e.replayEvent(jsonstream.ObjectEnd, nil)
	case jsonstream.Array:
		e.replayEvent(jsonstream.ArrayStart, nil)
		for element := range v.Elements() {
			e.replayValue(element)
		}
		e.value = v
		e.replayEvent(jsonstream.ArrayEnd, nil)
	case jsonstream.String:
		e.replayEvent(jsonstream.StringStart, nil)
		if e.undecided > 0 || len(e.watches) > 0 {
			e.event = jsonstream.Event{Kind: jsonstream.StringPart, Text: e.textOf(v), Escaped: true}
			e.textPart(&e.event)
		}
		e.value = v
		e.replayEvent(jsonstream.StringEnd, nil)
	case jsonstream.Number:
		e.replayEvent(jsonstream.Number, v.Raw())
	default:
		e.replayEvent(v.Kind(), nil)
	}
}

func (e *Evaluation) replayEvent(k jsonstream.Kind, text []byte) {
	e.event = jsonstream.Event{Kind: k, Text: text}
	e.see(&e.event)
}

// textOf returns the decoded text of a string, valid until the next call.
func (e *Evaluation) textOf(v jsonstream.Value) []byte {
	if text, ok := v.TextBytes(); ok {
		return text
	}
	e.spare = v.AppendText(e.spare[:0])
	return e.spare
}
