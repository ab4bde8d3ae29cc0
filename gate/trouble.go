package gate

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/stopgate/stopgate"
)

// Trouble is what exactly went wrong in code that the gate called: rows and models get a
// code and a word for it, never its text (H17).
type Trouble struct {
	// Who failed: "policy NAME", "approver", "judge", "store" or "recorder".
	Who string
	// Proposal is the call that is denied for it, "" where it is about none.
	Proposal stopgate.ProposalID
	// Err is the error that came back; of a panic its value and stack; or that there was
	// no answer in time.
	Err error
}

// String is the trouble on one line, and the stack of a panic on others.
func (t Trouble) String() string { return t.Who + ": " + t.Err.Error() }

// WithTrouble tells f of every error, panic and missed deadline of policies in Go,
// approvers, judges, the store and the recorder: for the log of the program that wrote
// them. What f is told may hold whatever they put into their errors. It is called from
// several goroutines, while a call waits, and must not call the gate; it decides nothing.
func WithTrouble(f func(Trouble)) Option { return func(c *config) { c.trouble = f } }

// errNoAnswer is what an approver did that returned no error and no answer either.
var errNoAnswer = errors.New("the answer is none: make it with a method of the View, say who gave it, and edit only with Abilities.CanEdit")

// errPanic begins the error of a panic.
var errPanic = errors.New("panic")

// panicError is what recover returned.
func panicError(v any) error { return fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack()) }

// reportTrouble tells of a failure, if there is one that is not the caller's own end.
func (c *config) reportTrouble(who string, id stopgate.ProposalID, f fault, err error) {
	if c.trouble == nil || f == none || f == gone {
		return
	}
	switch {
	case err == nil:
		err = errors.New(f.String())
	case f == late:
		err = fmt.Errorf("%v: %w", f, err)
	}
	defer func() { _ = recover() }() // whoever listens changes nothing
	c.trouble(Trouble{Who: who, Proposal: id, Err: err})
}
