package session

import (
	"context"
	"errors"
)

// Here describes the session in which the handler of a tool runs, for handlers that ask
// about further calls (TPS-31, S37).
type Here struct {
	Owner Owner
	// Policies are the policies in force.
	Policies *Set
	// Load returns the view of the current cells; nil without a store.
	Load func(ctx context.Context, keys []Key) (View, error)
}

// ErrNoSession is the error of [Here.Check] in a context that is not that of a handler with
// a session.
var ErrNoSession = errors.New("session: check: the context is not that of a tool handler: use the context that the handler was called with")

// Check returns the decision of the policies on a call that comes now, as a turn of its own.
// It neither reserves nor records; the call itself is checked again when it comes.
func (h Here) Check(ctx context.Context, c Call) (primary Decision, all []Decision, err error) {
	if h.Load == nil || h.Policies == nil {
		return Decision{}, nil, ErrNoSession
	}
	view, err := h.Load(ctx, h.Policies.Needs(c))
	if err != nil {
		return Decision{}, nil, err
	}
	primary, all = h.Policies.CheckAll(view, c)
	return primary, all, nil
}

type hereKey struct{}

// NewContext returns a context in which [FromContext] returns here.
func NewContext(ctx context.Context, here Here) context.Context {
	return context.WithValue(ctx, hereKey{}, here)
}

// FromContext returns the session in which the handler runs. In any other context it has no
// policies, and its Check returns ErrNoSession.
func FromContext(ctx context.Context) Here {
	here, ok := ctx.Value(hereKey{}).(Here)
	if !ok || here.Policies == nil {
		here.Policies = new(Set)
	}
	return here
}
