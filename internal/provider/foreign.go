package provider

import "github.com/stopgate/stopgate/jsonstream"

// ReadContent returns the text of content that is a string, a list of parts or one part. JSON of
// any other form is its own text. opaque reports that the content also has parts that are no text
// for the gate: media, references to files, encrypted results.
func ReadContent(content jsonstream.Value) (text []byte, opaque bool) {
	switch {
	case content.Kind() == jsonstream.String:
		return content.AppendText(nil), false
	case !isParts(content):
		return content.Raw(), false
	}
	var c contentReader
	c.read("", content)
	return c.text, c.opaque
}

// isParts reports whether a value is a typed object or a list of typed objects.
func isParts(v jsonstream.Value) bool {
	if v.Kind() == jsonstream.Object {
		typ, _ := v.Get("type")
		return typ.Kind() == jsonstream.String
	}
	if v.Kind() != jsonstream.Array {
		return false
	}
	for part := range v.Elements() {
		if part.Kind() != jsonstream.Object || !isParts(part) {
			return false
		}
	}
	return true
}

// contentReader collects the strings of parts, one a line.
type contentReader struct {
	text   []byte
	opaque bool
}

// read adds the texts of a value that is a member with this name.
func (c *contentReader) read(name string, v jsonstream.Value) {
	switch v.Kind() {
	case jsonstream.String:
		if hiddenMembers[name] {
			c.opaque = true
			return
		}
		c.line()
		c.text = v.AppendText(c.text)
	case jsonstream.Number:
		c.line()
		c.text = append(c.text, v.Raw()...)
	case jsonstream.Array:
		for element := range v.Elements() {
			c.read(name, element)
		}
	case jsonstream.Object:
		c.object(v)
	}
}

func (c *contentReader) object(v jsonstream.Value) {
	typ, typed := v.Get("type")
	if text, ok := plainText(v); ok && typed {
		c.read("", text)
		return
	}
	if media[typ.Text()] {
		c.opaque = true
		return
	}
	for k, member := range v.Members() {
		switch name := string(Key(k)); {
		case labels[name]:
		case name == "data" && typ.IsText("text"): // the source of a document that is text
			c.read("", member)
		default:
			c.read(name, member)
		}
	}
}

func (c *contentReader) line() {
	if len(c.text) > 0 {
		c.text = append(c.text, '\n')
	}
}

// media are the types of parts that have no text, of all dialects.
var media = map[string]bool{
	"image": true, "image_url": true, "input_image": true, "computer_screenshot": true, "audio": true, "input_audio": true, "output_audio": true,
	"video": true, "video_url": true, "input_video": true, "file": true, "input_file": true, "container_upload": true,
}

// hiddenMembers are the members of parts whose strings stand for content that the gate does not have.
var hiddenMembers = map[string]bool{
	"data": true, "encrypted_content": true, "encrypted_index": true, "encrypted_stdout": true, "file_id": true, "file_data": true, "file_url": true,
	"file_uri": true, "fileUri": true, "image_url": true, "b64_json": true, "blob": true,
}

// labels are the members of parts that are not content.
var labels = map[string]bool{"type": true, "cache_control": true, "tool_use_id": true, "media_type": true, "mimeType": true}
