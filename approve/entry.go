package approve

import (
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
)

// State is the state of a question. The zero State is invalid and never allows.
type State string

// The states. Only Approved and Edited can release a call, once.
const (
	Waiting   State = "waiting"   // not answered
	Approved  State = "approved"  // yes, exactly this; not used yet
	Edited    State = "edited"    // yes, with Entry.Edit as arguments; not used yet
	Declined  State = "declined"  // no
	Used      State = "used"      // the approved call was released, or given to the gate to judge
	Withdrawn State = "withdrawn" // no answer is needed any more: the call is gone or denied
)

// Entry is one question, with its answer.
type Entry struct {
	// ID identifies the entry in lists and messages. It is no credential: a model may know it (S4).
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
	// KnownServer is that of the [gate.View].
	KnownServer stopgate.ServerID `json:"known_server,omitempty"`

	// Mode is ask or edit; the next fields give the reason.
	Mode    stopgate.Mode     `json:"mode"`
	Code    stopgate.Code     `json:"code"`
	Rule    *stopgate.RuleRef `json:"rule,omitempty"`
	Pointer string            `json:"pointer,omitempty"`
	Segment *stopgate.Segment `json:"segment,omitempty"`
	Public  string            `json:"public,omitempty"`
	Floors  []stopgate.Floor  `json:"floors,omitempty"`
	// Missing lists the objections of session policies that ask. No grant satisfies them.
	Missing []string `json:"missing,omitempty"`
	// Origins are where the values come from that conditions on origins evaluated.
	Origins []stopgate.Origin `json:"origins,omitempty"`

	// Complete reports that Args are all arguments. Until then only no is accepted (S54).
	Complete bool         `json:"complete"`
	Received int64        `json:"received"` // argument bytes so far
	Args     string       `json:"args,omitempty"`
	Binding  gate.Binding `json:"binding,omitzero"`
	// Leaves are the values that a grant for this call would compare.
	Leaves []gate.Leaf `json:"leaves,omitempty"`
	// Asking names every rule that asked, or the code of a rule list that asked; Rule is one of
	// them.
	Asking []string `json:"asking,omitempty"`

	Asked time.Time `json:"asked"`
	// Until is the time at which the last exchange stops waiting, or Asked if no exchange waits.
	// Expires is the time after which answers are refused and an unused approval is void.
	Until   time.Time `json:"until,omitzero"`
	Expires time.Time `json:"expires"`

	// Requirement is who may answer. Consents are the approvals so far, if several are needed; the
	// question waits until there are enough. Their edited arguments are Edit.
	Requirement Requirement `json:"requirement,omitzero"`
	Consents    []Consent   `json:"consents,omitempty"`

	State    State     `json:"state"`
	By       string    `json:"by,omitempty"`     // who answered
	Via      string    `json:"via,omitempty"`    // a channel
	Reason   string    `json:"reason,omitempty"` // in the words of the person
	Edit     string    `json:"edit,omitempty"`   // the arguments of Edited
	Answered time.Time `json:"answered,omitzero"`
	// UsedBy is the proposal that used the approval.
	UsedBy stopgate.ProposalID `json:"used_by,omitempty"`
}

// Reasons to refuse an answer. Every error of this package about an entry is one of them, or an
// error of the store.
var (
	ErrUnknown    = errors.New("approve: there is no such question")
	ErrAnswered   = errors.New("approve: the question is answered already")
	ErrExpired    = errors.New("approve: the time for an answer is over")
	ErrIncomplete = errors.New("approve: the arguments are still arriving: only a no is possible yet")
	ErrNoEdit     = errors.New("approve: edited arguments must be one JSON object")
	ErrOwn        = errors.New("approve: the call was proposed with the same token: another person has to approve it")
	ErrNoName     = errors.New("approve: an answer needs the name of the person")
	ErrStale      = errors.New("approve: the question has changed since it was read")
	ErrNotAllowed = errors.New("approve: another person has to answer: the policy names those who may")
	ErrTwice      = errors.New("approve: you have approved already: another person has to")
	ErrDiffers    = errors.New("approve: the approvals are for different arguments: approve those that were approved, or deny")
	ErrUsed       = errors.New("approve: the approval was used already")
)

// Kind is the kind of an answer. The zero Kind is no.
type Kind uint8

// The answers.
const (
	No   Kind = iota // the call does not run
	Yes              // the call runs as it is
	With             // the call runs with Reply.Args, if every layer allows it
)

