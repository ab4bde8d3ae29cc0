package stopgate

// Status says what happened to a call. The zero value is Denied.
type Status uint8

// What happened to a call.
const (
	Denied  Status = iota // it must not run
	Skipped               // it must not run; the model is told without an error
	Allowed               // it may run, with Outcome.Args and nothing else
)

// String names the status for records.
func (s Status) String() string {
	switch s {
	case Allowed:
		return "allowed"
	case Skipped:
		return "skipped"
	}
	return "denied"
}

// Outcome is the end of a call's way through the gate.
type Outcome struct {
	Status   Status
	Proposal ProposalID
	Verdict  Verdict
	// Args are the bytes that must run: the gate's own serialisation of the value
	// that was judged (L4). Empty unless Status is Allowed.
	Args []byte
	// Enforced is false in observe mode: the verdict is what would have been
	// decided, and nothing was held back (X1).
	Enforced bool
	// Approval says who approved an asked or edited call; nil if nobody had to.
	Approval *Approval
	// Judge is what a model said about the call; nil if none was asked, or if there was
	// no need to wait for its answer.
	Judge *Review
}

// Allowed reports whether the call may run.
func (o Outcome) Allowed() bool { return o.Status == Allowed }

// Approval is a person's or a grant's answer to an ask.
type Approval struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Edited bool   `json:"edited,omitempty"`
	// Referred says that the question was left to the prompt of the program that runs
	// the tool, which By names: nobody answered it here.
	Referred bool `json:"referred,omitempty"`
}

// Result is what came back from a call that ran.
type Result struct {
	// Proposal is the gate's id of the call; where the surface does not know it, the
	// newest released call with the same Call, Tool and ArgsHash is meant (S23).
	Proposal ProposalID
	Call     CallID
	// Session and Principal are those of the call: the result of another's call is none.
	Session   SessionID
	Principal Principal
	Tool      ToolName // of the call; "" takes the tool of Proposal
	// ArgsHash is the SHA-256 in hex of the canonical arguments; "" if Proposal says
	// which call it was.
	ArgsHash string
	Failed   bool
	// Data is what the model gets, and what a person is shown who is asked about it.
	Data []byte
	// Raw is the result as the tool gave it, where Data is what was made of it for the
	// model: success, session policies and the hash of the content read it. nil takes
	// Data.
	Raw []byte
	// Observed says that the surface saw the result itself; otherwise it was
	// reported by a client (X13).
	Observed bool
	// Flagged says that whoever reported the result could have said that it failed.
	// Without it, and without a rule for the tool, nobody knows whether the call
	// succeeded (S24). An observed result is always flagged.
	Flagged bool
	// Absent says that the surface has seen that nothing is where the call looked
	// (Q15). It counts on observed results only.
	Absent bool
	// Hash is the SHA-256 in hex of the content that the call showed; "" takes that of
	// Raw or Data.
	Hash string
}

// Content is what a call gave back: Raw, or Data where that is all.
func (r *Result) Content() []byte {
	if r.Raw != nil {
		return r.Raw
	}
	return r.Data
}
