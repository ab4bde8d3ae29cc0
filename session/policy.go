package session

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Policy is a session policy (TPS-06, S37): a pure function of the state
// and the call. Its own state is facts. A policy may be asked from several
// goroutines at once and must not keep anything between two calls.
//
// A policy may also implement [Marker], [Observer], [Switch], [Versioned], [Keyed],
// [Watcher] and [Bounded].
type Policy interface {
	// Name is unique in a registry.
	Name() string
	// Tools are the tools that the policy hears of: those it may deny and those whose
	// calls it learns from (TPS-16).
	Tools() Selector
	// Needs are the cells that Check, Active and OnResult look at.
	Needs(c Call) []Key
	// Check decides. Calls that the policy only learns from are allowed.
	Check(v View, c Call) Decision
}

// Marker is a policy whose facts are marks on released calls: the gate writes them
// with the release itself.
type Marker interface {
	Marks(c Call) []Mark
}

// Observer is a policy that keeps notes about results (TPS-08). It is called for
// released calls that ended, once each; Noted facts on cells of its own are all it
// may return, see [Note].
type Observer interface {
	OnResult(v View, r Result) []Fact
}

// Switch is a policy that is active only sometimes (TPS-27). Facts are recorded all
// the same, and a predicate that fails counts as active (H11).
type Switch interface {
	Active(v View) bool
}

// Versioned is a policy written in Go whose version enters the policy hash of
// records (S36).
type Versioned interface {
	Version() string
}

// VersionOf is the version of a policy, or of the one that it wraps; "" for none.
func VersionOf(p Policy) string {
	if v, ok := as[Versioned](p); ok {
		return v.Version()
	}
	return ""
}

// Call is what a policy sees of a proposal.
type Call struct {
	Proposal stopgate.ProposalID
	Tool     stopgate.ToolName // the policy's name for it (S39)
	Agent    stopgate.AgentName
	Turn     stopgate.TurnID
	ID       stopgate.CallID
	// Args are the complete arguments. They are not valid where a call is looked at
	// before they came: only policies that need no argument are asked then.
	Args     jsonstream.Value
	ArgsHash string
	// To is the receiving agent of a handoff, "" for a call.
	To stopgate.AgentName
	// Paths reports that a pointer names a path in the tool's schema; nil if nobody knows.
	Paths func(jsonstream.Pointer) bool
}

// Result is how a released call ended.
type Result struct {
	Call   Call // without Args
	Kind   Kind // Succeeded, Finished, Failed or Absent
	Data   []byte
	Hash   string
	At     int64
	Seen   bool // observed by the gate's own surface
	Marked []Mark
}

// View is what a policy sees of a session.
type View struct {
	State State
	Owner Owner
	// Now is the time in Unix milliseconds.
	Now int64
	// Horizon is the position as of the turn's first call: what permits and came
	// later does not count in this turn (S8).
	Horizon uint64
	// UnderWay are the cells that open calls of the same turn would permit: the model
	// made them before this call, and they have no outcome yet. They permit nothing.
	UnderWay []Key
}

// Cell returns a cell that the policy needs. A cell that was not asked for is empty.
func (v View) Cell(k Key) *Cell {
	c, _ := v.State.Cell(k)
	return c
}

// Data is the session's data, an object; not valid if there is none.
func (v View) Data() jsonstream.Value { return dataOf(v.Cell(DataKey).Text) }

func dataOf(text string) jsonstream.Value {
	if text == "" {
		return jsonstream.Value{}
	}
	data, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		return jsonstream.Value{}
	}
	return data
}

// Note returns the newest note of a policy about a value that still counts: what was
// noted in a turn counts from the next one on, and what a restore took back does not
// (S15). It is for notes that permit; what restricts is the Text of the cell,
// which a restore leaves. The policy has to need [NoteKey].
func (v View) Note(policy, value string) (text string, ok bool) {
	c := v.Cell(NoteKey(policy, value))
	for i := len(c.Permits) - 1; i >= 0; i-- {
		if p := c.Permits[i]; v.Stands(p, c.Broken) {
			return p.Text, true
		}
	}
	return "", false
}

// Stands reports whether a fact that permits still counts: it was there when the
// turn began, nothing invalidated it, and no restore took it back.
func (v View) Stands(p Permit, broken uint64) bool {
	if p.Seq > v.Horizon || p.Seq < broken {
		return false
	}
	if self := v.Cell(Self); self.Self != nil {
		for _, span := range self.Self.Rewinds {
			if p.Seq > span.After && p.Seq <= span.To {
				return false
			}
		}
	}
	return true
}

// Decision is a session policy's answer (TPS-09). The zero Decision denies and is
// invalid: a denial needs a code.
type Decision struct {
	Allowed bool
	Code    stopgate.Code
	// Public says what would satisfy the policy, for models and people: names of the
	// policy, never of the call. "" takes the code's own sentence.
	Public string
	// Missing are the calls or approvals that are missing, sorted (TPS-15).
	Missing []string
	// Meta is for records and events only (S10).
	Meta map[string]string
	// Policy is set by the registry.
	Policy string
}

// Allow has no objection.
func Allow() Decision { return Decision{Allowed: true} }

// Deny objects.
func Deny(code stopgate.Code, public string) Decision {
	return Decision{Code: code, Public: public}
}

// Note is a fact by which a policy written in Go remembers something under a key
// value; its cell is [NoteKey], and [View.Note] reads it. A policy writes its own only.
func Note(policy, value, text string) Fact {
	return Fact{Kind: Noted, Name: policy, Key: NoteKey(policy, value), Text: text}
}

// NoteKey is the cell of a policy's notes about one value.
func NoteKey(policy, value string) Key {
	return Key{Space: SpaceNote, Name: policy, Value: ValueOf(value)}
}
