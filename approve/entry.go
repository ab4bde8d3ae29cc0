package approve

import (
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// State says how far a question is. The zero State is no state and never allows.
type State string

// The states. Only Approved and Edited can let a call out, once.
const (
	Waiting   State = "waiting"   // nobody answered yet
	Approved  State = "approved"  // yes, exactly this; not used yet
	Edited    State = "edited"    // yes, with Entry.Edit instead; not used yet
	Declined  State = "declined"  // no
	Used      State = "used"      // the approved call was let out, or given to the gate to judge
	Withdrawn State = "withdrawn" // nobody needs an answer any more: the call is gone or denied
)

// Entry is one question and what became of it.
type Entry struct {
	// ID names the entry in lists and messages. It is no credential: a model may know
	// it (S4).
	ID       string              `json:"id"`
	Proposal stopgate.ProposalID `json:"proposal"`
	Parent   stopgate.ProposalID `json:"parent,omitempty"`

	Tool      stopgate.ToolName  `json:"tool"`
	CallID    stopgate.CallID    `json:"call_id,omitempty"`
	Session   stopgate.SessionID `json:"session,omitempty"`
	Turn      stopgate.TurnID    `json:"turn,omitempty"`
	Agent     stopgate.AgentName `json:"agent,omitempty"`
	Principal stopgate.Principal `json:"principal,omitempty"`
	Server    stopgate.ServerID  `json:"server,omitempty"`
	Surface   stopgate.Surface   `json:"surface,omitempty"`

	// Mode is ask or edit; the rest says why.
	Mode    stopgate.Mode     `json:"mode"`
	Code    stopgate.Code     `json:"code"`
	Rule    *stopgate.RuleRef `json:"rule,omitempty"`
	Pointer string            `json:"pointer,omitempty"`
	Segment *stopgate.Segment `json:"segment,omitempty"`
	Public  string            `json:"public,omitempty"`
	Floors  []stopgate.Floor  `json:"floors,omitempty"`

	// Complete says that Args are all of the arguments. Until then only no is an
	// answer (S54).
	Complete bool         `json:"complete"`
	Received int64        `json:"received"` // argument bytes so far
	Args     string       `json:"args,omitempty"`
	Binding  gate.Binding `json:"binding,omitzero"`
	// Leaves are the values that a grant for this call would look at.
	Leaves []gate.Leaf `json:"leaves,omitempty"`
	// Asking names every rule that asked, or the code of a list that did: Rule is one of
	// them.
	Asking []string `json:"asking,omitempty"`

	Asked time.Time `json:"asked"`
	// Until is when the last exchange that asked stops waiting, not after Asked where none
	// did; Expires, when an answer is refused and an approval that was not used is void.
	Until   time.Time `json:"until,omitzero"`
	Expires time.Time `json:"expires"`

	State    State     `json:"state"`
	By       string    `json:"by,omitempty"`     // who answered
	Via      string    `json:"via,omitempty"`    // how: a channel
	Reason   string    `json:"reason,omitempty"` // in the answerer's own words
	Edit     string    `json:"edit,omitempty"`   // the arguments of Edited
	Answered time.Time `json:"answered,omitzero"`
	// UsedBy is the proposal that an approval let out.
	UsedBy stopgate.ProposalID `json:"used_by,omitempty"`
}

// Why an answer is refused. Every error of this package that is about an entry is
// one of them, or the store's.
var (
	ErrUnknown    = errors.New("approve: there is no such question")
	ErrAnswered   = errors.New("approve: the question is answered already")
	ErrExpired    = errors.New("approve: the time for an answer is over")
	ErrIncomplete = errors.New("approve: the arguments are still arriving: only a no is possible yet")
	ErrNoEdit     = errors.New("approve: edited arguments must be one JSON object")
	ErrOwn        = errors.New("approve: the call was proposed with the same token: somebody else has to say yes")
	ErrNoName     = errors.New("approve: an answer needs the name of who gives it")
	ErrStale      = errors.New("approve: the question has changed since it was read")
	ErrUsed       = errors.New("approve: the approval was used already")
)

// Kind is what somebody answers. The zero Kind is no.
type Kind uint8

// The answers.
const (
	No   Kind = iota // the call does not run
	Yes              // the call runs as it is
	With             // the call runs with Reply.Args, if every layer agrees
)

// The channels by which an answer comes, for who counts them. They decide nothing.
const (
	ViaCommand  = "command"  // stopgate approvals allow, deny or edit
	ViaTerminal = "terminal" // stopgate approvals watch
	ViaPage     = "page"     // the web page
	ViaAPI      = "api"      // the decision API
	ViaClient   = "client"   // the prompt of an MCP client
	ViaAgent    = "agent"    // stopgate agent
	ViaGrant    = "grant"    // a standing grant; nobody was asked
)

// Reply is an answer to an entry.
type Reply struct {
	Kind   Kind
	By     string // who answers; required
	Via    string // how: a channel, "" if that is not known
	Reason string // for the record
	Args   []byte // of With: one JSON object
	// Principal is whose token the answer came with, "" where a person sat at a terminal.
	// With the token that proposed a call over the decision API only no is an answer
	// (S4).
	Principal stopgate.Principal
	// Seen is the Entry.Binding's hash that was shown, "" for whatever the entry is
	// now. A yes to something else is refused with ErrStale.
	Seen string
}

// answer is what an entry becomes by a reply.
func (e Entry) answer(r Reply, now time.Time) (Entry, error) {
	switch {
	case r.By == "":
		return e, ErrNoName
	case e.over(now):
		return e, ErrExpired
	case r.Kind == No && e.usable():
		// The first no wins, as long as the call has not left (H16).
	case e.State != Waiting:
		return e, fmt.Errorf("%w: %s", ErrAnswered, e.fate())
	case r.Kind != No && r.Principal != "" && r.Principal == e.Principal && e.Surface == stopgate.SurfaceDecide:
		return e, ErrOwn
	case r.Kind != No && !e.Complete:
		return e, ErrIncomplete
	case r.Kind != No && r.Seen != "" && r.Seen != e.Binding.Hash():
		return e, ErrStale
	}
	e.By, e.Via, e.Reason, e.Answered, e.Edit = r.By, r.Via, r.Reason, now, ""
	switch r.Kind {
	case Yes:
		e.State = Approved
	case With:
		if !isObject(r.Args) {
			return e, ErrNoEdit
		}
		e.State, e.Edit = Edited, string(r.Args)
	default:
		e.State = Declined
	}
	return e, nil
}

// use spends an approval on a proposal with a binding.
func (e Entry) use(by stopgate.ProposalID, b gate.Binding, now time.Time) (Entry, error) {
	switch {
	case e.State == Used:
		return e, ErrUsed
	case !e.usable():
		return e, fmt.Errorf("%w: %s", ErrAnswered, e.fate())
	case e.over(now):
		return e, ErrExpired
	case b == (gate.Binding{}) || e.Binding != b:
		return e, ErrStale
	}
	e.State, e.UsedBy = Used, by
	return e, nil
}

// usable reports whether the entry is a yes that nobody has used.
func (e Entry) usable() bool { return e.State == Approved || e.State == Edited }

// open reports whether the identical call may still wait for this entry or use it.
func (e Entry) open(now time.Time) bool {
	return !e.over(now) && (e.State == Waiting || e.usable())
}

// over reports whether the entry is of another time: it has expired, or the clock was set
// back behind what happened to it, so that nobody knows whether it has (FM13).
func (e Entry) over(now time.Time) bool {
	return !now.Before(e.Expires) || now.Add(slack).Before(e.Asked) || now.Add(slack).Before(e.Answered)
}

// slack is how far clocks may be apart, or set right, without consequence.
const slack = time.Minute

// Unattended reports a question that no exchange waited for: nobody was there, and its call
// was denied at once.
func (e Entry) Unattended() bool { return !e.Until.IsZero() && !e.Until.After(e.Asked) }

// Over reports whether nothing can become of the entry any more: nobody has to see what it
// was about.
func (e Entry) Over() bool {
	return e.State == Declined || e.State == Used || e.State == Withdrawn
}

// fate says in words what became of an entry.
func (e Entry) fate() string {
	switch e.State {
	case Withdrawn:
		return "withdrawn, the call is gone"
	case Used:
		return "approved by " + e.By + " and used"
	}
	return string(e.State) + " by " + e.By
}
