package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// content is one block of a message as a client assembles it.
type content struct {
	typ, id, name string
	text          string // text, thinking and signatures
	args          string // the concatenated partial_json, or else the input
	other         string // every other member, for comparisons
	stopped       bool
}

// message is the result of a stream for a client.
type message struct {
	begun  bool
	blocks []*content
	stops  []string // stop reasons, in order
	end    string   // message_stop, error, or empty
	open   int      // blocks without a stop when message_delta came
}

func (m *message) tools() (out []*content) {
	for _, b := range m.blocks {
		if b.typ == "tool_use" {
			out = append(out, b)
		}
	}
	return out
}

// show formats messages for comparison, arguments as values.
func (m *message) show() string {
	var b strings.Builder
	for _, c := range m.blocks {
		fmt.Fprintf(&b, "%s %q %q %q", c.typ, c.id, c.name, c.text)
		if c.typ == "tool_use" {
			b.WriteString(canonical(c.args))
		} else {
			b.WriteString(c.args)
		}
		b.WriteString(" " + c.other + "\n")
	}
	fmt.Fprintf(&b, "%q %s\n", m.stops, m.end)
	return b.String()
}

// block parses a content block, in a stream or in a body.
func block(raw json.RawMessage) (*content, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	c := &content{}
	for name, into := range map[string]*string{"type": &c.typ, "id": &c.id, "name": &c.name, "text": &c.text, "thinking": &c.text} {
		if v, ok := members[name]; ok {
			if err := json.Unmarshal(v, into); err != nil {
				return nil, err
			}
			delete(members, name)
		}
	}
	c.args = string(members["input"])
	delete(members, "input")
	other, _ := json.Marshal(members)
	c.other = string(other)
	return c, nil
}

// read is a client of the dialect, written independently of the codec. The error is about the form
// of the stream; strict adds the laws AM1 to AM4 and further requirements on the gate's output.
func read(stream string, strict bool) (*message, error) {
	if strict && strings.Contains(strings.ReplaceAll(stream, "\r\n", ""), "\r") {
		return nil, fmt.Errorf("a lone CR")
	}
	m := &message{}
	deltas := map[int]string{}
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	if strict && stream != "" && !strings.HasSuffix(stream, "\n") {
		return nil, fmt.Errorf("ends inside of a line")
	}
	for _, frame := range strings.Split(stream, "\n\n") {
		var data []string
		name := ""
		for _, line := range strings.Split(frame, "\n") {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(v, " "))
			}
			if v, ok := strings.CutPrefix(line, "event:"); ok {
				name = strings.TrimPrefix(v, " ")
			}
		}
		if data == nil {
			continue
		}
		text := strings.Join(data, "\n")
		var e struct {
			Type    string
			Index   int
			Message *struct{ Content []json.RawMessage }
			Block   json.RawMessage `json:"content_block"`
			Delta   struct {
				Type, Text, Thinking, Signature string
				Partial                         *string `json:"partial_json"`
				Stop                            *string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		fail := func(why string) (*message, error) { return nil, fmt.Errorf("%s: %s", why, text) }
		if strict {
			switch {
			case name != e.Type:
				return fail("event line " + name)
			case m.end != "":
				return fail("behind the end")
			case !m.begun && e.Type != "message_start" && e.Type != "ping" && e.Type != "error" && strings.HasPrefix(e.Type, "content") || !m.begun && e.Type == "message_delta":
				return fail("in front of message_start")
			}
		}
		isBlock := strings.HasPrefix(e.Type, "content_block_")
		if strict && isBlock && len(m.stops) > 0 {
			return fail("behind message_delta")
		}
		if isBlock && e.Type != "content_block_start" {
			if e.Index >= len(m.blocks) || m.blocks[e.Index].stopped {
				return fail("no such open block")
			}
		}
		switch e.Type {
		case "message_start":
			if m.begun || e.Message == nil || len(e.Message.Content) > 0 {
				return fail("a strange start")
			}
			m.begun = true
		case "content_block_start":
			if e.Index != len(m.blocks) {
				return fail("not the next index")
			}
			c, err := block(e.Block)
			if err != nil {
				return nil, err
			}
			if strict && c.typ == "tool_use" && c.args != "{}" {
				return fail("input")
			}
			m.blocks = append(m.blocks, c)
		case "content_block_delta":
			c := m.blocks[e.Index]
			c.text += e.Delta.Text + e.Delta.Thinking + e.Delta.Signature
			if e.Delta.Partial != nil {
				deltas[e.Index] += *e.Delta.Partial
			}
		case "content_block_stop":
			c := m.blocks[e.Index]
			c.stopped = true
			if deltas[e.Index] != "" {
				c.args = deltas[e.Index]
			}
			if strict && c.typ == "tool_use" && deltas[e.Index] == "" {
				return fail("a call without arguments")
			}
		case "message_delta":
			stop := ""
			if e.Delta.Stop != nil {
				stop = *e.Delta.Stop
			}
			m.stops = append(m.stops, stop)
			for _, c := range m.blocks {
				if !c.stopped {
					m.open++
				}
			}
		case "message_stop", "error":
			m.end = e.Type
		}
	}
	if !strict {
		return m, nil
	}
	return m, m.check()
}

// check checks the invariants of a complete message.
func (m *message) check() error {
	if m.end == "" {
		return fmt.Errorf("no terminal event")
	}
	ids := map[string]bool{}
	for _, c := range m.tools() {
		var object map[string]any
		switch {
		case json.Unmarshal([]byte(c.args), &object) != nil:
			return fmt.Errorf("call %s has the arguments %q", c.name, c.args)
		case c.id == "" || c.name == "" || ids[c.id]:
			return fmt.Errorf("call %q %q", c.id, c.name)
		}
		ids[c.id] = true
	}
	for i, c := range m.blocks {
		if c.typ == "text" && strings.HasPrefix(c.text, "[stopgate]") {
			for _, before := range m.blocks[:i] {
				if before.typ == "tool_use" {
					return fmt.Errorf("our text stands behind a call")
				}
			}
		}
	}
	return nil
}

// readBody parses an unstreamed message.
func readBody(body string) (*message, error) {
	var b struct {
		Type    string
		Content []json.RawMessage
		Stop    *string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return nil, err
	}
	m := &message{begun: true, end: "message_stop"}
	if b.Type == "error" {
		m.end = "error"
	}
	for _, raw := range b.Content {
		c, err := block(raw)
		if err != nil {
			return nil, err
		}
		c.stopped = true
		m.blocks = append(m.blocks, c)
	}
	stop := ""
	if b.Stop != nil {
		stop = *b.Stop
	}
	m.stops = []string{stop}
	return m, m.check()
}

// canonical returns the arguments as a value, without regard to spaces and escapes.
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
