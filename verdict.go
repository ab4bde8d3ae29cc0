package stopgate

import "fmt"

// Mode is the answer of a rule. The zero value is [Deny]; smaller is stricter
// (K6), and only [Strictest] compares two modes.
type Mode uint8

// The modes from strictest to weakest.
const (
	Deny       Mode = iota // the call does not run; the model gets an error
	Skip                   // the call does not run; a soft refusal, not an error
	Edit                   // a person edits the arguments before the call runs
	Ask                    // a person approves the call before it runs
	Unattended             // the call runs
)

var modeNames = [...]string{"deny", "skip", "edit", "ask", "unattended"}

// String spells the mode as the policy language does. An invalid mode is treated,
// and printed, as "deny".
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return modeNames[Deny]
}

// ParseMode reads a mode as the policy language spells it.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if s == name {
			return Mode(i), nil
		}
	}
	return Deny, fmt.Errorf("unknown mode %q: want unattended, ask, edit, skip or deny", s)
}

// MarshalText spells the mode for JSON and logs.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses the text of MarshalText.
func (m *Mode) UnmarshalText(text []byte) error {
	mode, err := ParseMode(string(text))
	*m = mode
	return err
}

// Permissive reports whether the call may run without a person.
func (m Mode) Permissive() bool { return m == Unattended }

// Terminal reports whether the mode ends a call at the byte that caused it:
// nothing that arrives later changes it (K7).
func (m Mode) Terminal() bool { return m != Unattended && m != Ask && m != Edit }

// Strictest returns the stricter of two modes. Layers combine with it.
func Strictest(a, b Mode) Mode {
	if a < b {
		return a
	}
	return b
}

// Layer names the part of the pipeline that decided.
type Layer string

// The layers in the order of their precedence at one byte (S30).
const (
	LayerIntegrity Layer = "integrity"
	LayerGate      Layer = "gate"
	LayerSession   Layer = "session"
	LayerFloor     Layer = "floor"
	LayerGuard     Layer = "guard"
	LayerRules     Layer = "rules"
	LayerJudge     Layer = "judge"
	LayerApproval  Layer = "approval"
	LayerFailure   Layer = "failure" // a part of the gate itself failed
)

// RuleRef names one rule of a policy file.
type RuleRef struct {
	File  string `json:"file"`
	Line  int    `json:"line"`  // 1-based
	Index int    `json:"index"` // 0-based position in its list
	ID    RuleID `json:"id,omitempty"`
}

// ImplicitAsk is the index in [Verdict.Candidates] of the implicit ask at the end
// of a list (D25).
const ImplicitAsk = -1

// Floor is a lower bound on strictness that a value raised, independent of the rules.
type Floor struct {
	Mode    Mode   `json:"mode"`
	Code    Code   `json:"code"`
	Pointer string `json:"pointer,omitempty"`
	At      int64  `json:"at"` // byte offset that showed it
}

// Verdict is a mode with its reason. The zero Verdict is undecided ("waiting") and
// its mode is Deny.
type Verdict struct {
	Decided bool
	Mode    Mode
	Layer   Layer
	Code    Code
	// Rule is the rule that decided, nil if none did or if it is not known yet.
	Rule *RuleRef
	// Candidates are the indexes of the rules that may still decide, in list order, when
	// the verdict was reached because every possible outcome has the same mode (K9).
	// ImplicitAsk may be among them.
	Candidates []int
	// Pointer is the RFC 6901 pointer of the value that decided, if one did.
	Pointer string
	// Segment is the simple command that decided, if the value has several.
	Segment *Segment
	// DecidedAt is the number of argument bytes after which the verdict was
	// determined: 0 before any byte (K16).
	DecidedAt int64
	// Public is the sentence for models and people: no argument values, no internals.
	Public string
	// Floors lists every floor seen so far, in byte order.
	Floors []Floor
}

// Segment names one of several simple commands of a value: those that a command line lists,
// each followed by the commands that it runs (K29).
type Segment struct {
	Index int `json:"index"` // from 0, in text order
	Of    int `json:"of"`
	// Text is the words of the command, separated by one blank; "" in audit rows, which
	// hold no values, and for very long commands.
	Text string `json:"text,omitempty"`
}

// Terminal reports whether the verdict is final at once: deny or skip.
func (v Verdict) Terminal() bool { return v.Decided && v.Mode.Terminal() }

// String is a short form for logs and tests.
func (v Verdict) String() string {
	if !v.Decided {
		return "waiting"
	}
	return fmt.Sprintf("%s %s at %d", v.Mode, v.Code, v.DecidedAt)
}
