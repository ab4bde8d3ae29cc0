package agent

import (
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/arguments"
)

// Watcher receives events. Its methods are called from several goroutines and must not
// block, because they delay the model's stream.
type Watcher interface {
	// Asked is called before a request to the model.
	Asked()
	// Text and Thinking receive the next chunk of the model's text and visible reasoning.
	Text(piece string)
	Thinking(piece string)
	// Answered is called at the end of the model's response.
	Answered()
	// Call receives the state of a call after each change.
	Call(c Call)
	// Notice receives a message for the person, such as a retry.
	Notice(text string)
}

// CallState is the state of a call.
type CallState uint8

// States of a call.
const (
	Arriving CallState = iota // its arguments are arriving
	Complete                  // its arguments are complete; it is not decided
	Running
	Done
	Failed  // it ran and reported a failure
	Refused // it did not run; see Verdict
)

// Call is a snapshot of a call.
type Call struct {
	Number   int // in the conversation, from 1
	Proposal stopgate.ProposalID
	Tool     stopgate.ToolName
	State    CallState
	// Verdict is the latest verdict; Decided is false before the first one.
	Verdict stopgate.Verdict
	// Parameters are the arguments received so far or, for a running call, the arguments
	// that run.
	Parameters []arguments.Parameter
	Received   int64 // bytes of arguments
	// Wasted is the number of bytes received after the call was refused.
	Wasted int64
	// Approval identifies the approver; nil if no approval was needed.
	Approval *stopgate.Approval
	Edited   bool // an approver changed the arguments
	// Observed reports that the policy only observes: the call runs regardless of the
	// verdict.
	Observed bool
	Preview  string // effect of the call as a unified diff, from Running on
	Progress string // progress that the tool reports while it runs
	Result   string // the text for the model, in the states Done, Failed and Refused
	Withheld bool   // the policy keeps the result from the model
	Took     time.Duration
}

// Ended reports whether the call will not change any more.
func (c Call) Ended() bool { return c.State >= Done }

// Summary counts the events of one prompt.
type Summary struct {
	Answers   int   `json:"answers"`
	Calls     int   `json:"calls"`
	Ran       int   `json:"ran"`
	Refused   int   `json:"refused"`
	Stopped   int   `json:"stopped"` // responses that were cancelled
	Wasted    int64 `json:"wasted"`  // bytes of arguments received after their call was refused
	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`
	// Waits reports that the person is next: a call was declined without a reason, or the policy
	// ended the turn.
	Waits bool `json:"waits,omitempty"`
}
