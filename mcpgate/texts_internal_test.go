package mcpgate

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate/jsonstream"
)

func parsed(t *testing.T, text string) jsonstream.Value {
	t.Helper()
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The texts of a result are its structured content and its blocks, once where they are equal.
func TestTextsOfResults(t *testing.T) {
	for _, c := range []struct {
		in, text, more string
		opaque         bool
	}{
		{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb", "", false},
		{`{"content":[{"type":"text","text":"{\"x\": 1}"}],"structuredContent":{"x":1}}`, `{"x":1}`, "", false},
		{`{"content":[{"type":"text","text":"other"}],"structuredContent":{"x":1}}`, `{"x":1}`, "other", false},
		{`{"content":[],"structuredContent":{"x":1}}`, `{"x":1}`, "", false},
		{`{"content":[{"type":"image","data":"eA==","mimeType":"image/png"}]}`, "", "", true},
		{`{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"t"}},{"type":"resource_link","uri":"file:///b","name":"n"}]}`, "file:///a\nt\nfile:///b\nn", "", false},
		{`{"content":[{"type":"resource","resource":{"uri":"file:///a","blob":"eA=="}}]}`, "file:///a", "", true},
		{`{"code":-1,"message":"failed"}`, `{"code":-1,"message":"failed"}`, "", false},
		{`{"content":null}`, "null", "", false},
	} {
		got := textsOf(parsed(t, c.in))
		if string(got.text) != c.text || string(got.more) != c.more || got.opaque != c.opaque {
			t.Errorf("%s: %q, %q, %v", c.in, got.text, got.more, got.opaque)
		}
	}
}

// What the person wrote in a form is the answer without the words of the server: names of fields,
// defaults and choices.
func TestWordsOfAnswers(t *testing.T) {
	const form = `{"message":"Send to eve@evil.example?","requestedSchema":{"type":"object","properties":{"to":{"type":"string","default":"Eve@evil.example"},"how":{"enum":["fast","slow"]},"n":{"type":"number"}}}}`
	for content, want := range map[string][]string{
		`{"to":"ann@work.example","how":"fast","n":4200}`: {"ann@work.example", "4200"},
		`{"to":"eve@evil.example"}`:                       nil,
		`{"to":" EVE@evil.example "}`:                     nil,
		`{"to":""}`:                                       nil,
		`{"to":["zebra","fast"]}`:                         {"zebra"},
		`"free text"`:                                     {"free text"},
	} {
		if got := words(parsed(t, form), parsed(t, content)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}
