package stopgate

import "strings"

// Origin is where the value of an argument comes from, as a condition on origins found it. It has
// no part of the value or of a text.
type Origin struct {
	// Pointer is the RFC 6901 pointer of the value.
	Pointer string `json:"pointer"`
	// Source is the source of the first text in which the value occurs, "" if it occurs in none:
	// then the model made it.
	Source string `json:"source,omitempty"`
	// Tool and Call are those of the result that the text is from, and Field the pointer of the
	// text in a structured result.
	Tool  ToolName `json:"tool,omitempty"`
	Call  CallID   `json:"call,omitempty"`
	Field string   `json:"field,omitempty"`
	// Text identifies the text in its session: a hash of its position.
	Text string `json:"text,omitempty"`
	// Wanted are the sources that the condition names, and Not is set if the value must be from
	// none of them. Held reports whether the condition holds.
	Wanted []string `json:"wanted,omitempty"`
	Not    bool     `json:"not,omitempty"`
	Held   bool     `json:"held,omitempty"`
	// Reading is set if only a reading of the value, such as another spelling, is from the wanted
	// sources: that text is then the first one.
	Reading bool `json:"reading,omitempty"`
	// Doubt is the code of the reason why the origin is not known, "" if it is.
	Doubt Code `json:"doubt,omitempty"`
}

// Sentence describes the origin for people, without the point at its end:
//
//	`/recipients/1` = mallory@evil.example: first seen in the result of read_email (call_3), not in what you wrote
//
// value is the text of the value, "" where values are not shown.
func (o Origin) Sentence(value string) string {
	text := "`" + o.Pointer + "`"
	if value != "" {
		text += " = " + value
	}
	switch text += ": "; {
	case o.Reading:
		return text + "only another reading of it is in " + o.seenIn()
	case o.Source != "":
		text += "first seen in " + o.seenIn()
	case o.Doubt == CodeOriginBudget:
		text += "not known where it is from, because the session has more text than the gate keeps"
	case o.Doubt != "":
		text += "not known where it is from, because not all texts of the conversation are reported"
	default:
		text += "in no text of the conversation: the model made it"
	}
	if o.Held == o.Not && o.Doubt == "" && len(o.Wanted) > 0 {
		text += ", not in " + sources(o.Wanted)
	}
	return text
}

// seenIn names the text in which the value was seen first.
func (o Origin) seenIn() string {
	switch {
	case o.Tool == "":
		return sources([]string{o.Source})
	case o.Call == "":
		return "a result of " + string(o.Tool)
	}
	return "the result of " + string(o.Tool) + " (" + string(o.Call) + ")"
}

// sources names the texts of some sources.
func sources(names []string) string {
	var texts []string
	for _, name := range names {
		switch name {
		case "user":
			name = "what you wrote"
		case "system":
			name = "the operator's instructions"
		case "tool":
			name = "a result"
		case "hidden":
			name = "hidden text"
		case "untrusted":
			name = "text that anybody may have written"
		default:
			name = "a text of " + name
		}
		texts = append(texts, name)
	}
	return strings.Join(texts, " or ")
}
