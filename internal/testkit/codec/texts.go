package codec

import (
	"strings"

	"github.com/stopgate/stopgate/internal/provider"
)

// Texts lists the texts of a request, one a line: the source, or the id of the call of a result, and
// the text. "+" marks content that is no text for the gate, "incomplete" a request whose provider has
// more texts.
func Texts(r *provider.Request) string {
	var lines []string
	for i := range r.Texts {
		t := &r.Texts[i]
		who := string(t.Source)
		if t.IsResult() {
			who = string(r.History[t.Call].Call) + ":" + string(r.History[t.Call].Tool)
		}
		text, opaque := t.Read(r.History)
		line := who + " " + strings.ReplaceAll(string(text), "\n", "|")
		if opaque {
			line += "+"
		}
		lines = append(lines, line)
	}
	if r.Incomplete {
		lines = append(lines, "incomplete")
	}
	return strings.Join(lines, "\n")
}
