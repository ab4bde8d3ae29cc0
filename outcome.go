package stopgate

// Status is the result of a decision. The zero value is Denied.
type Status uint8

// The statuses.
const (
	Denied  Status = iota // it must not run
	Skipped               // it must not run; the model gets a message that is no error
	Allowed               // it may run, with exactly Outcome.Args
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

// Outcome is the final decision on a call.
type Outcome struct {
	Status   Status
	Proposal ProposalID
	Verdict  Verdict
	// Args are the bytes that must run: the gate's own serialisation of the value
	// that was judged (L4). Empty unless Status is Allowed.
	Args []byte
	// Access limits the files that the tool may touch while it runs the call; nil is no limit.
	// It is empty unless Status is Allowed, and in observe mode. The program that runs the tool
	// enforces it.
	Access *Access
	// Enforced is false in observe mode: the verdict is the one that enforcement
	// would have given, and the call was not held back (X1).
	Enforced bool
	// Approval is the approval of an asked or edited call; nil if none was needed.
	Approval *Approval
	// Judge is a model's review of the call; nil if none was requested, or if the
	// decision did not wait for it.
	Judge *Review
}

// Allowed reports whether the call may run.
func (o Outcome) Allowed() bool { return o.Status == Allowed }

// Approval is a person's or a grant's answer to an ask.
type Approval struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Edited bool   `json:"edited,omitempty"`
	// Referred reports whether the question was left to the prompt of the program that
	// runs the tool, which By names. The gate then has no answer to it.
	Referred bool `json:"referred,omitempty"`
}

// Result is the result of a call that ran.
type Result struct {
	// Proposal is the gate's id of the call; where the surface does not know it, the
	// newest released call with the same Call, Tool and ArgsHash is meant (S23).
	Proposal ProposalID
	Call     CallID
	// Session and Principal are those of the call. A result with others is not matched.
	Session   SessionID
	Principal Principal
	// Conversation is that of the call, where the gate may no longer know the call.
	Conversation string
	Tool         ToolName // of the call; "" takes the tool of Proposal
	// ArgsHash is the SHA-256 in hex of the canonical arguments; "" if Proposal
	// identifies the call.
	ArgsHash string
	Failed   bool
	// Data is the result as the model receives it, and as a question about it shows it.
	Data []byte
	// Text is the text of the result, where Data has it in the envelope of a protocol: conditions on
	// the origin of values find it there if Data is delivered unchanged. nil takes Data. Opaque
	// reports that the model also reads content that is no text for the surface, such as an image.
	Text   []byte
	Opaque bool
	// Raw is the result as the tool returned it, where Data was rewritten for the model.
	// Success, session policies and the content hash are computed from it. nil takes Data.
	Raw []byte
	// Observed reports whether the surface saw the result itself; otherwise a client
	// reported it (X13).
	Observed bool
	// Flagged reports whether the result's source marks failures. Without it, and
	// without a success rule for the tool, the success of the call is unknown (S24).
	// An observed result is always flagged.
	Flagged bool
	// Absent reports whether the surface saw that the file or directory that the call
	// reads does not exist (Q15). It counts on observed results only.
	Absent bool
	// Args are the arguments that ran, where the surface has them: session policies in Go see
	// them if they are those that were released. nil takes the gate's own copy, which is kept
	// for recent calls of up to 1 MiB.
	Args []byte
	// Hash is the SHA-256 in hex of the content that the call read; "" takes the hash
	// of Raw or Data.
	Hash string
}

// Content returns Raw, or Data if there is no Raw.
func (r *Result) Content() []byte {
	if r.Raw != nil {
		return r.Raw
	}
	return r.Data
}
