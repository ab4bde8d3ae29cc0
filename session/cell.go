package session

import (
	"slices"

	"github.com/stopgate/stopgate"
)

// Cell is the sum of the facts about one [Key]. A cell that is shared is never changed in
// place. The zero Cell is that of a key without facts. All lists are bounded.
type Cell struct {
	// Permits are the newest facts that permit, oldest first.
	Permits []Permit `json:"permits,omitempty"`
	// Broken is the position of the newest fact that invalidated the permits before it.
	Broken uint64 `json:"broken,omitempty"`
	// Count and Sum are the totals of all time, Steps the totals of the latest steps of
	// time, oldest first: the current era and at most two earlier ones, see maxEras.
	Count int64  `json:"count,omitempty"`
	Sum   Amount `json:"sum,omitzero"`
	Steps []Step `json:"steps,omitempty"`
	// Open are calls in flight, oldest first.
	Open []Open `json:"open,omitempty"`
	// Past are the calls of one id that have ended, oldest first: a client may repeat
	// their results in every request. Only in a cell of SpaceCallID.
	Past []Open `json:"past,omitempty"`
	// Refunds are the newest calls of a limit whose count was given back, oldest first;
	// Lost is the position of the newest refund that was dropped from the list. A turn
	// that began before a refund still counts the call (H4).
	Refunds []Refund `json:"back,omitempty"`
	Lost    uint64   `json:"lost,omitempty"`
	// Text is the session's data or a note. Was is the data that it replaced.
	Text string `json:"text,omitempty"`
	Was  *Was   `json:"was,omitempty"`
	// Seq and At are the position and time of the newest fact; 0 in a cell of
	// SpaceCallID.
	Seq uint64 `json:"seq,omitempty"`
	At  int64  `json:"at,omitempty"`

	Call Issued     `json:"call,omitzero"`  // SpaceCall
	Self *Condition `json:"self,omitempty"` // spaceSelf
}

// IsZero reports whether the cell is the zero Cell: a store need not keep it.
func (c *Cell) IsZero() bool {
	return len(c.Permits) == 0 && c.Broken == 0 && c.Count == 0 && c.Sum.IsZero() && len(c.Steps) == 0 && len(c.Open) == 0 &&
		len(c.Past) == 0 && len(c.Refunds) == 0 && c.Lost == 0 && c.Text == "" && c.Was == nil && c.Seq == 0 && c.At == 0 && c.Call.Fact == nil && c.Self == nil
}

// copy copies a cell with its lists.
func (c *Cell) copy() *Cell {
	to := new(Cell)
	*to = *c
	to.Permits, to.Steps = slices.Clone(c.Permits), slices.Clone(c.Steps)
	to.Open, to.Past, to.Refunds = slices.Clone(c.Open), slices.Clone(c.Past), slices.Clone(c.Refunds)
	return to
}

// Permit is the part of a fact that permits: of a success, an approval or a note.
type Permit struct {
	Seq uint64 `json:"seq"`
	At  int64  `json:"at"`
	// Certain reports that the call is known to have succeeded; otherwise it finished with
	// an unknown result.
	Certain  bool   `json:"certain,omitempty"`
	Observed bool   `json:"observed,omitempty"`
	Hash     string `json:"hash,omitempty"` // of the content it showed
	Text     string `json:"text,omitempty"` // of a note
}

// Step is a total over one step of time.
type Step struct {
	At    int64  `json:"at"` // number of the step since 1970
	Count int64  `json:"count"`
	Sum   Amount `json:"sum,omitzero"`
}

// Open is a released call: in flight, or past.
type Open struct {
	Proposal stopgate.ProposalID `json:"proposal"`
	At       int64               `json:"at"`
	Seq      uint64              `json:"seq"`
	Args     string              `json:"args_hash,omitempty"`
	// Held reports that the result rules withhold the call's result from the model.
	Held bool `json:"held,omitempty"`
}

// Refund is the amount that the end of a call returned to a limit: one call, and Amount.
type Refund struct {
	Seq    uint64 `json:"seq"` // of its end
	At     int64  `json:"at"`  // of its release
	Amount Amount `json:"amount,omitzero"`
}

// Was is a text that was replaced.
type Was struct {
	Text string `json:"text,omitempty"`
	Seq  uint64 `json:"seq,omitempty"` // since when it was there
}

// Issued describes one released call; it is zero if there is none.
type Issued struct {
	Fact *Fact `json:"fact"` // Released; never written to
	Done Kind  `json:"done,omitempty"`
	// End is the fact of its end; nil while the call is open, and in cells of older versions.
	End *Fact `json:"end,omitempty"` // never written to
}

// Condition is the state of the session itself.
type Condition struct {
	// Denials counts denials in a row, Same those of one identical call.
	Denials  int    `json:"denials,omitempty"`
	Same     int    `json:"same,omitempty"`
	LastHash string `json:"last,omitempty"`
	// Spoke is the position of the user's last message. LastMessage identifies a message
	// that was read from a conversation history, because histories repeat it.
	Spoke       uint64 `json:"spoke,omitempty"`
	LastMessage string `json:"heard,omitempty"`
	// Rewinds are the positions whose permits a restore took back.
	Rewinds []Span `json:"rewinds,omitempty"`
	// Snapshots numbers the snapshots; Restored is the newest that was restored.
	Snapshots uint64 `json:"snapshots,omitempty"`
	Restored  uint64 `json:"restored,omitempty"`
	// Degraded reports that a result could not be stored, so that the state may lack it
	// (FM16).
	Degraded bool `json:"degraded,omitempty"`
}

// Span is the positions after After, up to and including To.
type Span struct {
	After uint64 `json:"after"`
	To    uint64 `json:"to"`
}

// Bounds of a cell. An entry that does not fit is dropped on the strict side: the oldest
// permit is dropped, and a call in flight stays counted.
const (
	maxPermits = 8
	// MaxOpen bounds the calls in flight that a cell lists. A limit on calls in flight
	// cannot be larger.
	MaxOpen    = 1024
	maxNamed   = 8
	maxPast    = 64
	maxRefunds = 64
	// Steps is the number of steps in a window. A call counts for at least the window and
	// for at most one step longer.
	Steps      = 60
	maxRewinds = 64
)
