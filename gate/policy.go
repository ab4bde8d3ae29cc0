package gate

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Policy is compiled policy as the gate uses it; *policy.Program implements it. It is
// immutable and safe for concurrent use. A panic in any of its methods denies the call
// that it was asked about.
type Policy interface {
	// Hash identifies the policy in records.
	Hash() string
	// Gate returns the settings of the gate.
	Gate() Settings
	// RulesFor resolves everything about a call that does not depend on its arguments.
	RulesFor(call stopgate.Call, c Circumstances) Rules
	// LooksAtSessions reports whether any rule depends on the data of a session, LooksAtTexts
	// whether any depends on its texts before the arguments of the call are known, LooksAtGroups
	// whether any depends on the groups of the principal. SituationOf reads all of them: equal
	// situations lead to equal rules. Texts are nil if none are known.
	LooksAtSessions() bool
	LooksAtTexts() bool
	LooksAtGroups() bool
	SituationOf(groups stopgate.Groups, data jsonstream.Value, texts flow.View) Situation
	// Reader returns the reader of the texts of sessions, nil if no rule needs them.
	Reader() flow.Reader
	// ToolNames maps further names of tools to the name under which facts are recorded
	// (S39).
	ToolNames() map[stopgate.ToolName]stopgate.ToolName
	// KnownTools lists the tools of the files under these names. complete reports that
	// calls of every other tool are denied.
	KnownTools() (names []stopgate.ToolName, complete bool)
	// HandoffRules lists the rules of handoffs, one list for each file that has any: each
	// file is a layer, and the strictest applies (K35).
	HandoffRules() [][]HandoffRule
	// JudgeTables lists the judges that the operator's files configure.
	JudgeTables() []*JudgeTable
	// ExternalTables lists the external policies that the operator's files name.
	ExternalTables() []*ExternalTable
	// Sessions compiles the session policies. SessionHash identifies them: a snapshot is
	// bound to it (S15).
	Sessions() (*session.Registry, error)
	SessionHash() string
	// ResultStatus returns the function that reports from the data of a tool's result
	// whether the call succeeded (S24), nil without a rule about it.
	ResultStatus(tool stopgate.ToolName) func(data []byte) (succeeded bool)
	// LooksAtResults reports whether any tool has rules about its results.
	LooksAtResults() bool
}

// Rules are the rules that apply to the calls of one tool in one situation.
type Rules interface {
	// Evaluate starts the evaluation of one call in a session with these texts. With nil none
	// are known: conditions on origins that permit do not hold then, those that restrict do.
	Evaluate(texts flow.View) Evaluation
	// Unknown reports whether no policy file knows the tool, and the mode of a call that
	// no policy in Go permits then.
	Unknown() (otherwise stopgate.Mode, unknown bool)
	// ResultMode evaluates the rules about the result of a call with these arguments, by the
	// texts that the call was evaluated with.
	ResultMode(executed *jsonstream.Document, texts flow.View) stopgate.Verdict
	// Access limits the files that the tool may touch, nil without a limit.
	Access() *stopgate.Access
	// IsPath reports whether the value at a pointer is a path.
	IsPath(jsonstream.Pointer) bool
	// KnownServer is the name under which lists of known tools have the call's server, "" if
	// that is its own name or no operator's file names it.
	KnownServer() stopgate.ServerID
}

// Evaluation evaluates the rules on one call while its arguments arrive. It belongs to
// one goroutine at a time.
type Evaluation interface {
	// Feed reads the next bytes of the arguments, and Close their end; both return the
	// newest verdict.
	Feed(chunk []byte) stopgate.Verdict
	Close(end stopgate.End) stopgate.Verdict
	// Watch selects members of the arguments by pointers of one token, before the first
	// Feed. Watched returns the first of them that is a complete string of reasonable
	// length, as JSON; ok is false while there is none.
	Watch(pointers []jsonstream.Pointer)
	Watched() (pointer jsonstream.Pointer, json []byte, ok bool)
	// Latest returns the newest verdict; it is valid until the next Feed or Close.
	Latest() *stopgate.Verdict
	// Trace returns all verdicts so far.
	Trace() []stopgate.Verdict
	// Cause is a detail of a refusal for the record, without values of the call.
	Cause() string
	// Instead describes calls that need no approval, for the model; "" for none.
	Instead() string
	// Document is the parsed text of the arguments, Args the bytes that may run.
	Document() *jsonstream.Document
	Args() []byte
	// Leaves lists the values of accepted arguments in the order of the text.
	Leaves() []Leaf
	// Origins lists where values come from that conditions on origins evaluated, in the order
	// in which they did.
	Origins() []stopgate.Origin
	// Asking names every rule and list that asks, for grants (S34).
	Asking() []string
	// Release ends the use of the evaluation: its buffers may serve another call.
	Release()
}

