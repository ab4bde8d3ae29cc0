package session

import (
	"context"
	"errors"
)

// Here is where the handler of a tool runs: the session of its call, to be looked at
// (TPS-31, S37).
type Here struct {
	Owner Owner
	// Policies are those in force.
	Policies *Set
	// Look returns the view of cells as of now; nil if nobody keeps any.
	Look func(ctx context.Context, keys []Key) (View, error)
}

// ErrNowhere says that a context is not that of a handler with a session.
var ErrNowhere = errors.New("session: the context is not that of a tool's handler")

// Check asks the policies what they would say of a call if it came now, as a turn of its
// own. Nothing is reserved, and nothing is remembered: the call itself is asked again.
func (h Here) Check(ctx context.Context, c Call) (primary Decision, all []Decision, err error) {
	if h.Look == nil || h.Policies == nil {
		return Decision{}, nil, ErrNowhere
	}
	view, err := h.Look(ctx, h.Policies.Needs(c))
	if err != nil {
		return Decision{}, nil, err
	}
	primary, all = h.Policies.CheckAll(view, c)
	return primary, all, nil
}

type hereKey struct{}

// NewContext returns a context in which tool handlers find where they run.
func NewContext(ctx context.Context, here Here) context.Context {
	return context.WithValue(ctx, hereKey{}, here)
}

// FromContext returns where the handler runs; the zero Here, which knows no policy and
// whose Check is an error, outside of one.
func FromContext(ctx context.Context) Here {
	here, ok := ctx.Value(hereKey{}).(Here)
	if !ok || here.Policies == nil {
		here.Policies = new(Set)
	}
	return here
}
