package openairesponses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// output is one item of a response as a client assembles it.
type output struct {
	typ, id, callID, name string
	args                  string // of a call: the joined deltas, or the item's own arguments
	joined                string
	ended                 string // arguments in the event that ends them
	text                  string // joined text deltas
	item                  json.RawMessage
	done                  bool
}

// answer is the result of a stream for a client.
type answer struct {
	begun bool
	items []*output
	final []json.RawMessage // the output of the terminal event
	end   string            // the terminal event's type, or empty
	usage string
}

// parsed has the members of an item that tests check.
type parsed struct {
	Type, ID, Name, Namespace, Status, Execution string
	CallID                                       string `json:"call_id"`
	Arguments, Input                             json.RawMessage
	Action, Operation                            json.RawMessage
	Environment                                  *struct{ Type string }
	Content                                      []struct{ Type, Text string }
}

// call reports whether a client would run an item. It is independent of the codec's table: every
// item named a call that does not run elsewhere.
func (p *parsed) call() bool {
	switch p.Type {
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call":
		return false
	case "shell_call":
		return p.Environment == nil || p.Environment.Type == "local"
	case "tool_search_call":
		return p.Execution == "client"
	}
	return strings.HasSuffix(p.Type, "_call") || p.Type == "mcp_approval_request"
}

// said returns the arguments of a call as text.
func (p *parsed) said() string {
	for _, raw := range []json.RawMessage{p.Arguments, p.Input, p.Action, p.Operation} {
		if raw == nil {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return text
		}
		return canonical(string(raw))
	}
	return ""
}

func parse(item json.RawMessage) (*parsed, error) {
	p := &parsed{}
	return p, json.Unmarshal(item, p)
}

// calls returns the items that a client would run.
func (m *answer) calls() (out []*output) {
	for _, o := range m.items {
		if p, err := parse(o.item); err == nil && p.call() {
			out = append(out, o)
		}
	}
	return out
}

// show formats answers for comparison.
func (m *answer) show() string {
	var b strings.Builder
	for _, o := range m.items {
		fmt.Fprintf(&b, "%s %q %q %q %q %q\n", o.typ, o.id, o.callID, o.name, canonical(o.args), o.text)
	}
	for _, raw := range m.final {
		if p, err := parse(raw); err == nil && p.call() {
			fmt.Fprintf(&b, "final %s %q %q %q\n", p.Type, p.ID, p.CallID, canonical(p.said()))
		} else {
			fmt.Fprintf(&b, "final %s\n", raw)
		}
	}
	return b.String() + m.end + " " + m.usage + "\n"
}

type clientEvent struct {
	Type      string
	Index     *int   `json:"output_index"`
	ItemID    string `json:"item_id"`
	Seq       *int   `json:"sequence_number"`
	Item      json.RawMessage
	Delta     json.RawMessage
	Arguments *string
	Input     *string
	Response  *struct {
		Output []json.RawMessage
		Usage  json.RawMessage
	}
}

// read is a client of the dialect, written independently of the codec: it appends an item when it
// is added and finds it by its position, as the SDKs do. The error is about the form of the stream;
// strict adds the requirements on the gate's output.
func read(stream string, strict bool) (*answer, error) {
	m := &answer{}
	next := -1
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	if strict && strings.Contains(stream, "\r") || strict && stream != "" && !strings.HasSuffix(stream, "\n") {
		return nil, fmt.Errorf("a lone CR, or the end inside of a line")
	}
	for _, frame := range strings.Split(stream, "\n\n") {
		name, text, ok := fields(frame)
		if !ok || text == "[DONE]" {
			continue
		}
		var e clientEvent
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if strict {
			switch {
			case name != "" && name != e.Type:
				return nil, fmt.Errorf("event line %s: %s", name, text)
			case m.end != "":
				return nil, fmt.Errorf("behind the end: %s", text)
			case e.Seq != nil && next >= 0 && *e.Seq != next:
				return nil, fmt.Errorf("number %d is not %d: %s", *e.Seq, next, text)
			}
		}
		if e.Seq != nil {
			next = *e.Seq + 1
		}
		if err := m.event(&e, strict); err != nil {
			return nil, fmt.Errorf("%w: %s", err, text)
		}
	}
	if !strict {
		return m, nil
	}
	return m, m.check()
}

// fields splits one frame.
func fields(frame string) (name, text string, ok bool) {
	var data []string
	for _, line := range strings.Split(frame, "\n") {
		if v, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimPrefix(v, " "))
		}
		if v, ok := strings.CutPrefix(line, "event:"); ok {
			name = strings.TrimPrefix(v, " ")
		}
	}
	return name, strings.Join(data, "\n"), data != nil
}

