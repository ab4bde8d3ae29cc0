package agent

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/agent/arguments"
)

// Watcher is told what happens. Its methods are called from several goroutines, and
// must not block: the stream of the model waits for them.
type Watcher interface {
	// Asked says that the model is being asked.
	Asked()
	// Text and Thinking are the next piece of what the model says and shows of its
	// reasoning.
	Text(piece string)
	Thinking(piece string)
	// Answered says that the model's answer is over.
	Answered()
	// Call is the state of a call, now and after each change.
	Call(c Call)
	// Notice tells something that a person should know, such as a request that is
	// repeated.
	Notice(text string)
}

// CallState is how far a call has come.
type CallState uint8

// The states of a call.
const (
	Arriving CallState = iota // its arguments are being written
	Complete                  // they are complete, the call is not decided
	Running
	Done
	Failed  // it ran, and says that it failed
	Refused // it did not run; Verdict says why
)

// Call is a call as it stands. It shares nothing with the agent.
type Call struct {
	Number   int // in the conversation, from 1
	Proposal stopgate.ProposalID
	Tool     stopgate.ToolName
	State    CallState
	// Verdict is the latest one; not decided while nothing is known.
	Verdict stopgate.Verdict
	// Parameters are the arguments as far as they have arrived; of a call that runs, the
	// ones that run.
	Parameters []arguments.Parameter
	Received   int64 // bytes of arguments
	// Wasted are the bytes that came after the call was refused.
	Wasted int64
	// Approval says who approved the call; nil if nobody had to.
	Approval *stopgate.Approval
	Edited   bool // somebody changed the arguments
	// Observed says that the policy only observes: the call runs whatever the verdict.
	Observed bool
	Preview  string // what the call changes, as a unified diff, from Running on
	Progress string // of Running: what the tool says about how far it is
	Result   string // of Done, Failed and Refused: what the model is told
	Withheld bool   // the policy keeps the result from the model
	Took     time.Duration
}

// Ended reports whether the call will not change any more.
func (c Call) Ended() bool { return c.State >= Done }

// Summary counts what one message led to.
type Summary struct {
	Answers   int   `json:"answers"`
	Calls     int   `json:"calls"`
	Ran       int   `json:"ran"`
	Refused   int   `json:"refused"`
	Stopped   int   `json:"stopped"` // answers that were stopped on the way
	Wasted    int64 `json:"wasted"`  // bytes of arguments that arrived in vain
	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`
	// Waits says that the person has to speak: somebody declined without a reason, or the
	// policy ended the turn.
	Waits bool `json:"waits,omitempty"`
}
