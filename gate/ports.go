package gate

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// The gate calls a port under a deadline ([Limits]) on a goroutine of its own, unless its
// [Capabilities] make that needless, and possibly from several goroutines at once. An error,
// a panic, an invalid answer and a missed deadline deny the call (I14, FM15). An answer after
// the deadline is ignored.

// Recorder writes audit rows. An allowed call leaves the gate only after Record
// returned nil for its row (I22).
type Recorder interface {
	// Record returns after the row is durable. It sets the row's Seq, Chain, Prev
	// and Hash in its own copy. After an error the row may or may not have been
	// written, and the gate does not release the call.
	Record(ctx context.Context, r *stopgate.Record) error
	// Capabilities are read once, when the gate is made.
	Capabilities() Capabilities
}

// Proposal is a call with complete arguments, for the layers after the rules. It shares no
// memory with the arguments that run.
type Proposal struct {
	ID     stopgate.ProposalID
	Parent stopgate.ProposalID // the proposal that a person edited into this one
	Call   stopgate.Call       // Args is empty, see below
	To     stopgate.AgentName  // the receiving agent of a handoff, "" for a call
	// Args are the complete arguments as they would run: the gate's own
	// serialisation of the value that was judged.
	Args string
	// Raw are the bytes of the arguments as they came, for policies in Go (G2-05). The tool
	// runs with Args, never with Raw.
	Raw        string
	ArgsHash   string           // SHA-256 in hex of the canonical arguments
	Verdict    stopgate.Verdict // of the layers before
	Policy     string           // hash of the policy
	Definition string           // hash of the tool definition, "" without one
}

// Parsed returns the arguments as a value (G2-05), or an error that a policy
// should return: arguments that cannot be read must not look like empty ones. The value is
// not valid if there are no arguments, as a handoff may have none.
func (p *Proposal) Parsed() (jsonstream.Value, error) {
	if p.Args == "" {
		return jsonstream.Value{}, nil
	}
	return jsonstream.Parse([]byte(p.Args), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
}

// DecisionKind is the kind of a [Decision]. The zero value is no answer and denies.
type DecisionKind uint8

// The answers of a tool policy.
const (
	Invalid   DecisionKind = iota
	Forbid                 // deny the call
	Permit                 // no objection; loosens no verdict of another layer
	NoOpinion              // the policy does not apply to this tool
)

// Decision is a tool policy's answer (G2-04).
type Decision struct {
	Kind DecisionKind
	// Reason is the code of the decision, of the form of [stopgate.Code.Valid];
	// Forbid and Permit without one are invalid (G2-10).
	Reason stopgate.Code
	// Public is the sentence for models and people; "" takes the code's own.
	Public string
	// DenyMode is how this denial is returned, of a Forbid; DenyByPolicy leaves it to the
	// gate. Surfaces that carry no errors answer every denial with its envelope.
	DenyMode DenyMode
	// Metadata is for trace events. It must not hold secrets.
	Metadata map[string]string
}

// ToolPolicy is a deterministic policy written in Go (G2-05): the layer "gate" of
// the pipeline, after integrity and before session policies. It is asked once the
// arguments are complete, in registration order, and the first Forbid stops. A tool
// that no policy file knows runs if a policy permits it, and is otherwise unknown
// (S2).
type ToolPolicy interface {
	Name() string
	Check(ctx context.Context, p Proposal) (Decision, error)
}

// Opinion is a judge's answer. The zero Opinion denies.
type Opinion struct {
	// Mode is the weakest mode the judge accepts: Unattended has no objection, Ask
	// wants a person, Deny refuses. Another mode is invalid. The judge only
	// tightens: a mode weaker than the verdict changes nothing (X4).
	Mode stopgate.Mode
	// Probability is the judge's estimate that the call is harmful, 0 to 1; NaN and
	// values outside are invalid.
	Probability float64
	// Public is the sentence for models and people; "" takes the code's own.
	Public string
	// Review describes for the row how the opinion was formed. The gate sets Mode and
	// Probability, and Millis if it is 0.
	Review stopgate.Review
}

// JudgeError is an error of a judge with a description of its attempts for the row.
type JudgeError struct {
	Review stopgate.Review
	Err    error
}

// Error returns the text of the error.
func (e *JudgeError) Error() string { return "judge: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *JudgeError) Unwrap() error { return e.Err }

// Judge is a model that reviews a call that no deterministic layer denied. It runs at the
// same time as an open prompt; both must pass (S29). Every
// failure is judge_unavailable (FM1).
type Judge interface {
	Judge(ctx context.Context, p Proposal) (Opinion, error)
}
