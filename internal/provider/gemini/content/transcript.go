package content

import (
	"cmp"
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini/wire"
	"github.com/stopgate/stopgate/internal/provider/transcript"
	"github.com/stopgate/stopgate/jsonstream"
)

// Transcript converts conversations for telemetry.
var Transcript = transcript.Format{
	Request: func(w transcript.Writer, l *transcript.List, root jsonstream.Value) (system string) {
		contents, _ := wire.Get(root, "contents")
		for _, m := range transcript.Elements(contents) {
			writeContent(w, l, m)
		}
		instruction, _ := wire.Get(root, "systemInstruction")
		return w.System(instruction, "parts")
	},
	Body:   writeBody,
	Stream: writeStream,
	Tools:  declaredTools,
}

// writeContent writes a message. Its results are a message of their own.
func writeContent(w transcript.Writer, l *transcript.List, content jsonstream.Value) {
	role := cmp.Or(transcript.TextOf(content, "role"), "user")
	if role == "model" {
		role = "assistant"
	}
	var m, results *transcript.Message
	parts, _ := wire.Get(content, "parts")
	for _, part := range transcript.Elements(parts) {
		if result, ok := wire.Get(part, "functionResponse"); ok {
			if results == nil {
				results, m = l.New("tool"), nil
			}
			response, _ := wire.Get(result, "response")
			w.Result(results, cmp.Or(transcript.TextOf(result, "id"), transcript.TextOf(result, "name")), response)
			continue
		}
		if m == nil {
			m, results = l.New(role), nil
		}
		writePart(w, m, part)
	}
}

func writePart(w transcript.Writer, m *transcript.Message, part jsonstream.Value) {
	kind, name := wire.KindOf(part)
	call, isCall := wire.Get(part, "functionCall")
	thought, _ := part.Get("thought")
	switch {
	case isCall:
		args, _ := wire.Get(call, "args")
		raw := args.Raw()
		if len(raw) == 0 {
			raw = []byte("{}")
		}
		w.Call(m, transcript.TextOf(call, "id"), transcript.TextOf(call, "name"), raw)
	case kind == wire.Provider:
		w.ServerCall(m, "", name, name, nil)
	case kind == wire.Unknown:
		m.Part(name)
		m.End()
	case thought.Kind() == jsonstream.True:
		m.Text("reasoning", transcript.TextOf(part, "text"))
	default:
		m.Text("text", transcript.TextOf(part, "text"))
		for _, member := range [...]string{"inlineData", "fileData"} {
			if data, ok := wire.Get(part, member); ok {
				mime, _ := wire.Get(data, "mimeType")
				uri, _ := wire.Get(data, "fileUri")
				modality, _, _ := strings.Cut(mime.Text(), "/")
				m.Media(modality, uri.Text(), mime.Text())
			}
		}
	}
}

// writeBody writes a response, or a list of responses.
func writeBody(w transcript.Writer, l *transcript.List, data []byte) {
	root, _ := transcript.Parse(data)
	responses := []jsonstream.Value{root}
	if root.Kind() == jsonstream.Array {
		responses = transcript.Elements(root)
	}
	writeResponses(w, l, responses)
}

func writeStream(w transcript.Writer, l *transcript.List, data []byte) {
	merged := joinedTexts{}
	transcript.Each(data, func(root jsonstream.Value) { merged.add(root) })
	merged.write(w, l)
}

func writeResponses(w transcript.Writer, l *transcript.List, responses []jsonstream.Value) {
	merged := joinedTexts{}
	for _, r := range responses {
		merged.add(r)
	}
	merged.write(w, l)
}

// maxCandidates limits the candidates of one response; the API offers eight.
const maxCandidates = 128

// joinedTexts are the parts of the candidates, with the texts of neighbouring parts joined.
type joinedTexts struct{ candidates []*joinedCandidate }

type joinedCandidate struct {
	number int
	parts  [][]byte
	text   strings.Builder // text of the last parts, not yet in parts
	kind   bool            // the text is a thought
}

func (j *joinedTexts) add(root jsonstream.Value) {
	for _, v := range transcript.Elements(transcript.Get(root, "candidates")) {
		number, _ := provider.SmallInt(transcript.Get(v, "index"))
		c := j.candidate(number)
		for _, part := range transcript.Elements(transcript.Get(v, "content", "parts")) {
			text := transcript.Get(part, "text")
			thought := transcript.Get(part, "thought").Kind() == jsonstream.True
			if text.Kind() == jsonstream.String {
				if thought != c.kind {
					c.flush()
				}
				c.kind = thought
				c.text.WriteString(text.Text())
				continue
			}
			c.flush()
			c.parts = append(c.parts, append([]byte(nil), part.Raw()...))
		}
	}
}

func (j *joinedTexts) candidate(number int) *joinedCandidate {
	for _, c := range j.candidates {
		if c.number == number {
			return c
		}
	}
	c := &joinedCandidate{number: number}
	if len(j.candidates) < maxCandidates {
		j.candidates = append(j.candidates, c)
	}
	return c
}

// flush ends a text.
func (c *joinedCandidate) flush() {
	if c.text.Len() == 0 {
		return
	}
	part := jsonstream.AppendQuote([]byte(`{"text":`), c.text.String())
	if c.kind {
		part = append(part, `,"thought":true`...)
	}
	c.parts = append(c.parts, append(part, '}'))
	c.text.Reset()
}

func (j *joinedTexts) write(w transcript.Writer, l *transcript.List) {
	for _, c := range j.candidates {
		c.flush()
		m := l.New("assistant")
		for _, raw := range c.parts {
			if part, ok := transcript.Parse(raw); ok {
				writePart(w, m, part)
			}
		}
	}
}

// declaredTools lists the functions and the tools of the provider.
func declaredTools(root jsonstream.Value) (list []transcript.Tool) {
	tools, _ := wire.Get(root, "tools")
	for _, tool := range transcript.Elements(tools) {
		for k, v := range tool.Members() {
			name := wire.Camel(string(provider.Key(k)))
			if name != "functionDeclarations" {
				list = append(list, transcript.Tool{Type: name, Name: name})
				continue
			}
			for _, f := range transcript.Elements(v) {
				list = append(list, transcript.Tool{Type: "function", Name: transcript.TextOf(f, "name")})
			}
		}
	}
	return list
}
