package stopgate

import "time"

// RecordKind tells the two kinds of audit rows apart.
type RecordKind string

// Exactly one decision row exists per proposal (I23); everything else
// that is worth keeping is an event row.
const (
	RecordDecision RecordKind = "decision"
	RecordEvent    RecordKind = "event"
)

// RecordVersion is the version of the row format that this package describes.
// Version 1: 2026-11.
const RecordVersion = 1

// RecordStatus says in a decision row how the proposal ended (I23).
type RecordStatus string

// The ends of a proposal. Only StatusAllowed means that a call left the gate by
// the gate's own decision.
const (
	StatusAllowed   RecordStatus = "allowed"
	StatusDenied    RecordStatus = "denied"
	StatusSkipped   RecordStatus = "skipped"
	StatusCancelled RecordStatus = "cancelled" // its exchange was given up before it was released
	StatusTruncated RecordStatus = "truncated" // the stream ended before the call did
	StatusEdited    RecordStatus = "edited"    // replaced by a person's edit: the row whose parent is this one
	StatusObserved  RecordStatus = "observed"  // observe mode: nothing was enforced, the mode is what would have been
)

// AuditEvent names an event row (S25).
type AuditEvent string

// The events.
const (
	AuditAsked           AuditEvent = "asked"            // an approval was opened
	AuditAnswered        AuditEvent = "answered"         // and answered
	AuditResult          AuditEvent = "result"           // a released call's result was seen or reported
	AuditReleaseFailed   AuditEvent = "release_failed"   // an allow was recorded, or may have been, and did not leave
	AuditReload          AuditEvent = "reload"           // another policy took over
	AuditSnapshot        AuditEvent = "snapshot"         // a session's state was sealed
	AuditRestored        AuditEvent = "restored"         // and restored
	AuditReconciled      AuditEvent = "reconciled"       // an operator accepted an uncertain or stopped session as it is
	AuditLockdown        AuditEvent = "lockdown"         // an operator ordered to deny everything
	AuditLifted          AuditEvent = "lifted"           // and took that back
	AuditStopped         AuditEvent = "stopped"          // Count calls of a session were denied in a row: its turn is stopped
	AuditAnswerStopped   AuditEvent = "answer_stopped"   // a provider was stopped within a denied call: Usage is what is known of its answer
	AuditNotEvaluated    AuditEvent = "not_evaluated"    // what may carry a call passed unjudged
	AuditUnmatchedResult AuditEvent = "unmatched_result" // a result of no released call
	AuditGap             AuditEvent = "gap"              // Count rows could not be written
	AuditTornTail        AuditEvent = "torn_tail"        // Count bytes of an unfinished write were removed at start
	AuditCheckpoint      AuditEvent = "checkpoint"       // the chain goes on from another file, or its older rows were pruned
)

