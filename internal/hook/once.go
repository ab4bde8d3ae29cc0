package hook

import (
	"cmp"
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/jsonstream"
)

// decideOnce decides about a call unless another hook does (S49). It then returns the other
// hook's decision, and no second record is written.
func (h *Host) decideOnce(ctx context.Context, o Options, b *Backend, e *Event, decide func() Decision) Decision {
	if o.left() {
		return failureDecision(stopgate.CodePolicyTimeout) // it reaches no agent
	}
	call, ok := h.callKey(e)
	if b.Once == nil || !ok {
		return decide()
	}
	// From here on the process that delegated the event waits for this decision if it leaves, or has
	// decided already.
	call.ID = cmp.Or(call.ID, o.Delegation)
	call.Waits = b.OnWait
	turn, text, err := b.Once.Enter(ctx, call)
	switch {
	case err != nil:
		o.logf("%v", err)
		if errors.Is(err, context.DeadlineExceeded) {
			return failureDecision(stopgate.CodePolicyTimeout)
		}
		return failureDecision(stopgate.CodeStoreUnavailable)
	case turn == nil:
		return h.parseDecision(e, text)
	}
	defer turn.Leave()
	a := decide()
	if err := turn.Settle(a.encode()); err != nil {
		o.logf("storing the decision for other hooks failed: %v", err)
	}
	return a
}

// callKey returns the key under which several hooks recognise the same call.
func (h *Host) callKey(e *Event) (c once.Call, ok bool) {
	args, err := jsonstream.Parse(e.sentArgs(), jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return c, false
	}
	return once.Call{
		Principal: string(e.Call.Principal), Tool: string(e.Call.Tool), Hash: jsonstream.HashCanonical(args), Dir: e.Dir,
		Host: h.Name, Session: string(e.Call.Session), ID: string(e.Call.ID),
	}, true
}

// encode encodes a decision for another process.
func (a Decision) encode() []byte {
	return new(members).str("action", a.Action.String()).str("code", string(a.Code)).str("public", a.Public).
		raw("input", a.Input).flag("stop", a.Stop).end()
}

// parseDecision parses the decision of another process. If this host cannot express it,
// parseDecision returns a denial.
func (h *Host) parseDecision(e *Event, encoded []byte) Decision {
	root, err := jsonstream.Parse(encoded, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return failureDecision(stopgate.CodePolicyError)
	}
	text := func(key string) string {
		v, _ := root.Get(key)
		return v.Text()
	}
	a := Decision{Code: stopgate.Code(text("code")), Public: text("public")}
	for _, action := range []Action{Ask, Allow, Abstain} {
		if text("action") == action.String() {
			a.Action = action
		}
	}
	stop, _ := root.Get("stop")
	a.Stop = stop.Kind() == jsonstream.True
	if input, ok := root.Get("input"); ok {
		if h.Rewrite != ReplaceArgs || e.PatchFiles {
			return failureDecision(stopgate.CodeEnvelopeMismatch)
		}
		a.Input = append([]byte(nil), input.Raw()...)
	}
	return a
}

// decidedElsewhere reports whether another hook decided about the call.
func (h *Host) decidedElsewhere(b *Backend, e *Event) bool {
	call, ok := h.callKey(e)
	return b.Once != nil && ok && b.Once.Gave(call)
}
