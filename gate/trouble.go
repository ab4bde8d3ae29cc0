package gate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/session"
)

// Trouble describes a failure of code that the gate called. Rows and models only get its code
// and fault, never its text (H17).
type Trouble struct {
	// Who failed: "policy NAME", "approver", "judge", "store" or "recorder".
	Who string
	// Proposal is the call that is denied for it, "" where it is about none.
	Proposal stopgate.ProposalID
	// Err is the returned error, the value and stack of a panic, or a missed deadline.
	Err error
}

// String returns the failure on one line, followed by the stack of a panic.
func (t Trouble) String() string { return t.Who + ": " + t.Err.Error() }

// WithTrouble calls f for every error, panic and missed deadline of policies in Go, approvers,
// judges, the store and the recorder, and for session policies in Go that can deny no tool that
// the policy files know, for the log of the program. The errors are unredacted.
// f is called from several goroutines, while a call waits, and must not call the gate. It
// does not affect decisions.
func WithTrouble(f func(Trouble)) Option { return func(c *config) { c.trouble = f } }

// errGovernsNothing is the trouble of a session policy that can deny no known tool, for example
// because a name is misspelt (TPS-21).
var errGovernsNothing = errors.New("the policy governs no tool that a policy file knows")

// reportIdle reports the session policies in Go that can deny no tool of the policy. Those of
// files are reported by check.
func (c *config) reportIdle(in *compiled, set *session.Set) {
	tools, complete := in.policy.KnownTools()
	if !complete || c.trouble == nil {
		return
	}
	for _, p := range set.Idle(tools) {
		err := fmt.Errorf("%w: %s", errGovernsNothing, strings.Join(p.Tools().Names(), ", "))
		c.reportTrouble("session policy "+p.Name(), "", port.Failed, err)
	}
}

// errNoAnswer is the failure of an approver that returned neither an error nor a valid answer.
var errNoAnswer = errors.New("invalid answer: make it with a method of the View, name the person, and edit only with Abilities.CanEdit")

// reportTrouble reports a failure of a port. The end of the caller's context is none.
func (c *config) reportTrouble(who string, id stopgate.ProposalID, f port.Fault, err error) {
	if c.trouble == nil || f == port.None || f == port.CallerDone {
		return
	}
	switch {
	case err == nil:
		err = errors.New(f.String())
	case f == port.Late:
		err = fmt.Errorf("%v: %w", f, err)
	}
	defer func() { _ = recover() }() // a panic of the callback changes no decision
	c.trouble(Trouble{Who: who, Proposal: id, Err: err})
}
