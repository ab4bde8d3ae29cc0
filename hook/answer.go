package hook

import (
	"strings"

	"github.com/stopgate/stopgate"
)

// Action is what a host is told to do. The zero Action blocks.
type Action uint8

// The actions.
const (
	Block  Action = iota // the tool does not run, or its result is not shown
	Ask                  // the host asks its user
	Allow                // the tool runs without a question of the host
	Silent               // nothing is said: the host does what it would do without a hook
)

// String names the action for tests and logs.
func (a Action) String() string {
	switch a {
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	case Silent:
		return "silent"
	}
	return "block"
}

// Answer is what the gate has to say about an event. The zero Answer blocks.
type Answer struct {
	Action Action
	Code   stopgate.Code
	// Public is the sentence for models and people.
	Public string
	// Input replaces the arguments of the call where Action is Ask or Allow; nil
	// leaves them. It is only set for hosts that take it.
	Input []byte
	// Output replaces the result of a call that ran, where Action is Block.
	Output []byte
	// Stop ends the turn: the model was refused too often (DECISIONS S28).
	Stop bool
}

// reason is what model and user read. It is never empty: some hosts run the tool on
// a denial without a reason.
func (a Answer) reason() string {
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

// Reply is what the process writes and how it ends.
type Reply struct {
	Stdout, Stderr []byte
	Exit           int
}

// exitBlock is the exit status that nearly every host takes for a denial, with the
// reason on standard error.
const exitBlock = 2

// failure is the answer to everything that went wrong.
func failure(code stopgate.Code) Answer { return Answer{Code: code, Public: code.Public()} }