// Circumstances are the inputs of rules other than the call. The zero value is the strict
// one.
type Circumstances struct {
	Situation Situation
	// Governed reports that policies in Go decide about the tool too, so that a call of a
	// tool that no file knows is still evaluated; see [Rules].
	Governed bool
}

// Situation is the result of the conditions on the groups of the principal and on a session's data
// and texts. In the zero Situation all are unknown: rules that restrict apply, rules that permit do
// not.
type Situation string

// Settings are the settings of a gate in policy files.
type Settings struct {
	// DenyMode is how denials are returned; DenyByPolicy where no file sets it.
	DenyMode DenyMode
	// Observe lets every call run and records the outcome that enforcement would have had.
	Observe bool
	// DenialLimit is the number of denials in a row that ends a session, 0 for no limit;
	// nil where no file sets it.
	DenialLimit *int64
	// Paths is how paths are read: "lexical" or "followed" (Q24).
	Paths string
	// KeepTexts stores the texts of sessions as keyed hashes, so that other processes have them.
	// KeepText also stores the texts themselves, for replay.
	KeepTexts, KeepText bool
	// Context is the directories that paths are read against, with Run in plain text.
	Context stopgate.Context
	// Bundle identifies the bundle that the policy came in, nil for none.
	Bundle *stopgate.Bundle
	// Previous is the policy of the sessions that a roll-out in steps has not reached, and Reached
	// reports whether it has reached a session. Both are nil if all sessions have this policy.
	Previous Policy
	Reached  func(stopgate.SessionID) bool
}

// HandoffRule decides about handoffs between agents.
type HandoffRule struct {
	// Applies reports whether the rule is about handoffs from one agent to another.
	Applies func(from, to stopgate.AgentName) bool
	Mode    stopgate.Mode
	// Delegate lets the receiving agent return; a turn may then hand over several times.
	Delegate bool
	// Inherit applies the sender's tool tables to the receiver too.
	Inherit bool
	Reason  string
	// Receiver finds the receiving agent in a call of a tool that is this handoff; is is
	// false for every other tool (S41).
	Receiver func(tool stopgate.ToolName, args jsonstream.Value) (to stopgate.AgentName, is bool)
}

// JudgeTable configures a judge: a model that reviews the calls that every deterministic
// layer allows (V3-19, S29).
type JudgeTable struct {
	Model    string
	API      string // "openai" or "anthropic"
	BaseURL  string // "" for the provider's own address
	KeyEnv   string // environment variable with the key
	KeyFile  string // file with the key
	Guidance string // the operator's addition to the instructions
	// Threshold is the probability of harm, 0 to 1, from which on the judge objects.
	Threshold float64
	Mode      stopgate.Mode // of an objection: Deny or Ask
	OnError   stopgate.Mode // of a failure: Deny or Ask
	Observe   bool          // review in observe mode too (S31)
	Explain   bool          // show the explanation to the model and the approver
	Timeout   int64         // milliseconds for the whole review, repetition included
	Cache     int64         // milliseconds for which an answer is used again (S27)
	MaxBytes  int           // of arguments; longer ones cannot be reviewed
	Source    string        // "FILE:LINE" of the table, for errors
	// Governs reports whether the judge reviews calls of a tool.
	Governs func(stopgate.ToolName) bool
	// Meaning identifies everything that decides about a review.
	Meaning string
}
