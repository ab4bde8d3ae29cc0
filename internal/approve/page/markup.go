package page

import (
	"html"
	"strings"
)

// constant is markup that stands in this program: a string that is a variable does not
// become one by itself.
type constant string

// markup writes HTML. What comes from outside goes through text or attr and nothing else,
// and is escaped there: it can be text between elements, or the value of an attribute in
// quotes, in which no markup begins and which no URL scheme can reach (see link).
type markup struct{ out strings.Builder }

func (m *markup) raw(c constant) { m.out.WriteString(string(c)) }

// text writes what a person reads.
func (m *markup) text(s string) { m.out.WriteString(html.EscapeString(s)) }

// attr writes an attribute into the element that raw left open: raw("<p"), attr, raw(">").
func (m *markup) attr(name constant, value string) {
	m.raw(" " + name + `="`)
	m.text(value)
	m.raw(`"`)
}

// link is a path below a constant one, as the value of href.
func (m *markup) link(base constant, escaped string) { m.attr("href", string(base)+escaped) }

// element writes an element without attributes that holds one text.
func (m *markup) element(tag constant, text string) {
	m.raw("<" + tag + ">")
	m.text(text)
	m.raw("</" + tag + ">")
}