// Record is one durable audit row, the members in the order in which they are
// written (S25); absent members are left out. Rows hold hashes, lengths,
// pointers and codes, never argument values. Seq, Chain, Prev and Hash belong to
// the recorder, which sets them when it writes the row.
type Record struct {
	Version        int          `json:"v"`
	Seq            int64        `json:"seq"`
	Chain          string       `json:"chain,omitempty"`
	Time           time.Time    `json:"time"`
	Kind           RecordKind   `json:"kind"`
	Event          AuditEvent   `json:"event,omitempty"` // for RecordEvent
	ID             ProposalID   `json:"id,omitempty"`
	Parent         ProposalID   `json:"parent,omitempty"`
	Session        SessionID    `json:"session,omitempty"`
	Principal      Principal    `json:"principal,omitempty"`
	Surface        Surface      `json:"surface,omitempty"`
	Dialect        string       `json:"dialect,omitempty"`
	Agent          AgentName    `json:"agent,omitempty"`
	Turn           TurnID       `json:"turn,omitempty"`
	Tool           ToolName     `json:"tool,omitempty"`
	CallID         CallID       `json:"call_id,omitempty"`
	Handoff        AgentName    `json:"handoff,omitempty"`       // the receiving agent, where control is handed over
	ArgsHash       string       `json:"args_hash,omitempty"`     // SHA-256 in hex of the canonical arguments, if they are complete
	ArgsBytes      int64        `json:"args_bytes,omitempty"`    // argument bytes received
	ReleasedHash   string       `json:"released_hash,omitempty"` // SHA-256 in hex of the very bytes that may run
	Status         RecordStatus `json:"status,omitempty"`
	Mode           *Mode        `json:"mode,omitempty"`
	Layer          Layer        `json:"layer,omitempty"`
	Code           Code         `json:"code,omitempty"`
	Cause          string       `json:"cause,omitempty"` // what exactly was wrong: no values of the call, no upstream text
	Rule           *RuleRef     `json:"rule,omitempty"`
	Candidates     []int        `json:"candidates,omitempty"`
	Pointer        string       `json:"pointer,omitempty"`
	Segment        *Segment     `json:"segment,omitempty"` // without its text
	DecidedAt      *int64       `json:"decided_at,omitempty"`
	Floors         []Floor      `json:"floors,omitempty"`
	Objections     []string     `json:"objections,omitempty"`
	Judge          *Review      `json:"judge,omitempty"` // of several the strictest
	Approval       *Approval    `json:"approval,omitempty"`
	FactsAt        uint64       `json:"facts_at,omitempty"`    // position of the facts that were looked at
	Policy         string       `json:"policy,omitempty"`      // hash of the policy
	Unversioned    []string     `json:"unversioned,omitempty"` // policies in Go that say no version, so that the hash cannot tell two of them apart
	Definition     string       `json:"definition,omitempty"`  // hash of the tool definition
	PathResolution string       `json:"path_resolution,omitempty"`
	Context        *Context     `json:"context,omitempty"` // of decisions
	Enforced       *bool        `json:"enforced,omitempty"`
	Count          int64        `json:"count,omitempty"` // of event rows: how many rows, bytes, results or denials they are about
	Usage          *Usage       `json:"usage,omitempty"` // of AuditAnswerStopped
	Checkpoint     *Checkpoint  `json:"checkpoint,omitempty"`
	Prev           string       `json:"prev"`
	Hash           string       `json:"hash"`

	// Args is the argument text behind ArgsHash, for recorders that keep arguments
	// apart from the rows (S13). It is no part of the row.
	Args []byte `json:"-"`
}

// Context is what a call was judged with beside its arguments, its definition and the
// policy, as far as it was known there: with it the call can be judged again.
type Context struct {
	Root string `json:"root,omitempty"` // of the project
	Dir  string `json:"dir,omitempty"`  // in which relative paths begin, where that is not the root
	Home string `json:"home,omitempty"`
	// Run is the SHA-256 in hex of the directory that the call itself names for its command
	// lines. RunDoubt says that the tool may not look at what the call says, RunLost that it
	// names none that can be known.
	Run      string   `json:"run,omitempty"`
	RunDoubt bool     `json:"run_doubt,omitempty"`
	RunLost  bool     `json:"run_lost,omitempty"`
	Server   ServerID `json:"server,omitempty"`
	Pinned   bool     `json:"pinned,omitempty"` // the definition was the accepted one of the server
	// SessionData is the SHA-256 in hex of the session's canonical data, where rules look at
	// them and they were known.
	SessionData string `json:"session_data,omitempty"`
	// Cut says that a directory has a name that rows do not hold.
	Cut bool `json:"cut,omitempty"`
}

// Usage are the tokens of an answer that was stopped.
type Usage struct {
	Input     int64 `json:"input_tokens"`
	Output    int64 `json:"output_tokens"`
	Estimated bool  `json:"usage_estimated,omitempty"` // from bytes: the provider had sent no number
}

// Checkpoint is the last of the rows that were pruned from the start of a chain.
type Checkpoint struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}
