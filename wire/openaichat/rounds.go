package openaichat

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
	"github.com/stopgate/stopgate/wire/sse"
)

var (
	_ wire.Answerer = Dialect{}
	_ wire.Sayer    = (*stream)(nil)
	_ wire.Sayer    = (*joined)(nil)
)

// Ends implements [wire.Answerer].
func (Dialect) Ends(data []byte) bool { return isDone(data) }

// Answer implements [wire.Answerer].
func (Dialect) Answer(request []byte, said wire.Said) ([]byte, bool) {
	var doc jsonstream.Document
	if wire.ReadRequest(&doc, request) != nil {
		return nil, false
	}
	messages, _ := doc.Root().Get("messages")
	message, ok := saidMessage(said)
	if !ok || messages.Kind() != jsonstream.Array {
		return nil, false
	}
	more := [][]byte{message}
	for _, r := range said.Answers {
		if r.Call == "" {
			return nil, false
		}
		m := jsonstream.AppendQuote([]byte(`{"role":"tool","tool_call_id":`), string(r.Call))
		m = jsonstream.AppendQuote(append(m, `,"content":`...), r.Text)
		more = append(more, append(m, '}'))
	}
	var edits wire.Edits
	edits.Append(messages, more...)
	return edits.AppendTo(nil, request, 0, len(request)), true
}

// saidMessage is the model's message, out of a body as it is, out of a stream put
// together again; ok is false for one with something that does not go into a history.
func saidMessage(said wire.Said) (message []byte, ok bool) {
	if said.Body != nil {
		v, err := jsonstream.Parse(said.Body, wire.EnvelopeOptions(len(said.Body)+1))
		choices, _ := v.Get("choices")
		choice, one := choices.Index(0)
		m, has := choice.Get("message")
		_, old := m.Get("function_call")
		if err != nil || !one || choices.Len() != 1 || !has || old {
			return nil, false
		}
		var edits wire.Edits
		calls, _ := m.Get("tool_calls")
		for c := range calls.Elements() {
			function, _ := c.Get("function")
			args, _ := function.Get("arguments")
			if args.Kind() != jsonstream.String {
				continue
			}
			if whole := wire.Complete(args.AppendText(nil)); !args.IsText(string(whole)) {
				edits.Replace(args, jsonstream.AppendQuote(nil, whole)) // providers refuse a history with broken arguments
			}
		}
		return edits.Within(m), true
	}
	var a spoken
	for _, data := range said.Events {
		if isDone(data) {
			continue
		}
		v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1))
		if err != nil {
			return nil, false
		}
		choices, _ := v.Get("choices")
		for choice := range choices.Elements() {
			delta, _ := choice.Get("delta")
			if !a.take(delta) {
				return nil, false
			}
		}
	}
	return a.message()
}

// spoken is an assistant's message that is put together from its deltas.
type spoken struct {
	content []byte
	calls   []spokenCall
	at      map[string]int // by index, as written
	more    members        // reasoning and what else providers want back
}

type spokenCall struct {
	id, name string
	text     []byte
	custom   bool
	more     members
}

// members are those of a message or a call that are put together without knowing what
// they mean: texts and lists are joined, of anything else the last counts.
type members []member

type member struct {
	name  string
	kind  jsonstream.Kind
	value []byte // a text decoded, a list without its brackets, else as written
}

func (m *members) take(name string, v jsonstream.Value) {
	if !wire.Present(v) {
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

func (a *spoken) take(delta jsonstream.Value) bool {
	content, _ := delta.Get("content")
	a.content = content.AppendText(a.content)
	if old, ok := delta.Get("function_call"); ok && wire.Present(old) || content.Kind() == jsonstream.Array {
		return false
	}
	for k, v := range delta.Members() {
		switch name := string(wire.Key(k)); name {
		case "role", "content", "tool_calls", "function_call":
		default:
			a.more.take(name, v)
		}
	}
	calls, _ := delta.Get("tool_calls")
	for v := range calls.Elements() {
		index, ok := v.Get("index")
		if !ok {
			return false
		}
		i, known := a.at[string(index.Raw())]
		id := text(v, "id")
		if !known || id != "" && a.calls[i].id != "" && a.calls[i].id != id {
			if a.at == nil {
				a.at = map[string]int{}
			}
			i = len(a.calls)
			a.at[string(index.Raw())] = i
			a.calls = append(a.calls, spokenCall{})
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
			switch name := string(wire.Key(k)); name {
			case "index", "id", "type", "function", "custom":
			default:
				c.more.take(name, more)
			}
		}
	}
	return true
}

func (a *spoken) message() ([]byte, bool) {
	m := []byte(`{"role":"assistant","content":`)
	if len(a.content) > 0 {
		m = jsonstream.AppendQuote(m, a.content)
	} else {
		m = append(m, "null"...)
	}
	m = append(a.more.appendTo(m), `,"tool_calls":[`...)
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
			m = append(c.more.appendTo(append(m, '}')), '}')
			continue
		}
		m = jsonstream.AppendQuote(append(m, `,"type":"function","function":{"name":`...), c.name)
		m = jsonstream.AppendQuote(append(m, `,"arguments":`...), wire.Complete(c.text))
		m = append(c.more.appendTo(append(m, '}')), '}')
	}
	return append(m, "]}"...), len(a.calls) > 0
}

