package openaichat

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

var (
	_ provider.MultiRound = Dialect{}
	_ provider.TextAdder  = (*stream)(nil)
	_ provider.TextAdder  = (*joined)(nil)
)

// IsLastEvent implements [provider.MultiRound].
func (Dialect) IsLastEvent(data []byte) bool { return isDone(data) }

// NextRequest implements [provider.MultiRound].
func (Dialect) NextRequest(request []byte, round provider.Round) ([]byte, bool) {
	var doc jsonstream.Document
	if provider.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	messages, _ := doc.Root().Get("messages")
	message, ok := roundMessage(round)
	if !ok || messages.Kind() != jsonstream.Array {
		return nil, false
	}
	more := [][]byte{message}
	for _, r := range round.Results {
		if r.Call == "" {
			return nil, false
		}
		m := jsonstream.AppendQuote([]byte(`{"role":"tool","tool_call_id":`), string(r.Call))
		m = jsonstream.AppendQuote(append(m, `,"content":`...), r.Text)
		more = append(more, append(m, '}'))
	}
	var edits provider.Edits
	edits.AppendElements(messages, more...)
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// roundMessage returns the model's message, as it is in a body, or assembled from a stream.
// ok is false if it contains something that a history cannot contain.
func roundMessage(round provider.Round) (message []byte, ok bool) {
	if round.Body != nil {
		v, err := jsonstream.Parse(round.Body, provider.EnvelopeOptions(len(round.Body)+1))
		choices, _ := v.Get("choices")
		choice, one := choices.Index(0)
		m, has := choice.Get("message")
		_, old := m.Get("function_call")
		if err != nil || !one || choices.Len() != 1 || !has || old {
			return nil, false
		}
		var edits provider.Edits
		calls, _ := m.Get("tool_calls")
		for c := range calls.Elements() {
			function, _ := c.Get("function")
			args, _ := function.Get("arguments")
			if args.Kind() != jsonstream.String {
				continue
			}
			if whole := provider.CompletePrefix(args.AppendText(nil)); !args.IsText(string(whole)) {
				edits.Replace(args, jsonstream.AppendQuote(nil, whole)) // providers refuse a history with invalid arguments
			}
		}
		return edits.ApplyTo(m), true
	}
	var a assembledMessage
	for _, data := range round.Events {
		if isDone(data) {
			continue
		}
		v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1))
		if err != nil {
			return nil, false
		}
		choices, _ := v.Get("choices")
		for choice := range choices.Elements() {
			delta, _ := choice.Get("delta")
			if !a.addDelta(delta) {
				return nil, false
			}
		}
	}
	return a.encode()
}

// assembledMessage is an assistant message that is assembled from its deltas.
type assembledMessage struct {
	content []byte
	calls   []messageCall
	byIndex map[string]int // by index, as it is written
	unknown members        // reasoning, and other members that providers expect back
}

type messageCall struct {
	id, name string
	text     []byte
	custom   bool
	unknown  members
}

// members are members of a message or a call whose meaning is unknown: their texts and
// lists are joined, of other values the last one counts.
type members []member

type member struct {
	name  string
	kind  jsonstream.Kind
	value []byte // a decoded text, a list without its brackets, otherwise as it is written
}

func (m *members) add(name string, v jsonstream.Value) {
	if !provider.Present(v) {
		return
	}
	at := slices.IndexFunc(*m, func(one member) bool { return one.name == name && one.kind == v.Kind() })
	if at < 0 {
		at = len(*m)
		*m = append(*m, member{name: name, kind: v.Kind()})
	}
	switch one := &(*m)[at]; v.Kind() {
	case jsonstream.String:
		one.value = v.AppendText(one.value)
	case jsonstream.Array:
		for e := range v.Elements() {
			if len(one.value) > 0 {
				one.value = append(one.value, ',')
			}
			one.value = append(one.value, e.Raw()...)
		}
	default:
		one.value = bytes.Clone(v.Raw())
	}
}

func (m members) appendTo(dst []byte) []byte {
	for _, one := range m {
		dst = append(jsonstream.AppendQuote(append(dst, ','), one.name), ':')
		switch one.kind {
		case jsonstream.String:
			dst = jsonstream.AppendQuote(dst, string(one.value))
		case jsonstream.Array:
			dst = append(append(append(dst, '['), one.value...), ']')
		default:
			dst = append(dst, one.value...)
		}
	}
	return dst
}

func (a *assembledMessage) addDelta(delta jsonstream.Value) bool {
	content, _ := delta.Get("content")
	a.content = content.AppendText(a.content)
	if old, ok := delta.Get("function_call"); ok && provider.Present(old) || content.Kind() == jsonstream.Array {
		return false
	}
	for k, v := range delta.Members() {
		switch name := string(provider.Key(k)); name {
		case "role", "content", "tool_calls", "function_call":
		default:
			a.unknown.add(name, v)
		}
	}
	calls, _ := delta.Get("tool_calls")
	for v := range calls.Elements() {
		index, ok := v.Get("index")
		if !ok {
			return false
		}
		i, known := a.byIndex[string(index.Raw())]
		id := text(v, "id")
		if !known || id != "" && a.calls[i].id != "" && a.calls[i].id != id {
			if a.byIndex == nil {
				a.byIndex = map[string]int{}
			}
			i = len(a.calls)
			a.byIndex[string(index.Raw())] = i
			a.calls = append(a.calls, messageCall{})
		}
		c := &a.calls[i]
		if id != "" {
			c.id = id
		}
		member, body := v.Get("function")
		piece := "arguments"
		if custom, ok := v.Get("custom"); ok && !body {
			member, piece, c.custom = custom, "input", true
		}
		if name := text(member, "name"); name != "" {
			c.name = name
		}
		arguments, _ := member.Get(piece)
		c.text = arguments.AppendText(c.text)
		for k, more := range v.Members() {
			switch name := string(provider.Key(k)); name {
			case "index", "id", "type", "function", "custom":
			default:
				c.unknown.add(name, more)
			}
		}
	}
	return true
}

