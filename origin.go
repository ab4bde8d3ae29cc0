package stopgate

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
	// Doubt is the code of the reason why the origin is not known, "" if it is.
	Doubt Code `json:"doubt,omitempty"`
}
