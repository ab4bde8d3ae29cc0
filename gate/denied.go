package gate

import (
	"errors"

	"github.com/stopgate/stopgate"
)

// The kinds of denial, for errors.Is (S20).
var (
	ErrToolDenied    = errors.New("tool call denied")
	ErrHandoffDenied = errors.New("handoff denied")
)

// Kind is the kind of a proposal.
type Kind uint8

// The kinds.
const (
	ToolCall Kind = iota
	Handoff
)

// Denied is the typed error of a hard denial (G2-14): a call that must not run in
// deny mode throw. A skipped call is a soft refusal and no error (K34).
//
//	var denied *gate.Denied
//	if errors.As(err, &denied) {
//		reply(denied.Outcome.Envelope())
//	}
type Denied struct {
	Kind    Kind
	Outcome stopgate.Outcome
}

// Error holds the code and the public sentence: no argument values.
func (d *Denied) Error() string {
	e := d.Outcome.Envelope()
	return d.sentinel().Error() + " (" + string(e.Code) + "): " + e.PublicReason
}

// Is reports whether target is the error value of the denial's kind.
func (d *Denied) Is(target error) bool { return target == d.sentinel() }

func (d *Denied) sentinel() error {
	if d.Kind == Handoff {
		return ErrHandoffDenied
	}
	return ErrToolDenied
}

// DenyMode selects the results of [Pending.Resolve] and [Gate.Decide] for a denied call
// (G2-13, G2-14, K33).
type DenyMode uint8

// The deny modes. The zero value takes that of the policy file, by default DenyThrow.
const (
	DenyByPolicy   DenyMode = iota
	DenyThrow               // the outcome and a *Denied
	DenyToolResult          // the outcome only: its envelope goes back to the model
)
