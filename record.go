package stopgate

import "time"

// RecordKind is the kind of an audit row.
type RecordKind string

// Every proposal has exactly one decision row (I23); all other rows are event rows.
const (
	RecordDecision RecordKind = "decision"
	RecordEvent    RecordKind = "event"
)

// RecordVersion is the version of the row format that this package describes.
// Version 1: 2026-11.
const RecordVersion = 1

// RecordStatus is the end of a proposal, as its decision row states it (I23).
type RecordStatus string

// The ends of a proposal. Only StatusAllowed means that a call left the gate by
// the gate's own decision.
const (
	StatusAllowed   RecordStatus = "allowed"
	StatusDenied    RecordStatus = "denied"
	StatusSkipped   RecordStatus = "skipped"
	StatusCancelled RecordStatus = "cancelled" // its exchange was cancelled before it was released
	StatusTruncated RecordStatus = "truncated" // the stream ended before the call did
	StatusEdited    RecordStatus = "edited"    // replaced by a person's edit: the row whose parent is this one
	StatusObserved  RecordStatus = "observed"  // observe mode: the mode that enforcement would have given
)

// AuditEvent names an event row (S25).
type AuditEvent string

// The events.
const (
	AuditAsked           AuditEvent = "asked"            // an approval was opened
	AuditAnswered        AuditEvent = "answered"         // and answered
	AuditResult          AuditEvent = "result"           // a released call's result was seen or reported
	AuditReleaseFailed   AuditEvent = "release_failed"   // an allow was recorded, or may have been, and the call was not released
	AuditReload          AuditEvent = "reload"           // another policy came into force
	AuditSnapshot        AuditEvent = "snapshot"         // a session's state was sealed
	AuditRestored        AuditEvent = "restored"         // and restored
	AuditReconciled      AuditEvent = "reconciled"       // an operator accepted an uncertain or stopped session as it is
	AuditLockdown        AuditEvent = "lockdown"         // an operator ordered to deny everything
	AuditLifted          AuditEvent = "lifted"           // and ended that
	AuditStopped         AuditEvent = "stopped"          // Count calls of a session were denied in a row: its turn is stopped
	AuditAnswerStopped   AuditEvent = "answer_stopped"   // a provider's answer was stopped at a denied call; Usage has the tokens known by then
	AuditNotEvaluated    AuditEvent = "not_evaluated"    // content that may carry a call was forwarded unjudged
	AuditTextsLost       AuditEvent = "texts_lost"       // texts of a session are missing: conditions on origins are in doubt
	AuditUnmatchedResult AuditEvent = "unmatched_result" // a result of no released call
	AuditGap             AuditEvent = "gap"              // Count rows could not be written
	AuditTornTail        AuditEvent = "torn_tail"        // Count bytes of an unfinished write were removed at start
	AuditExternal        AuditEvent = "external"         // external policies changed or refused parts of an exchange: External has how often
	AuditCheckpoint      AuditEvent = "checkpoint"       // the chain continues another file, or its older rows were pruned
)

