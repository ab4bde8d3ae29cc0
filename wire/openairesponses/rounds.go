package openairesponses

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

var (
	_ wire.Answerer   = Dialect{}
	_ wire.Interluder = (*stream)(nil)
	_ wire.Interluder = (*body)(nil)
	_ wire.Sayer      = (*stream)(nil)
)

// Ends implements [wire.Answerer].
func (Dialect) Ends(data []byte) bool {
	v, _ := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
	return isTerminal(text(v, "type"))
}

// isTerminal reports whether an event ends the response and has its items.
func isTerminal(typ string) bool {
	return typ == "response.completed" || typ == "response.incomplete" || typ == "response.failed"
}

// Answer implements [wire.Answerer]. The provider gets its own items back, so that it
// need not store anything; a conversation has them already.
func (Dialect) Answer(request []byte, said wire.Said) ([]byte, bool) {
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	root := doc.Root()
	store, _ := root.Get("store")
	output, ok := outputOf(said)
	if !ok {
		return nil, false
	}
	var items [][]byte
	results := make([][]byte, len(said.Answers))
	for _, item := range output {
		if k := builtinOrNamed(item); k.call() && !resultOf(results, said.Answers, item, k) {
			return nil, false
		}
		encrypted, _ := item.Get("encrypted_content")
		if text(item, "type") == "reasoning" && store.Kind() == jsonstream.False && !wire.Present(encrypted) {
			continue // nobody has it any more
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
	var edits wire.Edits
	switch in := wire.Present(conversation); {
	case in && has:
		edits.Replace(input, list(results))
	case input.Kind() == jsonstream.Array && !in:
		edits.Append(input, append(items, results...)...)
	case input.Kind() == jsonstream.String && !in:
		edits.Replace(input, list([][]byte{userMessage(input)}, items, results))
	case !has:
		if in {
			items = nil
		}
		_, end := root.Span()
		edits.Insert(end-1, append([]byte(`,"input":`), list(items, results)...))
	default:
		return nil, false
	}
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// list is an array of items.
func list(parts ...[][]byte) []byte {
	var items [][]byte
	for _, p := range parts {
		items = append(items, p...)
	}
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

// userMessage is the item that a text stands for as an input.
func userMessage(input jsonstream.Value) []byte {
	return append(append([]byte(`{"type":"message","role":"user","content":`), input.Raw()...), '}')
}

// builtinOrNamed is what an item is, where it is one of a known call.
func builtinOrNamed(item jsonstream.Value) kind {
	if text(item, "type") == "shell_call" {
		return shell
	}
	return kinds[text(item, "type")]
}

// resultOf makes the result of a call. It reports false for a call that cannot have one:
// it has no answer, code at the provider waits for it, or its arguments are no JSON.
func resultOf(results [][]byte, answers []wire.Answered, item jsonstream.Value, k kind) bool {
	if caller, ok := item.Get("caller"); ok && wire.Present(caller) && text(caller, "type") != "direct" {
		return false
	}
	if k == function {
		args := []byte(text(item, "arguments"))
		if _, err := jsonstream.Parse(args, wire.EnvelopeOptions(len(args)+1)); err != nil {
			return false
		}
	}
	for i, a := range answers {
		if id := text(item, "call_id"); id != "" && id == string(a.Call) && results[i] == nil {
			results[i] = appendResult(nil, &call{kind: k, id: id}, a.Text)
			return len(results[i]) > 0
		}
	}
	return false
}

// lastResponse is the response object at the end of a round.
func lastResponse(said wire.Said) (jsonstream.Value, bool) {
	if said.Body != nil {
		v, err := jsonstream.Parse(said.Body, wire.EnvelopeOptions(len(said.Body)+1))
		return v, err == nil
	}
	for i := len(said.Events) - 1; i >= 0; i-- {
		v, err := jsonstream.Parse(said.Events[i], wire.EnvelopeOptions(len(said.Events[i])+1))
		if response, ok := v.Get("response"); err == nil && ok && isTerminal(text(v, "type")) {
			return response, true
		}
	}
	return jsonstream.Value{}, false
}

// usages are the usage objects of earlier rounds.
func usages(said []wire.Said) (list []jsonstream.Value) {
	for _, round := range said {
		response, _ := lastResponse(round)
		u, _ := response.Get("usage")
		if round.Estimate.Known {
			u, _ = jsonstream.Parse(appendUsage(nil, round.Estimate), wire.EnvelopeOptions(1<<10))
		}
		if u.Kind() == jsonstream.Object {
			list = append(list, u)
		}
	}
	return list
}

// shown is what the client has of a response's output.
type shown struct {
	items [][]byte
	text  string // output_text, of servers that send it
}

func (s *shown) add(response jsonstream.Value) {
	output, _ := response.Get("output")
	for item := range output.Elements() {
		s.items = append(s.items, bytes.Clone(item.Raw()))
	}
	s.text += text(response, "output_text")
}

// prepend collects the changes that put it in front of a response's own output.
func (s *shown) prepend(edits *wire.Edits, response jsonstream.Value) {
	if output, ok := response.Get("output"); ok && output.Kind() == jsonstream.Array && len(s.items) > 0 {
		before := bytes.Join(s.items, []byte{','})
		if output.Len() > 0 {
			before = append(before, ',')
		}
		from, _ := output.Span()
		edits.Insert(from+1, before)
	}
	if said, ok := response.Get("output_text"); ok && said.Kind() == jsonstream.String && s.text != "" {
		edits.Replace(said, jsonstream.AppendQuote(nil, s.text+said.Text()))
	}
}

// Interlude implements [wire.Interluder].
func (s *stream) Interlude(dst []byte, outcomes []wire.Release) []byte {
	switch {
	case s.cancelled:
		return s.writeCancelled(dst, outcomes, false)
	case !s.waiting:
		return dst
	}
	list, _ := s.settle(outcomes, s.frame.response, s.at)
	s.waiting = false
	s.remember(list, finished(s.frame.response))
	dst, _ = s.writeHeld(dst, list, nil) // without a spill nothing fails
	s.edits = s.edits[:0]
	s.editResponse(&s.edits, s.frame.response, s.at, list)
	data := s.edits.AppendTo(nil, s.finish.Data, 0, len(s.finish.Data))
	if v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1)); err == nil {
		response, _ := v.Get("response")
		s.shown.add(response)
	}
	return dst
}

// Interlude implements [wire.Interluder].
func (b *body) Interlude(dst []byte, outcomes []wire.Release) []byte {
	dst, _ = b.Release(dst, outcomes) // what code at the provider waits for is not answered
	return dst
}

// Say implements [wire.Sayer].
func (s *stream) Say(text string) { s.extra += text }

// JoinBody implements [wire.Answerer].
func (Dialect) JoinBody(said []wire.Said, body []byte) ([]byte, []wire.Replaced) {
	var doc jsonstream.Document
	if scan(&doc, body, len(body)+1, nil) != nil {
		return body, nil
	}
	var before shown
	for _, round := range said {
		if v, err := jsonstream.Parse(round.Shown, wire.EnvelopeOptions(len(round.Shown)+1)); err == nil {
			before.add(v)
		}
	}
	var edits wire.Edits
	before.prepend(&edits, doc.Root())
	if u, ok := doc.Root().Get("usage"); ok {
		edits.AddUsage(u, usages(said)...)
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}
