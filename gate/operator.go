package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Reconcile records an operator's decision that a session which is uncertain, or stopped
// after too many denials, continues with the facts it has.
func (g *Gate) Reconcile(ctx context.Context, o session.Owner, by string) error {
	if err := g.sessions.append(ctx, o, session.Fact{Kind: session.Reconciled, By: by}); err != nil {
		return err
	}
	g.sessions.uncertain.drop(o)
	return g.Note(ctx, stopgate.Record{Event: stopgate.AuditReconciled, Session: o.Session, Principal: o.Principal, Cause: by})
}

// ErrBegun is the error of [Gate.Begin] for a session that has facts, or a program of its own.
var ErrBegun = errors.New("gate: begin session: it has begun already")

// Begin records that a program begins a session. Of several programs that begin the same session, one
// succeeds; the others get ErrBegun, and so does each one after the first fact of the session.
func (g *Gate) Begin(ctx context.Context, o session.Owner) error {
	s := g.sessions
	if !s.exists() {
		return ErrNoStore
	}
	facts := ask(ctx, s, func(ctx context.Context) ([]session.Fact, error) { return s.Facts(ctx, o, 0, 1) })
	if err := facts.Problem("begin session"); err != nil {
		return err
	}
	if len(facts.Value) > 0 {
		return ErrBegun
	}
	begun := session.Fact{Kind: session.Begun, At: g.now().UnixMilli()}
	return update(ctx, s, o, begun.Keys(), func(state session.State) (Change, struct{}, error) {
		if c, ok := state.Cell(session.ProgramKey); !ok || c.Seq != 0 {
			return Change{}, struct{}{}, ErrBegun
		}
		return Change{Facts: []session.Fact{begun}}, struct{}{}, nil
	}).Problem("begin session")
}

// Spoke records that the user sent a message: the count of denials starts again, and declined
// calls may be asked about again (S27, S28).
func (g *Gate) Spoke(ctx context.Context, o session.Owner) error {
	return g.sessions.append(ctx, o, session.Fact{Kind: session.Spoke})
}

// Approved records a named approval in a session, for policies that require one (TPS-39). An
// approval satisfies a policy; it never runs a call.
func (g *Gate) Approved(ctx context.Context, o session.Owner, name, by string) error {
	if name == "" || by == "" {
		return errors.New("gate: record approval: name and approver must not be empty")
	}
	return g.sessions.append(ctx, o, session.Fact{Kind: session.Approved, Name: name, By: by})
}

// SetData replaces the session's data, one JSON object, which `when` conditions look
// at. It is the program's or operator's to set, never the model's.
func (g *Gate) SetData(ctx context.Context, o session.Owner, object []byte) error {
	text, err := dataText(object)
	if err != nil {
		return err
	}
	return g.sessions.append(ctx, o, session.Fact{Kind: session.DataReplaced, Text: text})
}

// maxData bounds the session's data.
const maxData = 64 << 10

func dataText(object []byte) (string, error) {
	if len(object) > maxData {
		return "", errors.New("gate: set session data: larger than 64 KiB")
	}
	v, err := jsonstream.Parse(object, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return "", fmt.Errorf("gate: set session data: %w", err)
	}
	return string(v.Raw()), nil
}