func (m *answer) event(e *clientEvent, strict bool) error {
	if strict && !m.begun && e.Type != "response.created" && e.Type != "error" && strings.HasPrefix(e.Type, "response.output_item") {
		return fmt.Errorf("before the beginning")
	}
	switch e.Type {
	case "response.created":
		m.begun = true
	case "error":
		m.end = "error"
	case "response.completed", "response.incomplete", "response.failed":
		m.end = e.Type
		if e.Response == nil {
			return fmt.Errorf("no response")
		}
		m.final, m.usage = e.Response.Output, string(e.Response.Usage)
	case "response.output_item.added":
		if e.Index == nil || *e.Index != len(m.items) {
			return fmt.Errorf("not the next position")
		}
		o := &output{}
		m.items = append(m.items, o)
		return o.take(e.Item)
	default:
		if e.Index == nil || e.Type == "" {
			return nil
		}
		if *e.Index >= len(m.items) {
			return fmt.Errorf("no such item")
		}
		return m.items[*e.Index].event(e, strict)
	}
	return nil
}

func (o *output) take(item json.RawMessage) error {
	p, err := parse(item)
	if err != nil {
		return err
	}
	o.item, o.typ, o.id, o.callID, o.name, o.args = item, p.Type, p.ID, p.CallID, p.Name, p.said()
	return nil
}

func (o *output) event(e *clientEvent, strict bool) error {
	var delta string
	_ = json.Unmarshal(e.Delta, &delta)
	switch e.Type {
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		o.joined += delta
		if strict && (o.done || e.ItemID != o.id) {
			return fmt.Errorf("a delta of another item")
		}
	case "response.function_call_arguments.done":
		o.ended = *e.Arguments
	case "response.custom_tool_call_input.done":
		o.ended = *e.Input
	case "response.output_text.delta":
		o.text += delta
	case "response.output_item.done":
		typ, id := o.typ, o.id
		if err := o.take(e.Item); err != nil {
			return err
		}
		text := o.typ == "function_call" || o.typ == "custom_tool_call"
		switch {
		case strict && (o.done || o.typ != typ || text && o.id != id):
			return fmt.Errorf("another item")
		case strict && text && (o.joined != o.args || o.ended != o.args):
			return fmt.Errorf("copies differ: %q %q %q", o.joined, o.ended, o.args)
		}
		o.done = true
	}
	return nil
}

// check checks the invariants of a complete answer.
func (m *answer) check() error {
	if m.end == "" {
		return fmt.Errorf("no terminal event")
	}
	ids := map[string]bool{}
	for i, o := range m.calls() {
		switch {
		case o.callID == "" || ids[o.callID]:
			return fmt.Errorf("call %d has the id %q", i, o.callID)
		case m.end != "error" && !o.done:
			return fmt.Errorf("call %q was not finished", o.callID)
		}
		ids[o.callID] = true
	}
	for i, raw := range m.final {
		p, err := parse(raw)
		if err != nil {
			return err
		}
		if i >= len(m.items) {
			continue
		}
		o := m.items[i]
		q, _ := parse(o.item)
		if p.call() != q.call() || p.call() && (p.Type != o.typ || p.CallID != o.callID || p.said() != o.args) {
			return fmt.Errorf("item %d is %s at the end and %s in the stream", i, raw, o.item)
		}
		if strings.HasPrefix(o.id, "msg_stopgate_") && (p.ID != o.id || len(p.Content) != 1 || p.Content[0].Text != o.text) {
			return fmt.Errorf("message %d is %s at the end and %s in the stream", i, raw, o.item)
		}
	}
	return nil
}

// denied returns the tools that were replaced by a message of the gate.
func (m *answer) denied() (out []string) {
	for _, o := range m.items {
		if strings.HasPrefix(o.id, "msg_stopgate_") {
			out = append(out, o.text)
		}
	}
	return out
}

// canonical returns JSON as a value, without regard to spaces and escapes.
func canonical(args string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return args
	}
	return quote(v)
}

func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// besides returns the frames of a stream that belong to no call, without their numbers and, at the
// end, without the output; sorted, because frames may overtake held calls.
func besides(stream string) string {
	calls := map[int]bool{}
	var out []string
	for _, frame := range strings.Split(strings.TrimRight(stream, "\n"), "\n\n") {
		name, text, _ := fields(frame)
		var members map[string]json.RawMessage
		_ = json.Unmarshal([]byte(text), &members)
		var e clientEvent
		_ = json.Unmarshal([]byte(text), &e)
		if p, err := parse(e.Item); err == nil && p.call() {
			calls[*e.Index] = true
		}
		if e.Index != nil && calls[*e.Index] {
			continue
		}
		if seq, ok := members["sequence_number"]; ok {
			text = strings.Replace(text, `"sequence_number":`+string(seq), `"sequence_number":N`, 1)
			text = strings.Replace(text, `"sequence_number": `+string(seq), `"sequence_number": N`, 1)
		}
		if e.Response != nil {
			for i, raw := range e.Response.Output {
				if p, _ := parse(raw); p.call() {
					text = strings.Replace(text, string(raw), fmt.Sprintf("call %d", i), 1)
				}
			}
		}
		out = append(out, name+" "+text)
	}
	slices.Sort(out)
	return strings.Join(out, "\n") + "\n"
}

func unquote(text string, into *string) bool { return json.Unmarshal([]byte(text), into) == nil }
