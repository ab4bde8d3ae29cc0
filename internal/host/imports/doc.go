// Package imports says the permission rules of coding agents as a policy of stopgate.
//
//	result, err := imports.Claude([]imports.File{{Name: ".claude/settings.json", Text: text}}, imports.Options{Root: "/srv/proj"})
//	...
//	os.Stdout.Write(result.Policy)
//	for _, r := range result.Rules {
//		fmt.Println(r.Text, r.Outcome, r.Note)
//	}
//
// What it promises:
//
//   - No call gets a weaker verdict from the policy than from the rules that it was made
//     of. What cannot be said exactly is said more strictly: a rule that permits is made
//     narrower or left out, a rule that restricts is made wider. Commands are compared
//     as a shell reads them: blanks, and quotes around a plain word, make no difference.
//   - Every rule of the source is in the report, with what became of it. A rule that is
//     reported as the same decides the same for every call that is plainly written.
//   - The policy is in its canonical layout, and what a strict check would not accept is
//     not in it: it is in the report.
//   - A source that cannot be read to its end is an error: half of the rules could be the
//     half that permits.
//
// It knows texts, not disks.
package imports

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

// Options say where the rules hold.
type Options struct {
	// Root is the absolute directory in which the agent works.
	Root string
	// Mode is the mode of Gemini CLI whose rules are meant, "" for default.
	Mode string
}

// Outcome says what became of a rule.
type Outcome string

// The outcomes.
const (
	Same     Outcome = "same"     // the policy decides the same
	Stricter Outcome = "stricter" // the policy permits less, or refuses more
	LeftOut  Outcome = "left_out" // nothing of it is in the policy, which is no weaker without it
)

// Rule is one rule of the source, and what became of it.
type Rule struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Text     string  `json:"rule"`     // as it is written there
	Decision string  `json:"decision"` // in the host's word
	Outcome  Outcome `json:"outcome"`
	Note     string  `json:"note,omitempty"` // why it is not the same
}

// stricter notes that less is permitted than the source says.
func (r *Rule) stricter(format string, args ...any) {
	if r.Outcome == Same {
		r.Outcome = Stricter
	}
	r.note(format, args...)
}

// leftOut notes that nothing of the rule is in the policy.
func (r *Rule) leftOut(format string, args ...any) {
	r.Outcome = LeftOut
	r.note(format, args...)
}

func (r *Rule) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case r.Note == "":
		r.Note = text
	case !slices.Contains(strings.Split(r.Note, "; "), text):
		r.Note += "; " + text
	}
}

// Result is a policy and how it came about.
type Result struct {
	// Policy is the text of the policy file.
	Policy []byte
	// Rules are the rules of the source in their order.
	Rules []Rule
	// Notes are about the source as a whole: what its host does besides its rules.
	Notes []string
	// Remarks are what a strict check still has to say about the policy, for people; ""
	// if it has nothing to say.
	Remarks string
}

// Error is a place in a source that cannot be read.
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

// words are the modes of the hosts' words.
func mode(word string) (m stopgate.Mode, known bool) {
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