func (a *assembledMessage) encode() ([]byte, bool) {
	m := []byte(`{"role":"assistant","content":`)
	if len(a.content) > 0 {
		m = jsonstream.AppendQuote(m, a.content)
	} else {
		m = append(m, "null"...)
	}
	m = append(a.unknown.appendTo(m), `,"tool_calls":[`...)
	for i, c := range a.calls {
		if c.id == "" || c.name == "" {
			return nil, false
		}
		if i > 0 {
			m = append(m, ',')
		}
		m = jsonstream.AppendQuote(append(m, `{"id":`...), c.id)
		if c.custom {
			m = jsonstream.AppendQuote(append(m, `,"type":"custom","custom":{"name":`...), c.name)
			m = jsonstream.AppendQuote(append(m, `,"input":`...), c.text)
			m = append(c.unknown.appendTo(append(m, '}')), '}')
			continue
		}
		m = jsonstream.AppendQuote(append(m, `,"type":"function","function":{"name":`...), c.name)
		m = jsonstream.AppendQuote(append(m, `,"arguments":`...), provider.CompletePrefix(c.text))
		m = append(c.unknown.appendTo(append(m, '}')), '}')
	}
	return append(m, "]}"...), len(a.calls) > 0
}

// usages returns the usage objects of earlier rounds.
func usages(rounds []provider.Round) (list []jsonstream.Value) {
	for _, round := range rounds {
		var last jsonstream.Value
		for _, data := range append(round.Events, round.Body) {
			if v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1)); err == nil {
				if u, _ := v.Get("usage"); u.Kind() == jsonstream.Object {
					last = u
				}
			}
		}
		if !last.IsValid() && round.Estimate.Known {
			last, _ = jsonstream.Parse(appendUsage(nil, round.Estimate), provider.EnvelopeOptions(1<<10))
		}
		if last.IsValid() {
			list = append(list, last)
		}
	}
	return list
}

// joined is the stream of a later round as a part of one response: the role is not
// repeated, and usage includes all rounds.
type joined struct {
	provider.JoinedStream
	doc      jsonstream.Document
	usage    []jsonstream.Value
	needsGap bool // text of an earlier round precedes
}

// Join implements [provider.MultiRound].
func (Dialect) Join(_ provider.Stream, rounds []provider.Round, next provider.Stream) provider.Stream {
	var a assembledMessage
	for _, round := range rounds {
		for _, data := range round.Events {
			if v, err := jsonstream.Parse(data, provider.EnvelopeOptions(len(data)+1)); err == nil {
				choices, _ := v.Get("choices")
				choice, _ := choices.Index(0)
				delta, _ := choice.Get("delta")
				a.addDelta(delta)
			}
		}
	}
	j := &joined{usage: usages(rounds), needsGap: len(a.content) > 0}
	j.JoinedStream = provider.JoinedStream{Stream: next, RewriteEvent: j.append}
	return j
}

func (j *joined) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || isDone(ev.Data) || j.doc.Scan(ev.Data, provider.EnvelopeOptions(len(ev.Data)+1)) != nil {
		return ev.AppendTo(dst)
	}
	var edits provider.Edits
	if usage, _ := j.doc.Root().Get("usage"); usage.Kind() == jsonstream.Object {
		edits.AddUsage(usage, j.usage...)
	}
	choices, _ := j.doc.Root().Get("choices")
	for choice := range choices.Elements() {
		delta, _ := choice.Get("delta")
		edits.Remove(delta, func(k, _ jsonstream.Value) bool { return string(provider.Key(k)) == "role" })
		if content, _ := delta.Get("content"); j.needsGap && nonEmpty(content) {
			j.needsGap = false
			edits.Replace(content, jsonstream.AppendQuote(nil, "\n\n"+content.Text()))
		}
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// JoinBody implements [provider.MultiRound].
func (Dialect) JoinBody(rounds []provider.Round, body []byte) ([]byte, []provider.ReplacedCall) {
	var doc jsonstream.Document
	if doc.Scan(body, provider.EnvelopeOptions(len(body)+1)) != nil {
		return body, nil
	}
	before := ""
	for _, round := range rounds {
		v, _ := jsonstream.Parse(round.ClientBody, provider.EnvelopeOptions(len(round.ClientBody)+1))
		choices, _ := v.Get("choices")
		choice, _ := choices.Index(0)
		message, _ := choice.Get("message")
		if t := text(message, "content"); t != "" {
			before += t + "\n\n"
		}
	}
	var edits provider.Edits
	if usage, _ := doc.Root().Get("usage"); usage.Kind() == jsonstream.Object {
		edits.AddUsage(usage, usages(rounds)...)
	}
	choices, _ := doc.Root().Get("choices")
	choice, _ := choices.Index(0)
	message, _ := choice.Get("message")
	if content, ok := message.Get("content"); ok && before != "" && content.Kind() != jsonstream.Array {
		edits.Replace(content, jsonstream.AppendQuote(nil, trimEnd(before+content.Text())))
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}

// trimEnd removes the blank line at the end if no text follows it.
func trimEnd(text string) string {
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	return text
}
