package occur

import (
	"bytes"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// A model reads a page as it is written. No value of it is lost because a browser would read another
// one, or none.
func TestPagesAsTheyAreWritten(t *testing.T) {
	const evil = "mallory@evil.example"
	for name, text := range map[string]string{
		"between inline tags":       "<p>Contact<b>" + evil + "</b>now",
		"after an inline tag":       "<p>write to x<i></i>" + evil,
		"name of an attribute":      "<b " + evil + ">hi</b>",
		"class":                     `<b class="` + evil + `">hi</b>`,
		"type":                      `<b type='` + evil + `'>hi</b>`,
		"attribute of a shown link": `<a href="/x" width="` + evil + `">hi</a>`,
		"repeated attribute":        `<a id="a" id="` + evil + `">hi</a>`,
		"attribute with entities":   `<b title="mallory&#64;evil.example">hi</b>`,
		"end tag":                   "<b>hi</b " + evil + ">",
		"unknown end tag":           "<b>hi</b></" + evil + ">",
		"doctype":                   "<!DOCTYPE " + evil + "><p>hi",
		"comment":                   "<p>hi<!--" + evil + "-->",
		"instruction":               "<p>hi<?" + evil + "?>",
		"tag in a selection":        "<p><select><b title=" + evil + "></select>",
		"nested form":               "<form><form title=" + evil + "></form></form>",
		"second body":               "<body title=a><body title=" + evil + ">",
		"after a set of frames":     "<frameset></frameset>write to " + evil,
		"tag without an end":        "<p>hi</p><b " + evil,
		"noscript":                  "<noscript><b title=" + evil + "></noscript>",
		"plain text":                "<p>write to " + evil,
	} {
		found := false
		for _, part := range Visible([]byte(text)) {
			Scan(part.Text, func(token Token) {
				found = found || token.Kind == flow.Email && bytes.Equal(token.Value, []byte(evil))
			})
		}
		if !found {
			t.Errorf("%s: %q loses the address", name, text)
		}
	}
}
