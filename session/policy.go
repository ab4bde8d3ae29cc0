package session

import (
	"cmp"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Policy is a session policy (TPS-06, S37): a pure function of the state and the call. It
// keeps its own state as facts. A policy is called from several goroutines at once and must
// not keep anything else between two calls.
//
// A policy may also implement [Marker], [Observer], [Switch], [Versioned], [Keyed],
// [Watcher] and [Bounded].
type Policy interface {
	// Name is unique in a registry.
	Name() string
	// Tools are the tools that the policy governs: those that it may deny and those whose
	// calls it learns from (TPS-16).
	Tools() Selector
	// Needs returns the cells that Check, Active and OnResult read for a call, such as
	// [NoteKey]. The arguments of the call may be unknown, see [Call].
	Needs(c Call) []Key
	// Check decides. Calls that the policy only learns from are allowed.
	Check(v View, c Call) Decision
}

// Marker is a policy that learns from marks on released calls, which the gate writes with
// the release: so the policies of package policies learn. It needs no function that runs when a
// result arrives, and counts calls whose results never do. Other policies use [Observer].
type Marker interface {
	Marks(c Call) []Mark
}

// Observer is a policy that keeps notes about results (TPS-06, TPS-08). OnResult is called
// once for each released call that did not fail, and returns notes: see [Note]. Other facts,
// and notes of another policy, are dropped.
type Observer interface {
	OnResult(v View, r Result) []Fact
}

// Switch is a policy that can be inactive (TPS-27). Facts are recorded even then, and a
// predicate that fails counts as active (H11).
type Switch interface {
	Active(v View) bool
}

// Versioned is a policy written in Go whose version enters the policy hash of
// records (S36).
type Versioned interface {
	Version() string
}

// VersionOf returns the version of a policy, or of the policy that it wraps; "" for none.
func VersionOf(p Policy) string {
	if v, ok := as[Versioned](p); ok {
		return v.Version()
	}
	return ""
}

// Call is a proposal as policies see it.
type Call struct {
	Proposal stopgate.ProposalID
	Tool     stopgate.ToolName // the policy's name for it (S39)
	Agent    stopgate.AgentName
	Turn     stopgate.TurnID
	ID       stopgate.CallID
	// Args are the complete arguments. They are not valid before the arguments have
	// arrived: only policies that need no arguments are asked then.
	Args     jsonstream.Value
	ArgsHash string
	// To is the receiving agent of a handoff, "" for a call.
	To stopgate.AgentName
	// Paths reports whether a pointer names a path in the tool's schema; nil if that is
	// unknown.
	Paths func(jsonstream.Pointer) bool
}

// Argument returns a member of the arguments as canonical JSON text, as the value of a note:
// "7" and 7 are different values. ok is false if there is none that identifies something: the
// arguments are not known, the member is missing, null, an array or an object. A policy must
// not take that for a permission.
func (c Call) Argument(name string) (value string, ok bool) {
	v, _ := c.Args.Get(name)
	switch v.Kind() {
	case jsonstream.String, jsonstream.Number, jsonstream.True, jsonstream.False:
		return string(jsonstream.AppendCanonical(nil, v)), true
	}
	return "", false
}

// Result is the result of a released call.
type Result struct {
	// Call is the call. Its Args are the arguments that ran; they are not valid where the gate
	// no longer has them and the surface did not repeat them, as after a restart.
	Call   Call
	Kind   Kind // Succeeded, Finished, Failed or Absent
	Data   []byte
	Hash   string
	At     int64
	Seen   bool // observed by the gate's own surface
	Marked []Mark
}

// View is the state of a session as a policy sees it.
type View struct {
	State State
	Owner Owner
	// Groups are those of the principal of the call; they are not known for a result.
	Groups stopgate.Groups
	// Now is the time in Unix milliseconds.
	Now int64
	// Horizon is the position at the turn's first call. Later permits do not count in this
	// turn (S8).
	Horizon uint64
	// UnderWay are the cells in which earlier open calls of the same turn would add permits.
	// These calls have no outcome yet, and do not permit this one.
	UnderWay []Key
}

// Cell returns a cell that the policy needs. A cell that was not loaded is the zero Cell.
func (v View) Cell(k Key) *Cell {
	c, _ := v.State.Cell(k)
	return c
}

// Data returns the session's data, an object. It is not valid if there is none.
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

// Note returns the newest note of a policy about a value that is in force: a note counts
// from the next turn on, and not after a restore took it back (S15). Use it for notes that
// permit. For notes that restrict, read the Text of the cell, which a restore leaves as it
// is. The policy must need [NoteKey].
func (v View) Note(policy, value string) (text string, ok bool) {
	c := v.Cell(NoteKey(policy, value))
	for i := len(c.Permits) - 1; i >= 0; i-- {
		if p := c.Permits[i]; v.InForce(p, c.Broken) {
			return p.Text, true
		}
	}
	return "", false
}

// InForce reports whether a permit counts: it is not newer than the horizon, not older than
// the invalidation at broken, and no restore took it back.
func (v View) InForce(p Permit, broken uint64) bool {
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
	// Ask lets a person allow this one call in spite of the objection. Without an approver the
	// call is denied.
	Ask  bool
	Code stopgate.Code
	// Public tells models and people how to satisfy the policy. It uses names from the
	// policy, never from the call. "" takes the sentence of the code.
	Public string
	// Detail tells the approver which prerequisite is missing. Unlike Public it may name values
	// of the call; "" takes Public.
	Detail string
	// Missing are the calls or approvals that are missing, sorted (TPS-15).
	Missing []string
	// Meta is written to records and events only (S10).
	Meta map[string]string
	// Policy is set by the registry.
	Policy string
}

// Allow returns the decision without an objection.
func Allow() Decision { return Decision{Allowed: true} }

// Deny returns an objection.
func Deny(code stopgate.Code, public string) Decision {
	return Decision{Code: code, Public: public}
}

// Identity identifies an objection that a person may overrule: an approval of a call allows the
// objections that were shown, and no others.
func (d *Decision) Identity() string {
	return fmt.Sprintf("%q %q %q", d.Policy, d.Code, d.Text())
}

// Text returns the sentence for people.
func (d *Decision) Text() string { return cmp.Or(d.Detail, d.Public, d.Code.Public()) }

// Note returns the fact of a note that a policy written in Go keeps about a value. Its cell
// is [NoteKey], and [View.Note] reads it. A policy can only write its own notes.
func Note(policy, value, text string) Fact {
	return Fact{Kind: Noted, Name: policy, Key: NoteKey(policy, value), Text: text}
}

// NoteKey returns the key of a policy's notes about one value.
func NoteKey(policy, value string) Key {
	return Key{Space: SpaceNote, Name: policy, Value: ValueOf(value)}
}
