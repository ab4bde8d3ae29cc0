package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Action is the instruction to the host. The zero Action blocks.
type Action uint8

// Actions.
const (
	Block   Action = iota // the tool does not run, or its result is withheld
	Ask                   // the host asks its user
	Allow                 // the tool runs without a prompt of the host
	Abstain               // no instruction: the host behaves as without a hook
)

// String returns the name of the action.
func (a Action) String() string {
	switch a {
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	case Abstain:
		return "silent"
	}
	return "block"
}

// Decision is the gate's decision about an event. The zero Decision blocks.
type Decision struct {
	Action Action
	Code   stopgate.Code
	// Public is the reason for models and users.
	Public string
	// Input replaces the arguments of the call if Action is Ask or Allow; nil keeps them.
	// It is set only if the host supports it.
	Input []byte
	// Output replaces the result of a call that ran, if Action is Block.
	Output []byte
	// Stop ends the turn: the limit of denials is reached (S28).
	Stop bool
}

// reason returns the text that the model and the user read. It is never empty, because some
// hosts run the tool if a denial has no reason.
func (a Decision) reason() string {
	public := a.Public
	if public == "" {
		public = a.Code.Public()
	}
	text := "stopgate: " + strings.TrimSpace(public)
	if a.Code != "" {
		text += " (" + string(a.Code) + ")"
	}
	return text
}

// Reply is the output of the hook process and its exit status.
type Reply struct {
	Stdout, Stderr []byte
	Exit           int
}

// exitBlock is the exit status that most hosts treat as a denial, with the reason on
// standard error.
const exitBlock = 2

// failureDecision is the denial for a failure.
func failureDecision(code stopgate.Code) Decision { return Decision{Code: code, Public: code.Public()} }
