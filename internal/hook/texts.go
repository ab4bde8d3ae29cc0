package hook

import (
	"regexp"
	"sync"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
)

// readPrompt reads the text of a prompt, in the event or in a member of it.
func (h *Host) readPrompt(e *Event, root, inner jsonstream.Value) {
	v := first(inner, h.fields.prompt)
	if v.Kind() != jsonstream.String {
		v = first(root, h.fields.prompt)
	}
	if v.Kind() != jsonstream.String {
		return
	}
	e.Prompt = v.AppendText([]byte{})
	e.Typed = !e.Delegated && (h.typed == nil || h.typed(root))
}

// Gaps describes for people what a hook of this host cannot prevent, and which texts of a session it
// does not receive.
func (h *Host) Gaps() []string {
	gaps := h.Limitations[:len(h.Limitations):len(h.Limitations)]
	if h.Reports&flow.KnowsUser == 0 {
		gaps = append(gaps, "prompts are not reported completely: conditions on what the person wrote are in doubt")
	}
	if h.Reports&flow.KnowsResults == 0 {
		gaps = append(gaps, "results are not reported completely: conditions on where values come from are in doubt where a text may be missing")
	}
	return gaps
}

// promptTexts are the texts of a prompt. One that no person wrote, such as the report of a sub-agent
// in the background, is content of an unknown author.
func (h *Host) promptTexts(e *Event) (t gate.Texts) {
	switch {
	case e.Prompt == nil:
		return t
	case e.Typed:
		t.List = append(t.List, gate.Text{Message: &flow.Message{Source: flow.User, Text: e.Prompt}})
	default:
		t.List = append(t.List, gate.Text{Message: &flow.Message{Source: flow.Tool, Text: e.Prompt}})
	}
	t.Known = h.Reports
	if h.AttachTool != "" && attachment().Match(e.Prompt) {
		t.List = append(t.List, gate.Text{Result: &flow.Result{Tool: h.AttachTool, Opaque: true}})
	}
	return t
}

// attachment matches the name of a file, or of another thing, that a host adds to a prompt.
var attachment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s("'\[])@[^\s@]`) })

// isMedia reports whether a result has content that is no text for the gate, such as an image.
func isMedia(result []byte) bool {
	v, err := jsonstream.Parse(result, jsonstream.Options{MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	return err == nil && hasMedia(v)
}

// hasMedia reports whether a result has a part that is an image, a sound or a file.
func hasMedia(v jsonstream.Value) bool {
	switch v.Kind() {
	case jsonstream.Array:
		for element := range v.Elements() {
			if hasMedia(element) {
				return true
			}
		}
	case jsonstream.Object:
		switch typ, _ := v.Get("type"); typ.Text() {
		case "image", "audio", "video", "pdf", "document", "image_url", "input_image":
			return true
		}
		for k, member := range v.Members() {
			switch name := k.Text(); {
			case (name == "base64" || name == "blob" || name == "inlineData" || name == "fileData") && member.Kind() != jsonstream.Null:
				return true
			case hasMedia(member):
				return true
			}
		}
	}
	return false
}
