package session

import (
	"github.com/stopgate/stopgate"
)

// Kind is the kind of a fact. The zero Kind is invalid.
type Kind string

// The facts.
const (
	Released     Kind = "released"   // a call was released and may be running from now on
	Withdrawn    Kind = "withdrawn"  // a release was taken back: the call did not run
	Succeeded    Kind = "succeeded"  // a released call succeeded
	Finished     Kind = "finished"   // it ended with an unknown result (S24)
	Failed       Kind = "failed"     // it failed: its reservations are given back (Q13)
	Absent       Kind = "absent"     // it failed because its target does not exist, as the gate's own surface observed (Q15)
	Denied       Kind = "denied"     // a call was denied; counted against denial_limit (S28)
	Approved     Kind = "approved"   // a person approved something, by name (TPS-39)
	DataReplaced Kind = "told"       // the session's data was set
	Noted        Kind = "noted"      // a policy written in Go noted something
	Spoke        Kind = "spoke"      // the user sent a message: the count of denials starts again
	Snapshot     Kind = "snapshot"   // a snapshot was taken
	Restored     Kind = "restored"   // a snapshot was restored: facts after To that permit no longer count
	Degraded     Kind = "degraded"   // a result could not be stored (FM16)
	Reconciled   Kind = "reconciled" // an operator accepted the state
	Begun        Kind = "begun"      // a program began the session and has its key
)

// Fact is one entry of a session's history. Facts are only ever added.
type Fact struct {
	// Seq is the position: it grows by one with every fact of the principal. The store
	// sets it.
	Seq  uint64 `json:"seq"`
	At   int64  `json:"at"` // Unix milliseconds
	Kind Kind   `json:"kind"`

	Proposal stopgate.ProposalID `json:"proposal,omitempty"`
	Tool     stopgate.ToolName   `json:"tool,omitempty"` // the name that the policy uses (S39)
	CallID   stopgate.CallID     `json:"call_id,omitempty"`
	Agent    stopgate.AgentName  `json:"agent,omitempty"`
	Turn     stopgate.TurnID     `json:"turn,omitempty"`
	ArgsHash string              `json:"args_hash,omitempty"`
	Code     stopgate.Code       `json:"code,omitempty"` // of Denied
	By       string              `json:"by,omitempty"`   // who approved, set the data or restored
	// Observed reports that the gate's own surface saw the result (X13).
	Observed bool `json:"observed,omitempty"`
	// Hash is the SHA-256 of the content that a result showed; of Spoke, the identity of
	// the message.
	Hash string `json:"hash,omitempty"`
	// Marks are the changes of a released call to cells, at its release and its end.
	Marks []Mark `json:"marks,omitempty"`
	// Release is the part of a Released fact that is needed when the result comes.
	Release *Release `json:"release,omitempty"`

	Name string `json:"name,omitempty"` // of Approved and Noted: the name of the approval or the policy
	Key  Key    `json:"key,omitzero"`   // of Noted and Denied: the cell
	Text string `json:"text,omitempty"` // of DataReplaced and Noted: the value
	To   uint64 `json:"to,omitempty"`   // of Restored: the position of the snapshot
}

// Mark is the change of one released call to one cell.
type Mark struct {
	Key Key `json:"key"`
	// Permits adds a permit when the call succeeds.
	Permits bool `json:"permits,omitempty"`
	// Absent adds a permit when the call finds that its target does not exist.
	Absent bool `json:"absent,omitempty"`
	// Breaks invalidates earlier permits as soon as the call is released: it may have run
	// even if its result never arrives.
	Breaks bool `json:"breaks,omitempty"`
	// Opens counts the call as in flight until its result comes.
	Opens bool `json:"opens,omitempty"`
	// Counts adds one, and Amount, to the running totals.
	Counts bool `json:"counts,omitempty"`
	// Keeps keeps the count after a failure. Distrusts gives it back only after a failure
	// that was observed.
	Keeps     bool   `json:"keeps,omitempty"`
	Distrusts bool   `json:"distrusts,omitempty"`
	Amount    Amount `json:"amount,omitzero"`
	// Step is the width in milliseconds of the steps of the totals, 0 for a single total
	// of all time.
	Step int64 `json:"step,omitempty"`
}

// Release is the part of a released call that is needed when its result comes. Several facts
// may share a Release; it is not written to.
type Release struct {
	Verdict stopgate.Verdict   `json:"verdict"`           // of the result rules
	Policy  string             `json:"policy,omitempty"`  // hash of the policy
	Handoff stopgate.AgentName `json:"handoff,omitempty"` // the receiving agent
	Dialect string             `json:"dialect,omitempty"`
	Surface stopgate.Surface   `json:"surface,omitempty"`
	// Observed reports that the call ran in observe mode: its result is delivered in any
	// case.
	Observed bool `json:"observe,omitempty"`
}

// Info describes a session for listings.
type Info struct {
	Owner Owner
	Facts int64 // number of facts
	First int64 // Unix milliseconds of the first and the last fact
	Last  int64
	Head  uint64 // position of the last fact
}

// Receiver returns the receiving agent of a released handoff, "" for a call.
func (r *Release) Receiver() stopgate.AgentName {
	if r == nil {
		return ""
	}
	return r.Handoff
}