// Record is one durable audit row, the members in the order in which they are
// written (S25); absent members are left out. Rows hold hashes, lengths,
// pointers and codes, never argument values. Seq, Chain, Gate, Prev and Hash belong to
// the recorder, which sets them when it writes the row.
type Record struct {
	Version        int              `json:"v"`
	Seq            int64            `json:"seq"`
	Chain          string           `json:"chain,omitempty"`
	Gate           string           `json:"gate,omitempty"` // the gate that wrote the row, in a store of several gates
	Time           time.Time        `json:"time"`
	Kind           RecordKind       `json:"kind"`
	Event          AuditEvent       `json:"event,omitempty"` // for RecordEvent
	ID             ProposalID       `json:"id,omitempty"`
	Parent         ProposalID       `json:"parent,omitempty"`
	Session        SessionID        `json:"session,omitempty"`
	Principal      Principal        `json:"principal,omitempty"`
	Groups         Groups           `json:"groups,omitzero"` // of the principal; absent if they are unknown
	Surface        Surface          `json:"surface,omitempty"`
	Dialect        string           `json:"dialect,omitempty"`
	Agent          AgentName        `json:"agent,omitempty"`
	Turn           TurnID           `json:"turn,omitempty"`
	Tool           ToolName         `json:"tool,omitempty"`
	CallID         CallID           `json:"call_id,omitempty"`
	Handoff        AgentName        `json:"handoff,omitempty"`       // the receiving agent, where control is handed over
	ArgsHash       string           `json:"args_hash,omitempty"`     // SHA-256 in hex of the canonical arguments, if they are complete
	ArgsBytes      int64            `json:"args_bytes,omitempty"`    // argument bytes received
	ReleasedHash   string           `json:"released_hash,omitempty"` // SHA-256 in hex of the bytes that may run
	Status         RecordStatus     `json:"status,omitempty"`
	Mode           *Mode            `json:"mode,omitempty"`
	Layer          Layer            `json:"layer,omitempty"`
	Code           Code             `json:"code,omitempty"`
	Cause          string           `json:"cause,omitempty"` // the detailed cause, without values of the call or upstream text
	Rule           *RuleRef         `json:"rule,omitempty"`
	Candidates     []int            `json:"candidates,omitempty"`
	Pointer        string           `json:"pointer,omitempty"`
	Segment        *Segment         `json:"segment,omitempty"` // without its text
	DecidedAt      *int64           `json:"decided_at,omitempty"`
	Floors         []Floor          `json:"floors,omitempty"`
	Objections     []string         `json:"objections,omitempty"`
	Origins        []Origin         `json:"origins,omitempty"`  // of the values that conditions on origins evaluated
	Judge          *Review          `json:"judge,omitempty"`    // the strictest of several
	External       []ExternalAnswer `json:"external,omitempty"` // of external policies, in the order in which they came
	Approval       *Approval        `json:"approval,omitempty"`
	FactsAt        uint64           `json:"facts_at,omitempty"`    // position of the facts that were read
	Texts          *TextPosition    `json:"texts,omitempty"`       // of the texts that conditions on origins had
	Policy         string           `json:"policy,omitempty"`      // hash of the policy
	Unversioned    []string         `json:"unversioned,omitempty"` // policies in Go without a version, whose changes the hash does not show
	Bundle         *Bundle          `json:"bundle,omitempty"`      // that the policy came in
	Definition     string           `json:"definition,omitempty"`  // hash of the tool definition
	PathResolution string           `json:"path_resolution,omitempty"`
	Context        *Context         `json:"context,omitempty"` // of decisions
	Enforced       *bool            `json:"enforced,omitempty"`
	Count          int64            `json:"count,omitempty"` // of event rows: the number of rows, bytes, results or denials
	Usage          *Usage           `json:"usage,omitempty"` // of AuditAnswerStopped
	Checkpoint     *Checkpoint      `json:"checkpoint,omitempty"`
	Prev           string           `json:"prev"`
	Hash           string           `json:"hash"`

	// Args is the argument text of ArgsHash, for recorders that keep arguments
	// separately (S13). It is not part of the row. Recorders do not change it.
	Args []byte `json:"-"`
}

// Bundle identifies the signed policy bundle whose rules applied: in a roll-out in steps that of the
// session.
type Bundle struct {
	Generation uint64 `json:"generation"`
	Digest     string `json:"digest"` // SHA-256 in hex of its archive
}

// Context holds the other inputs of a decision than arguments, definition and policy, as
// far as they were known. Replay judges the call again with them.
type Context struct {
	Root string `json:"root,omitempty"` // of the project
	Dir  string `json:"dir,omitempty"`  // base of relative paths, if it is not the root
	Home string `json:"home,omitempty"`
	// Run is the SHA-256 in hex of the working directory that the call names for its
	// command lines. RunDoubt reports that the tool may ignore that directory, RunLost
	// that the directory cannot be known.
	Run      string   `json:"run,omitempty"`
	RunDoubt bool     `json:"run_doubt,omitempty"`
	RunLost  bool     `json:"run_lost,omitempty"`
	Server   ServerID `json:"server,omitempty"`
	Pinned   bool     `json:"pinned,omitempty"` // the definition was the accepted one of the server
	// SessionData is the SHA-256 in hex of the session's canonical data, if rules read
	// them and they were known.
	SessionData string `json:"session_data,omitempty"`
	// Cut reports that a directory is left out because its name is not fit for a row.
	Cut bool `json:"cut,omitempty"`
}

// TextPosition is how many texts a session had when a call began.
type TextPosition struct {
	// Log is the id of the stored log of the texts. Number is the number of its last text.
	Log    string `json:"log"`
	Number uint64 `json:"number"`
}

// Usage are the tokens of an answer that was stopped.
type Usage struct {
	Input     int64 `json:"input_tokens"`
	Output    int64 `json:"output_tokens"`
	Estimated bool  `json:"usage_estimated,omitempty"` // from bytes, because the provider had reported no count
}

// Checkpoint is the last of the rows that were pruned from the start of a chain.
type Checkpoint struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}
