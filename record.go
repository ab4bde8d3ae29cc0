package stopgate

import "time"

// RecordKind tells the two kinds of audit rows apart.
type RecordKind string

// Exactly one decision row exists per proposal (INVARIANTS I23); everything else
// that is worth keeping is an event row.
const (
	RecordDecision RecordKind = "decision"
	RecordEvent    RecordKind = "event"
)

// Record is one durable audit row, the members in the order in which they are
// written (DECISIONS S25). Rows hold hashes, lengths, pointers and codes, never
// argument values.
type Record struct {
	Version        int        `json:"v"`
	Seq            int64      `json:"seq"`
	Chain          string     `json:"chain,omitempty"`
	Time           time.Time  `json:"time"`
	Kind           RecordKind `json:"kind"`
	Event          string     `json:"event,omitempty"` // for RecordEvent: gap, release_failed, not_evaluated, ...
	ID             ProposalID `json:"id,omitempty"`
	Parent         ProposalID `json:"parent,omitempty"`
	Session        SessionID  `json:"session,omitempty"`
	Principal      Principal  `json:"principal,omitempty"`
	Surface        Surface    `json:"surface,omitempty"`
	Dialect        string     `json:"dialect,omitempty"`
	Agent          AgentName  `json:"agent,omitempty"`
	Turn           TurnID     `json:"turn,omitempty"`
	Tool           ToolName   `json:"tool,omitempty"`
	CallID         CallID     `json:"call_id,omitempty"`
	ArgsHash       string     `json:"args_hash,omitempty"`  // SHA-256 in hex of the canonical arguments
	ArgsBytes      int64      `json:"args_bytes,omitempty"` // argument bytes received
	ReleasedHash   string     `json:"released_hash,omitempty"`
	Status         string     `json:"status,omitempty"`
	Mode           *Mode      `json:"mode,omitempty"`
	Layer          Layer      `json:"layer,omitempty"`
	Code           Code       `json:"code,omitempty"`
	Cause          string     `json:"cause,omitempty"` // a word of detail, never upstream text
	Rule           *RuleRef   `json:"rule,omitempty"`
	Candidates     []int      `json:"candidates,omitempty"`
	Pointer        string     `json:"pointer,omitempty"`
	DecidedAt      *int64     `json:"decided_at,omitempty"`
	Floors         []Floor    `json:"floors,omitempty"`
	Objections     []string   `json:"objections,omitempty"`
	Approval       *Approval  `json:"approval,omitempty"`
	Policy         string     `json:"policy,omitempty"`     // hash of the policy
	Definition     string     `json:"definition,omitempty"` // hash of the tool definition
	PathResolution string     `json:"path_resolution,omitempty"`
	Enforced       *bool      `json:"enforced,omitempty"`
	Count          int64      `json:"count,omitempty"` // for gap rows: how many rows are missing
	Prev           string     `json:"prev"`
	Hash           string     `json:"hash"`
}
