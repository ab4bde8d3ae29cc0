package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
)

// Cell is one running row of a state: what the facts about one [Key] add up to. A
// cell that anybody may look at is never changed in place. The zero Cell is that of a key about which there
// is no fact. All its lists are bounded.
type Cell struct {
	// Permits are the newest facts that permit, oldest first.
	Permits []Permit `json:"permits,omitempty"`
	// Broken is the position of the newest fact that invalidated the permits before it.
	Broken uint64 `json:"broken,omitempty"`
	// Count and Sum are totals for ever, Steps the totals of the latest steps of
	// time, oldest first: of a window, and of the two before it that are apart from it.
	Count int64  `json:"count,omitempty"`
	Sum   Amount `json:"sum,omitzero"`
	Steps []Step `json:"steps,omitempty"`
	// Open are calls in flight, oldest first.
	Open []Open `json:"open,omitempty"`
	// Past are the calls of one id that have ended, oldest first: a client may say
	// their results again and again. Only in a cell of SpaceCallID.
	Past []Open `json:"past,omitempty"`
	// Back are the newest calls of a limit that gave back what they counted, oldest
	// first; Lost is the position of the newest that is not named any more. A turn that
	// had begun still counts them (H4).
	Back []Back `json:"back,omitempty"`
	Lost uint64 `json:"lost,omitempty"`
	// Text is a value: the data, or a note. Was is the data before.
	Text string `json:"text,omitempty"`
	Was  *Was   `json:"was,omitempty"`
	// Seq and At are the position and time of the newest fact; 0 in a cell of
	// SpaceCallID.
	Seq uint64 `json:"seq,omitempty"`
	At  int64  `json:"at,omitempty"`

	Call Issued     `json:"call,omitzero"`  // SpaceCall
	Self *Condition `json:"self,omitempty"` // SpaceSelf
}

// IsZero reports whether the cell says nothing: a store need not keep it.
func (c *Cell) IsZero() bool {
	return len(c.Permits) == 0 && c.Broken == 0 && c.Count == 0 && c.Sum.IsZero() && len(c.Steps) == 0 && len(c.Open) == 0 &&
		len(c.Past) == 0 && len(c.Back) == 0 && c.Lost == 0 && c.Text == "" && c.Was == nil && c.Seq == 0 && c.At == 0 && c.Call.Fact == nil && c.Self == nil
}

// copy copies a cell with its lists.
func (c *Cell) copy() *Cell {
	to := new(Cell)
	*to = *c
	to.Permits, to.Steps = slices.Clone(c.Permits), slices.Clone(c.Steps)
	to.Open, to.Past, to.Back = slices.Clone(c.Open), slices.Clone(c.Past), slices.Clone(c.Back)
	return to
}

// Permit is a fact that permits: a success, an approval.
type Permit struct {
	Seq uint64 `json:"seq"`
	At  int64  `json:"at"`
	// Certain: it is known to have succeeded; otherwise it has only finished.
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
	// Held says that the result rules keep the call's result from the model.
	Held bool `json:"held,omitempty"`
}

// Back is what an ended call gave back: one call, and Amount.
type Back struct {
	Seq    uint64 `json:"seq"` // of its end
	At     int64  `json:"at"`  // of its release
	Amount Amount `json:"amount,omitzero"`
}

// Was is a text that was replaced.
type Was struct {
	Text string `json:"text,omitempty"`
	Seq  uint64 `json:"seq,omitempty"` // since when it was there
}

// Issued is what is known of one released call; zero if there is none.
type Issued struct {
	Fact *Fact `json:"fact"` // Released; never written to
	Done Kind  `json:"done,omitempty"`
	// End is how it ended, nil while it has not, and in cells of older versions.
	End *Fact `json:"end,omitempty"` // never written to
}

// Condition is the state of the session itself.
type Condition struct {
	// Denials counts denials in a row, Same those of one identical call.
	Denials  int    `json:"denials,omitempty"`
	Same     int    `json:"same,omitempty"`
	LastHash string `json:"last,omitempty"`
	// Spoke is the position of the user's last message; Heard identifies the message
	// where it was read out of a history, which repeats it.
	Spoke uint64 `json:"spoke,omitempty"`
	Heard string `json:"heard,omitempty"`
	// Rewinds are the positions whose permits a restore took back.
	Rewinds []Span `json:"rewinds,omitempty"`
	// Snapshots numbers the snapshots; Restored is the newest that was restored.
	Snapshots uint64 `json:"snapshots,omitempty"`
	Restored  uint64 `json:"restored,omitempty"`
	// Degraded: a result could not be stored, the state may lack it (FM16).
	Degraded bool `json:"degraded,omitempty"`
}

// Span is the positions behind After up to and including To.
type Span struct {
	After uint64 `json:"after"`
	To    uint64 `json:"to"`
}

// Bounds of a cell. What does not fit is dropped on the strict side: an old permit
// is forgotten, a call in flight stays counted.
const (
	maxPermits = 8
	// MaxOpen bounds the calls in flight that a cell names. A limit on calls in
	// flight cannot be larger.
	MaxOpen  = 1024
	maxNamed = 8
	maxPast  = 64
	maxBack  = 64
	// Steps is how many steps a window has: a call counts for at least the window
	// and at most one step longer.
	Steps      = 60
	maxRewinds = 64
)

// UnmarshalCell reads what MarshalCell wrote. An empty text is the zero cell.
func UnmarshalCell(text []byte) (Cell, error) {
	if len(text) == 0 {
		return Cell{}, nil
	}
	c, ok := readCell(text)
	if !ok {
		c = Cell{}
		if err := json.Unmarshal(text, &c); err != nil {
			return Cell{}, fmt.Errorf("cell of a session: %w", err)
		}
	}
	if c.Call.Fact == nil && c.Call != (Issued{}) {
		return Cell{}, errors.New("cell of a session: a call without its fact")
	}
	return c, nil
}