// usages are the usage objects of earlier rounds.
func usages(said []wire.Said) (list []jsonstream.Value) {
	for _, round := range said {
		var last jsonstream.Value
		for _, data := range append(round.Events, round.Body) {
			if v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1)); err == nil {
				if u, _ := v.Get("usage"); u.Kind() == jsonstream.Object {
					last = u
				}
			}
		}
		if !last.IsValid() && round.Estimate.Known {
			last, _ = jsonstream.Parse(appendUsage(nil, round.Estimate), wire.EnvelopeOptions(1<<10))
		}
		if last.IsValid() {
			list = append(list, last)
		}
	}
	return list
}

// joined is a later round's stream as a part of one response: the role was said, and
// usage counts all rounds.
type joined struct {
	wire.Joined
	doc   jsonstream.Document
	usage []jsonstream.Value
	gap   bool // text of an earlier round stands right before
}

// Join implements [wire.Answerer].
func (Dialect) Join(_ wire.Stream, said []wire.Said, next wire.Stream) wire.Stream {
	var a spoken
	for _, round := range said {
		for _, data := range round.Events {
			if v, err := jsonstream.Parse(data, wire.EnvelopeOptions(len(data)+1)); err == nil {
				choices, _ := v.Get("choices")
				choice, _ := choices.Index(0)
				delta, _ := choice.Get("delta")
				a.take(delta)
			}
		}
	}
	j := &joined{usage: usages(said), gap: len(a.content) > 0}
	j.Joined = wire.Joined{Stream: next, Each: j.append}
	return j
}

func (j *joined) append(dst []byte, ev *sse.Event) []byte {
	if !ev.Dispatched || isDone(ev.Data) || j.doc.Scan(ev.Data, wire.EnvelopeOptions(len(ev.Data)+1)) != nil {
		return ev.AppendTo(dst)
	}
	var edits wire.Edits
	if usage, _ := j.doc.Root().Get("usage"); usage.Kind() == jsonstream.Object {
		edits.AddUsage(usage, j.usage...)
	}
	choices, _ := j.doc.Root().Get("choices")
	for choice := range choices.Elements() {
		delta, _ := choice.Get("delta")
		edits.Remove(delta, func(k, _ jsonstream.Value) bool { return string(wire.Key(k)) == "role" })
		if content, _ := delta.Get("content"); j.gap && says(content) {
			j.gap = false
			edits.Replace(content, jsonstream.AppendQuote(nil, "\n\n"+content.Text()))
		}
	}
	dst = ev.AppendHead(dst)
	payload := len(dst)
	return ev.AppendTail(edits.AppendTo(dst, ev.Data, 0, len(ev.Data)), payload)
}

// JoinBody implements [wire.Answerer].
func (Dialect) JoinBody(said []wire.Said, body []byte) ([]byte, []wire.Replaced) {
	var doc jsonstream.Document
	if doc.Scan(body, wire.EnvelopeOptions(len(body)+1)) != nil {
		return body, nil
	}
	before := ""
	for _, round := range said {
		v, _ := jsonstream.Parse(round.Shown, wire.EnvelopeOptions(len(round.Shown)+1))
		choices, _ := v.Get("choices")
		choice, _ := choices.Index(0)
		message, _ := choice.Get("message")
		if t := text(message, "content"); t != "" {
			before += t + "\n\n"
		}
	}
	var edits wire.Edits
	if usage, _ := doc.Root().Get("usage"); usage.Kind() == jsonstream.Object {
		edits.AddUsage(usage, usages(said)...)
	}
	choices, _ := doc.Root().Get("choices")
	choice, _ := choices.Index(0)
	message, _ := choice.Get("message")
	if content, ok := message.Get("content"); ok && before != "" && content.Kind() != jsonstream.Array {
		edits.Replace(content, jsonstream.AppendQuote(nil, trimEnd(before+content.Text())))
	}
	return edits.AppendTo(nil, body, 0, len(body)), nil
}

// trimEnd takes the empty line off behind which nothing was said.
func trimEnd(text string) string {
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	return text
}
