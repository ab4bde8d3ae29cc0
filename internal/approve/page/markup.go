package page

import (
	"html"
	"strings"
)

// constant is markup from the source code: a string variable is not converted to it implicitly.
type constant string

// markup writes HTML. Text from outside is only written by text or attr, which escape it: as text
// between elements, or as the value of a quoted attribute, which never holds a URL scheme (see
// link).
type markup struct{ out strings.Builder }

func (m *markup) raw(c constant) { m.out.WriteString(string(c)) }

// text writes text between elements.
func (m *markup) text(s string) { m.out.WriteString(html.EscapeString(s)) }

// attr writes an attribute into the element that raw left open: raw("<p"), attr, raw(">").
func (m *markup) attr(name constant, value string) {
	m.raw(" " + name + `="`)
	m.text(value)
	m.raw(`"`)
}

// link writes href with a path below a constant one.
func (m *markup) link(base constant, escaped string) { m.attr("href", string(base)+escaped) }

// element writes an element without attributes that contains a text.
func (m *markup) element(tag constant, text string) {
	m.raw("<" + tag + ">")
	m.text(text)
	m.raw("</" + tag + ">")
}
