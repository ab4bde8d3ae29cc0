package transcript

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// List is the list of messages so far.
type List struct{ messages []Message }

// Message is one message; parts are JSON objects, separated by commas.
type Message struct {
	role  string
	parts []byte
}

// Begin begins a message, or continues the last one if it has the same role.
func (l *List) Begin(role string) *Message {
	if n := len(l.messages); n > 0 && l.messages[n-1].role == role {
		return &l.messages[n-1]
	}
	return l.New(role)
}

// New begins a message.
func (l *List) New(role string) *Message {
	l.messages = append(l.messages, Message{role: role})
	return &l.messages[len(l.messages)-1]
}

// Role returns the role of a message.
func (m *Message) Role() string { return m.role }

// Len returns the number of messages.
func (l *List) Len() int { return len(l.messages) }

// Reset removes all messages.
func (l *List) Reset() { l.messages = nil }

// String returns the list as JSON: the newest messages that fit, or "" for an empty list.
func (l *List) String() string {
	first, size := len(l.messages), 0
	for first > 0 {
		if size += len(l.messages[first-1].parts) + 32; size > MaxMessages {
			break
		}
		first--
	}
	if first == len(l.messages) {
		return ""
	}
	b := []byte{'['}
	for i := first; i < len(l.messages); i++ {
		if i > first {
			b = append(b, ',')
		}
		m := &l.messages[i]
		b = jsonstream.AppendQuote(append(b, `{"role":`...), m.role)
		b = append(append(append(b, `,"parts":[`...), m.parts...), "]}"...)
	}
	return string(append(b, ']'))
}

// Part begins a part of a type; the caller must add "}".
func (m *Message) Part(kind string) {
	if len(m.parts) > 0 {
		m.parts = append(m.parts, ',')
	}
	m.parts = jsonstream.AppendQuote(append(m.parts, `{"type":`...), kind)
}

// Member adds a text to the current part, unless it is empty.
func (m *Message) Member(name, text string) {
	if text != "" {
		m.parts = append(append(append(m.parts, `,"`...), name...), `":`...)
		m.parts = appendText(m.parts, text)
	}
}

// End ends the current part.
func (m *Message) End() { m.parts = append(m.parts, '}') }

// Text adds a part with content, unless it is empty.
func (m *Message) Text(kind, text string) {
	if text != "" {
		m.Part(kind)
		m.Member("content", text)
		m.End()
	}
}

// Call adds a call with its arguments, which may be incomplete.
func (w Writer) Call(m *Message, id, name string, args []byte) {
	m.Part("tool_call")
	m.Member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	if args = bytes.TrimSpace(args); len(args) > 0 {
		m.parts = append(m.parts, `,"arguments":`...)
		n := len(m.parts)
		if m.parts = w.value(m.parts, args); len(m.parts) == n {
			// Not JSON: free text or incomplete arguments. Values cannot be hidden in the latter.
			m.parts = append(m.parts, `"[not complete]"`...)
		}
	}
	m.End()
}

// Input adds a call whose argument is free text.
func (m *Message) Input(id, name, text string) {
	m.Part("tool_call")
	m.Member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	m.Member("arguments", text)
	m.End()
}

// Result adds the result of a call, a text or any other value.
func (w Writer) Result(m *Message, id string, v jsonstream.Value) {
	m.Part("tool_call_response")
	m.Member("id", id)
	m.parts = append(m.parts, `,"response":`...)
	switch n := len(m.parts); {
	case !v.IsValid():
		m.parts = append(m.parts, "null"...)
	default:
		if m.parts = w.value(m.parts, w.plain(v)); len(m.parts) == n {
			m.parts = append(m.parts, "null"...)
		}
	}
	m.End()
}

// Arguments returns the text of arguments, which some servers send as an object.
func Arguments(v jsonstream.Value) []byte {
	if v.Kind() == jsonstream.String {
		return v.AppendText(nil)
	}
	return v.Raw()
}

// plain returns a result as JSON: the texts in a list of parts are joined, and images are only
// named.
func (w Writer) plain(v jsonstream.Value) []byte {
	if v.Kind() != jsonstream.Array {
		return v.Raw()
	}
	var texts []string
	for _, part := range Elements(v) {
		if text := Get(part, "text"); text.Kind() == jsonstream.String {
			shown, _ := Parse(w.Hide.Append(nil, text)) // a single text may be JSON, the joined text is not
			texts = append(texts, TextOf(shown))
			continue
		}
		texts = append(texts, "["+cmp.Or(TextOf(part, "type"), "something else")+"]")
	}
	return jsonstream.AppendQuote(nil, strings.Join(texts, "\n"))
}

// ServerCall adds a call that runs at the provider.
func (w Writer) ServerCall(m *Message, id, name, kind string, args []byte) {
	m.Part("server_tool_call")
	m.Member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"server_tool_call":{"type":`...), kind)
	n := len(m.parts)
	m.parts = append(m.parts, `,"arguments":`...)
	if full := len(m.parts); len(args) == 0 || len(w.value(m.parts, args)) == full {
		m.parts = m.parts[:n]
	} else {
		m.parts = w.value(m.parts, args)
	}
	m.parts = append(m.parts, '}')
	m.End()
}

// Media adds an image, audio or file: its address if it has one, and never its bytes.
func (m *Message) Media(modality, address, mime string) {
	if rest, inline := strings.CutPrefix(address, "data:"); inline {
		address = ""
		if mime == "" {
			mime, _, _ = strings.Cut(rest, ";")
			mime, _, _ = strings.Cut(mime, ",")
		}
	}
	kind := "uri"
	if address == "" {
		kind = "blob"
	}
	m.Part(kind)
	m.Member("modality", modality)
	m.Member("mime_type", mime)
	if address != "" {
		m.Member("uri", address)
	} else {
		m.parts = append(m.parts, `,"content":""`...)
	}
	m.End()
}

// Other adds a part of which only the type is known.
func (m *Message) Other(v jsonstream.Value) {
	if kind := TextOf(v, "type"); kind != "" {
		m.Part(kind)
		m.End()
	}
}

// System returns the instructions outside the conversation: a text, or a list of parts.
func (w Writer) System(root jsonstream.Value, name string) string {
	var m Message
	v := Get(root, name)
	m.Text("text", TextOf(v))
	for _, part := range Elements(v) {
		m.Text("text", TextOf(part, "text"))
	}
	if len(m.parts) == 0 {
		return ""
	}
	return "[" + string(m.parts) + "]"
}

// maxTools bounds the declared tools in the output.
const maxTools = 128

// Tool is a declared tool.
type Tool struct{ Type, Name string }

// typedTools reads tools that have a type and a name.
func typedTools(root jsonstream.Value) (list []Tool) {
	for _, t := range Elements(Get(root, "tools")) {
		kind := cmp.Or(TextOf(t, "type"), "function")
		name := cmp.Or(TextOf(t, "name"), TextOf(t, kind, "name"), kind)
		if kind == "custom" && Get(t, "input_schema").IsValid() {
			kind = "function" // the name of the type at Anthropic
		}
		list = append(list, Tool{kind, name})
	}
	return list
}

// tools returns the declared tools as JSON.
func tools(list []Tool) string {
	if len(list) == 0 {
		return ""
	}
	b := []byte{'['}
	for i, t := range list[:min(len(list), maxTools)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonstream.AppendQuote(append(b, `{"type":`...), t.Type)
		b = append(jsonstream.AppendQuote(append(b, `,"name":`...), t.Name), '}')
	}
	return string(append(b, ']'))
}
