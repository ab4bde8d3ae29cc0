package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses/wire"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.MultiRound  = Dialect{}
	_ provider.RoundCloser = (*stream)(nil)
	_ provider.RoundCloser = (*body)(nil)
	_ provider.TextAdder   = (*stream)(nil)
)

// IsLastEvent implements [provider.MultiRound].
func (Dialect) IsLastEvent(data []byte) bool {
	v, _ := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
	return isTerminal(wire.Text(v, "type"))
}

// isTerminal reports whether an event ends the response and contains its items.
func isTerminal(typ string) bool {
	return typ == "response.completed" || typ == "response.incomplete" || typ == "response.failed"
}

// NextRequest implements [provider.MultiRound]. The request contains the provider's own items,
// so that the provider need not store them; a conversation has them already.
func (Dialect) NextRequest(request []byte, round provider.Round) ([]byte, bool) {
	var doc jsonstream.Document
	if provider.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	root := doc.Root()
	store, _ := root.Get("store")
	output, ok := outputOf(round)
	if !ok {
		return nil, false
	}
	var items [][]byte
	results := make([][]byte, len(round.Results))
	for _, item := range output {
		if k := wire.CallKind(item); k.Call() && !resultOf(results, round.Results, item, k) {
			return nil, false
		}
		encrypted, _ := item.Get("encrypted_content")
		if wire.Text(item, "type") == "reasoning" && store.Kind() == jsonstream.False && !provider.Present(encrypted) {
			continue // neither side has it any more
		}
		items = append(items, item.Raw())
	}
	for _, r := range results {
		if r == nil {
			return nil, false
		}
	}
	input, has := root.Get("input")
	conversation, _ := root.Get("conversation")
	var edits provider.Edits
	switch in := provider.Present(conversation); {
	case in && has:
		edits.Replace(input, wire.List(results))
	case input.Kind() == jsonstream.Array && !in:
		edits.AppendElements(input, append(items, results...)...)
	case input.Kind() == jsonstream.String && !in:
		edits.Replace(input, wire.List([][]byte{wire.UserMessage(input)}, items, results))
	case !has:
		if in {
			items = nil
		}
		_, end := root.Span()
		edits.Insert(end-1, append([]byte(`,"input":`), wire.List(items, results)...))
	default:
		return nil, false
	}
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// resultOf adds the result of a call. It returns false for a call that cannot have one: it
// was not answered, code at the provider waits for it, or its arguments are not JSON.
func resultOf(results [][]byte, answers []provider.CallResult, item jsonstream.Value, k wire.Kind) bool {
	if caller, ok := item.Get("caller"); ok && provider.Present(caller) && wire.Text(caller, "type") != "direct" {
		return false
	}
	if k == wire.Function {
		args := []byte(wire.Text(item, "arguments"))
		if _, err := jsonstream.Parse(args, provider.EnvelopeOptions(len(args)+1)); err != nil {
			return false
		}
	}
	for i, a := range answers {
		if id := wire.Text(item, "call_id"); id != "" && id == string(a.Call) && results[i] == nil {
			results[i] = appendResult(nil, &call{kind: k, id: id}, a.Text)
			return len(results[i]) > 0
		}
	}
	return false
}

// lastResponse returns the response object at the end of a round.
func lastResponse(round provider.Round) (jsonstream.Value, bool) {
	if round.Body != nil {
		v, err := jsonstream.Parse(round.Body, provider.EnvelopeOptions(len(round.Body)+1))
		return v, err == nil
	}
	for i := len(round.Events) - 1; i >= 0; i-- {
		v, err := jsonstream.Parse(round.Events[i], provider.EnvelopeOptions(len(round.Events[i])+1))
		if response, ok := v.Get("response"); err == nil && ok && isTerminal(wire.Text(v, "type")) {
			return response, true
		}
	}
	return jsonstream.Value{}, false
}

// usages returns the usage objects of earlier rounds.
func usages(rounds []provider.Round) (list []jsonstream.Value) {
	for _, round := range rounds {
		response, _ := lastResponse(round)
		u, _ := response.Get("usage")
		if round.Estimate.Known {
			u, _ = jsonstream.Parse(appendUsage(nil, round.Estimate), provider.EnvelopeOptions(1<<10))
		}
		if u.Kind() == jsonstream.Object {
			list = append(list, u)
		}
	}
	return list
}

// output is the part of a response's output that the client has received.
type output struct {
	items [][]byte
	text  string // output_text, of servers that send it
}

func (o *output) add(response jsonstream.Value) {
	output, _ := response.Get("output")
	for item := range output.Elements() {
		o.items = append(o.items, bytes.Clone(item.Raw()))
	}
	o.text += wire.Text(response, "output_text")
}

// prepend adds the edits that insert o before the output of a response.
func (o *output) prepend(edits *provider.Edits, response jsonstream.Value) {
	if output, ok := response.Get("output"); ok && output.Kind() == jsonstream.Array && len(o.items) > 0 {
		before := bytes.Join(o.items, []byte{','})
		if output.Len() > 0 {
			before = append(before, ',')
		}
		from, _ := output.Span()
		edits.Insert(from+1, before)
	}
	if own, ok := response.Get("output_text"); ok && own.Kind() == jsonstream.String && o.text != "" {
		edits.Replace(own, jsonstream.AppendQuote(nil, o.text+own.Text()))
	}
}

// CloseRound implements [provider.RoundCloser].
func (s *stream) CloseRound(dst []byte, outcomes []provider.CallOutcome) []byte {
	switch {
	case s.cancelled:
		return s.writeCancelled(dst, outcomes, false)
	case !s.waiting:
		return dst
	}
	list, _ := s.settle(outcomes, s.frame.response, s.at)
	s.waiting = false
	s.addReplaced(list, finalItems(s.frame.response))
	dst, _ = s.writeQueue(dst, list, nil) // it cannot fail without a flush
	s.edits = s.edits[:0]
	s.editResponse(&s.edits, s.frame.response, s.at, list)
	data := s.edits.AppendTo(nil, s.finish.Data, 0, len(s.finish.Data))
	if v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1)); err == nil {
		response, _ := v.Get("response")
		s.sent.add(response)
	}
	return dst
}

// CloseRound implements [provider.RoundCloser].
func (b *body) CloseRound(dst []byte, outcomes []provider.CallOutcome) []byte {
	dst, _ = b.Release(dst, outcomes) // calls for which code at the provider waits are not answered
	return dst
}

// AddText implements [provider.TextAdder].
func (s *stream) AddText(_ int, text string) { s.ownText += text }

// JoinBody implements [provider.MultiRound].
func (Dialect) JoinBody(rounds []provider.Round, body []byte) ([]byte, []provider.ReplacedCall) {
	var doc jsonstream.Document
	if scan(&doc, body, len(body)+1, nil) != nil {
		return body, nil
	}
	var before output
	for _, round := range rounds {
		if v, err := jsonstream.Parse(round.ClientBody, provider.EnvelopeOptions(len(round.ClientBody)+1)); err == nil {
			before.add(v)
		}
	}
	var edits provider.Edits
	before.prepend(&edits, doc.Root())
	if u, ok := doc.Root().Get("usage"); ok {
		edits.AddUsage(u, usages(rounds)...)
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}