// The channels of answers, for statistics. They do not affect decisions.
const (
	ViaCommand  = "command"  // stopgate approvals allow, deny or edit
	ViaTerminal = "terminal" // stopgate approvals watch
	ViaPage     = "page"     // the web page
	ViaAPI      = "api"      // the decision API
	ViaClient   = "client"   // the prompt of an MCP client
	ViaAgent    = "agent"    // stopgate agent
	ViaGrant    = "grant"    // a grant, without a question to a person
	ViaProgram  = "program"  // the program that proposed the call, over the decision API
)

// Reply is an answer to an entry.
type Reply struct {
	Kind   Kind
	By     string // the name of the person; required
	Via    string // how: a channel, "" if that is not known
	Reason string // for the record
	Args   []byte // arguments of With: one JSON object
	// Principal is the owner of the token that the answer came with, or "" for a person at a
	// terminal. The token that proposed a call over the decision API may only answer no (S4).
	Principal stopgate.Principal
	// Seen is the hash of the Entry.Binding that was shown; "" accepts the entry as it is now. A
	// yes to another binding is refused with ErrStale.
	Seen string
	// Groups are the groups of the person.
	Groups stopgate.Groups
	// Program reports that the program that proposed the call answers, for a person at it. It is
	// none of those that a requirement names, and counts as one approval.
	Program bool

	scope string // of the grant that the reply also asks for
}

// answer returns the entry after a reply.
func (e Entry) answer(r Reply, now time.Time) (Entry, error) {
	switch {
	case r.By == "":
		return e, ErrNoName
	case e.invalidAt(now):
		return e, ErrExpired
	case e.State != Waiting && !(r.Kind == No && e.usable()): // the first no is accepted until the call is released (H16)
		return e, fmt.Errorf("%w: %s", ErrAnswered, e.description())
	}
	if r.Kind != No {
		if err := e.mayApprove(&r); err != nil {
			return e, err
		}
	}
	switch {
	case !e.Requirement.allows(&r) && !(r.Kind == No && e.own(&r)):
		return e, ErrNotAllowed
	case r.Kind != No && !e.Complete:
		return e, ErrIncomplete
	case r.Kind != No && r.Seen != "" && r.Seen != e.Binding.Hash():
		return e, ErrStale
	}
	edit := ""
	if r.Kind == With {
		if !isObject(r.Args) {
			return e, ErrNoEdit
		}
		edit = string(r.Args)
	}
	by := r.By
	if r.Kind != No && e.Requirement.Approvals > 1 {
		complete, err := e.consent(&r, edit, now)
		if err != nil || !complete {
			return e, err
		}
		by = e.approvers()
	}
	e.By, e.Via, e.Reason, e.Answered, e.Edit = by, r.Via, r.Reason, now, edit
	switch r.Kind {
	case Yes:
		e.State = Approved
	case With:
		e.State = Edited
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
		return e, fmt.Errorf("%w: %s", ErrAnswered, e.description())
	case e.invalidAt(now):
		return e, ErrExpired
	case b == (gate.Binding{}) || e.Binding != b:
		return e, ErrStale
	}
	e.State, e.UsedBy = Used, by
	return e, nil
}

// usable reports whether the entry is an unused yes.
func (e Entry) usable() bool { return e.State == Approved || e.State == Edited }

// open reports whether the identical call may still wait for this entry or use it.
func (e Entry) open(now time.Time) bool {
	return !e.invalidAt(now) && (e.State == Waiting || e.usable())
}

// invalidAt reports whether the entry has expired at a time, or the clock was set back to before
// its last change, so that its expiry is unknown (FM13).
func (e Entry) invalidAt(now time.Time) bool {
	return !now.Before(e.Expires) || now.Add(clockSkew).Before(e.Asked) || now.Add(clockSkew).Before(e.Answered)
}

// clockSkew is the tolerated difference between clocks.
const clockSkew = time.Minute

// Unattended reports a question that no exchange waited for: no approver was present, and the call
// was denied at once.
func (e Entry) Unattended() bool { return !e.Until.IsZero() && !e.Until.After(e.Asked) }

// Over reports whether the entry can no longer be answered or used.
func (e Entry) Over() bool {
	return e.State == Declined || e.State == Used || e.State == Withdrawn
}

// description describes the state of an entry in words.
func (e Entry) description() string {
	switch e.State {
	case Withdrawn:
		return "withdrawn, the call is gone"
	case Used:
		return "approved by " + e.By + " and used"
	}
	return string(e.State) + " by " + e.By
}
