package transcript

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/jsonstream"
)

// list is the list of messages so far.
type list struct{ messages []message }

// message is one message; parts are JSON objects, separated by commas.
type message struct {
	role  string
	parts []byte
}

// begin begins a message, or continues the last one if it has the same role.
func (l *list) begin(role string) *message {
	if n := len(l.messages); n > 0 && l.messages[n-1].role == role {
		return &l.messages[n-1]
	}
	return l.new(role)
}

func (l *list) new(role string) *message {
	l.messages = append(l.messages, message{role: role})
	return &l.messages[len(l.messages)-1]
}

// String returns the list as JSON: the newest messages that fit, or "" for an empty list.
func (l *list) String() string {
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

// part begins a part of a type; the caller must add "}".
func (m *message) part(kind string) {
	if len(m.parts) > 0 {
		m.parts = append(m.parts, ',')
	}
	m.parts = jsonstream.AppendQuote(append(m.parts, `{"type":`...), kind)
}

// member adds a text to the current part, unless it is empty.
func (m *message) member(name, text string) {
	if text != "" {
		m.parts = append(append(append(m.parts, `,"`...), name...), `":`...)
		m.parts = appendText(m.parts, text)
	}
}

func (m *message) end() { m.parts = append(m.parts, '}') }

// text adds a part with content, unless it is empty.
func (m *message) text(kind, text string) {
	if text != "" {
		m.part(kind)
		m.member("content", text)
		m.end()
	}
}

// call adds a call with its arguments, which may be incomplete.
func (w Writer) call(m *message, id, name string, args []byte) {
	m.part("tool_call")
	m.member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	if args = bytes.TrimSpace(args); len(args) > 0 {
		m.parts = append(m.parts, `,"arguments":`...)
		n := len(m.parts)
		if m.parts = w.value(m.parts, args); len(m.parts) == n {
			// Not JSON: free text or incomplete arguments. Values cannot be hidden in the latter.
			m.parts = append(m.parts, `"[not complete]"`...)
		}
	}
	m.end()
}

// input adds a call whose argument is free text.
func (m *message) input(id, name, text string) {
	m.part("tool_call")
	m.member("id", id)
	m.parts = jsonstream.AppendQuote(append(m.parts, `,"name":`...), name)
	m.member("arguments", text)
	m.end()
}

// result adds the result of a call, a text or any other value.
func (w Writer) result(m *message, id string, v jsonstream.Value) {
	m.part("tool_call_response")
	m.member("id", id)
	m.parts = append(m.parts, `,"response":`...)
	switch n := len(m.parts); {
	case !v.IsValid():
		m.parts = append(m.parts, "null"...)
	default:
		if m.parts = w.value(m.parts, w.plain(v)); len(m.parts) == n {
			m.parts = append(m.parts, "null"...)
		}
	}
	m.end()
}

// plain returns a result as JSON: the texts in a list of parts are joined, and images are only
// named.
func (w Writer) plain(v jsonstream.Value) []byte {
	if v.Kind() != jsonstream.Array {
		return v.Raw()
	}
	var texts []string
	for _, part := range elements(v) {
		if text := get(part, "text"); text.Kind() == jsonstream.String {
			shown, _ := parse(w.Hide.Append(nil, text)) // a single text may be JSON, the joined text is not
			texts = append(texts, textOf(shown))
			continue
		}
		texts = append(texts, "["+cmp.Or(textOf(part, "type"), "something else")+"]")
	}
	return jsonstream.AppendQuote(nil, strings.Join(texts, "\n"))
}

// media adds an image, audio or file: its address if it has one, and never its bytes.
func (m *message) media(modality, address, mime string) {
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
	m.part(kind)
	m.member("modality", modality)
	m.member("mime_type", mime)
	if address != "" {
		m.member("uri", address)
	} else {
		m.parts = append(m.parts, `,"content":""`...)
	}
	m.end()
}

// other adds a part of which only the type is known.
func (m *message) other(v jsonstream.Value) {
	if kind := textOf(v, "type"); kind != "" {
		m.part(kind)
		m.end()
	}
}

// system returns the instructions outside the conversation: a text, or a list of parts.
func (w Writer) system(root jsonstream.Value, name string) string {
	var m message
	v := get(root, name)
	m.text("text", textOf(v))
	for _, part := range elements(v) {
		m.text("text", textOf(part, "text"))
	}
	if len(m.parts) == 0 {
		return ""
	}
	return "[" + string(m.parts) + "]"
}

// maxTools bounds the declared tools in the output.
const maxTools = 128

// tools lists the types and names of the declared tools of any API.
func tools(root jsonstream.Value) string {
	b := []byte{'['}
	for i, t := range elements(get(root, "tools")) {
		if i == maxTools {
			break
		}
		kind := cmp.Or(textOf(t, "type"), "function")
		name := cmp.Or(textOf(t, "name"), textOf(t, kind, "name"), kind)
		if kind == "custom" && get(t, "input_schema").IsValid() {
			kind = "function" // the name of the type at Anthropic
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonstream.AppendQuote(append(b, `{"type":`...), kind)
		b = append(jsonstream.AppendQuote(append(b, `,"name":`...), name), '}')
	}
	if len(b) == 1 {
		return ""
	}
	return string(append(b, ']'))
}
