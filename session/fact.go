package session

import (
	"github.com/stopgate/stopgate"
)

// Kind says what a fact states. The zero Kind is no fact.
type Kind string

// The facts.
const (
	Released   Kind = "released"   // a call was allowed out: from now on it may be running
	Withdrawn  Kind = "withdrawn"  // a released call did not leave after all
	Succeeded  Kind = "succeeded"  // a released call ended well
	Finished   Kind = "finished"   // it ended, and nobody can tell how (S24)
	Failed     Kind = "failed"     // it ended badly: what it reserved is given back (Q13)
	Absent     Kind = "absent"     // it failed, because nothing is there: seen by the gate's own surface (Q15)
	Denied     Kind = "denied"     // a call was denied; counted against denial_limit (S28)
	Approved   Kind = "approved"   // a person approved something, by name (TPS-39)
	Told       Kind = "told"       // the session's data was set
	Noted      Kind = "noted"      // a policy written in Go keeps a note
	Spoke      Kind = "spoke"      // the user said something: denials are counted anew
	Snapshot   Kind = "snapshot"   // a snapshot was taken
	Restored   Kind = "restored"   // a snapshot was restored: facts that permit behind To count no more
	Degraded   Kind = "degraded"   // a result could not be stored (FM16)
	Reconciled Kind = "reconciled" // an operator looked at it
)

// Fact is one entry of a session's history. Facts are only ever added.
type Fact struct {
	// Seq is the position: it grows by one with every fact of the principal. The
	// store sets it.
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
	By       string              `json:"by,omitempty"`   // who approved, told or restored
	// Observed says that the gate's own surface saw the result (X13).
	Observed bool `json:"observed,omitempty"`
	// Hash is the SHA-256 of the content a result showed, for policies that ask for it;
	// of Spoke, what identifies the message.
	Hash string `json:"hash,omitempty"`
	// Marks is what a released call does to cells, now and when it ends.
	Marks []Mark `json:"marks,omitempty"`
	// Release is what a Released fact keeps for the call's result.
	Release *Release `json:"release,omitempty"`

	Name string `json:"name,omitempty"` // of Approved, Noted and Told: what
	Key  Key    `json:"key,omitzero"`   // of Noted and Denied: the cell
	Text string `json:"text,omitempty"` // of Told and Noted: the value
	To   uint64 `json:"to,omitempty"`   // of Restored: the position of the snapshot
}

// Mark is what one released call does to one cell.
type Mark struct {
	Key Key `json:"key"`
	// Permits adds a permit when the call has succeeded.
	Permits bool `json:"permits,omitempty"`
	// Absent adds one when the call has found that nothing is there.
	Absent bool `json:"absent,omitempty"`
	// Breaks invalidates the permits so far, as soon as the call is released: it may
	// have run even if nobody hears of it again.
	Breaks bool `json:"breaks,omitempty"`
	// Opens counts the call as in flight until its result comes.
	Opens bool `json:"opens,omitempty"`
	// Counts adds one, and Amount, to the running totals.
	Counts bool `json:"counts,omitempty"`
	// Keeps says that a failure does not give the count back; Distrusts, that only an
	// observed one does.
	Keeps     bool   `json:"keeps,omitempty"`
	Distrusts bool   `json:"distrusts,omitempty"`
	Amount    Amount `json:"amount,omitzero"`
	// Step is the width in milliseconds of the steps of time by which totals are
	// kept apart, 0 for one total for ever.
	Step int64 `json:"step,omitempty"`
}

// Release is what has to be known of a released call when its result comes. Facts may
// share one; it is not written to.
type Release struct {
	Verdict stopgate.Verdict   `json:"verdict"`           // of the result rules
	Policy  string             `json:"policy,omitempty"`  // hash of the policy
	Handoff stopgate.AgentName `json:"handoff,omitempty"` // the receiving agent
	Dialect string             `json:"dialect,omitempty"`
	Surface stopgate.Surface   `json:"surface,omitempty"`
	// Observed: nothing was enforced; results are delivered whatever the rules say.
	Observed bool `json:"observe,omitempty"`
}

// Info describes a session for listings.
type Info struct {
	Owner Owner
	Facts int64 // how many
	First int64 // Unix milliseconds of the first and the last fact
	Last  int64
	Head  uint64 // position of the last fact
}

// Receiver is the agent that a released handoff went to.
func (r *Release) Receiver() stopgate.AgentName {
	if r == nil {
		return ""
	}
	return r.Handoff
}
