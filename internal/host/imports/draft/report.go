package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// File is a file of rules.
type File struct {
	Name string
	Text []byte
}

// Options describe where the rules apply.
type Options struct {
	// Root is the absolute directory in which the agent works.
	Root string
	// Mode is the mode of Gemini CLI whose rules are converted, "" for default.
	Mode string
	// Extend reads the files that a pattern in a file of JP names, relative to that file. Nil reads
	// none.
	Extend func(file, pattern string) ([]File, error)
}

// Outcome is the result of converting a rule.
type Outcome string

// The outcomes.
const (
	Same     Outcome = "same"     // the policy decides the same
	Stricter Outcome = "stricter" // the policy permits less, or refuses more
	LeftOut  Outcome = "left_out" // the rule is not in the policy, which is no weaker without it
)

// SourceRule is one rule of the source with its outcome.
type SourceRule struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Text     string  `json:"rule"`     // as written in the source
	Decision string  `json:"decision"` // in the host's word
	Outcome  Outcome `json:"outcome"`
	Note     string  `json:"note,omitempty"` // why it is not the same
}

// Stricter records that less is permitted than in the source.
func (r *SourceRule) Stricter(format string, args ...any) {
	if r.Outcome == Same {
		r.Outcome = Stricter
	}
	r.note(format, args...)
}

// LeftOut records that the rule is not in the policy.
func (r *SourceRule) LeftOut(format string, args ...any) {
	r.Outcome = LeftOut
	r.note(format, args...)
}

func (r *SourceRule) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case r.Note == "":
		r.Note = text
	case !slices.Contains(strings.Split(r.Note, "; "), text):
		r.Note += "; " + text
	}
}

// Result is a policy and the report of its conversion.
type Result struct {
	// Files are the names of the files of the source.
	Files []string
	// Policy is the text of the policy file.
	Policy []byte
	// Rules are the rules of the source in order.
	Rules []SourceRule
	// Notes are about the complete source: behaviour of its host besides its rules.
	Notes []string
	// Remarks are the remaining findings of a strict check of the policy, "" if there are none.
	Remarks string
}

// Error is a position in a source that cannot be parsed.
type Error struct {
	File    string
	Line    int
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Mode returns the mode of a host's word.
func Mode(word string) (m stopgate.Mode, known bool) {
	switch word {
	case "allow":
		return stopgate.Unattended, true
	case "ask", "ask_user", "prompt":
		return stopgate.Ask, true
	case "deny", "forbidden":
		return stopgate.Deny, true
	}
	return stopgate.Deny, false
}
