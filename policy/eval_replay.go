package policy

import "github.com/stopgate/stopgate/jsonstream"

// judge evaluates a complete value by a plan without reading text: result rules
// look at what ran (D25-42), and no byte of it is counted.
func (e *Evaluation) judge(p *plan, v jsonstream.Value) {
	e.reset(p)
	e.replayValue(v)
	e.settle()
}

// probe gives a complete value to the conditions at and below a shape: to a schema's
// default, before there is any call.
func (e *Evaluation) probe(s *shape, v jsonstream.Value) {
	e.walkers = append(e.walkers[:0], walker{})
	e.walkers[0].reset(&view{root: s})
	e.replayValue(v)
}

// replayValue gives the events of a value to the walkers.
func (e *Evaluation) replayValue(v jsonstream.Value) {
	switch v.Kind() {
	case jsonstream.Object:
		e.see(&jsonstream.Event{Kind: jsonstream.ObjectStart})
		for key, member := range v.Members() {
			e.see(&jsonstream.Event{Kind: jsonstream.Key, Text: []byte(key.Text())})
			e.replayValue(member)
		}
		e.value = v
		e.see(&jsonstream.Event{Kind: jsonstream.ObjectEnd})
	case jsonstream.Array:
		e.see(&jsonstream.Event{Kind: jsonstream.ArrayStart})
		for element := range v.Elements() {
			e.replayValue(element)
		}
		e.see(&jsonstream.Event{Kind: jsonstream.ArrayEnd})
	case jsonstream.String:
		e.see(&jsonstream.Event{Kind: jsonstream.StringStart})
		e.textPart(&jsonstream.Event{Kind: jsonstream.StringPart, Text: []byte(v.Text()), Escaped: true})
		e.value = v
		e.see(&jsonstream.Event{Kind: jsonstream.StringEnd})
	case jsonstream.Number:
		e.see(&jsonstream.Event{Kind: jsonstream.Number, Text: v.Raw()})
	default:
		e.see(&jsonstream.Event{Kind: v.Kind()})
	}
}
