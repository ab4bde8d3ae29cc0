package hook

import (
	"context"
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/hook/once"
	"github.com/stopgate/stopgate/jsonstream"
)

// once decides about a call unless another hook does (DECISIONS S49): then its answer
// holds here too, and there is no second row.
func (h *Host) once(ctx context.Context, o Options, b *Backend, e *Event, decide func() Answer) Answer {
	call, ok := h.identity(e)
	if b.Once == nil || !ok {
		return decide()
	}
	call.Waits = b.Waits
	turn, said, err := b.Once.Enter(ctx, call)
	switch {
	case err != nil:
		o.say("%v", err)
		if errors.Is(err, context.DeadlineExceeded) {
			return failure(stopgate.CodePolicyTimeout)
		}
		return failure(stopgate.CodeStoreUnavailable)
	case turn == nil:
		return h.others(e, said)
	}
	defer turn.Leave()
	a := decide()
	if err := turn.Settle(a.json()); err != nil {
		o.say("the answer cannot be left to other hooks: %v", err)
	}
	return a
}

// identity is what makes a call the same for several hooks.
func (h *Host) identity(e *Event) (c once.Call, ok bool) {
	args, err := jsonstream.Parse(e.sent(), jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return c, false
	}
	return once.Call{
		Principal: string(e.Call.Principal), Tool: string(e.Call.Tool), Hash: jsonstream.HashCanonical(args), Dir: e.Dir,
		Host: h.Name, Session: string(e.Call.Session), ID: string(e.Call.ID),
	}, true
}

// json writes an answer for another process.
func (a Answer) json() []byte {
	return new(members).str("action", a.Action.String()).str("code", string(a.Code)).str("public", a.Public).
		raw("input", a.Input).flag("stop", a.Stop).end()
}

// others reads the answer of another process, for this host. What it cannot say is a
// denial.
func (h *Host) others(e *Event, said []byte) Answer {
	root, err := jsonstream.Parse(said, jsonstream.Options{ObjectRoot: true, MaxBytes: MaxInput, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return failure(stopgate.CodePolicyError)
	}
	text := func(key string) string {
		v, _ := root.Get(key)
		return v.Text()
	}
	a := Answer{Code: stopgate.Code(text("code")), Public: text("public")}
	for _, action := range []Action{Ask, Allow, Silent} {
		if text("action") == action.String() {
			a.Action = action
		}
	}
	stop, _ := root.Get("stop")
	a.Stop = stop.Kind() == jsonstream.True
	if input, ok := root.Get("input"); ok {
		if h.Rewrite != Replace || e.Extra {
			return failure(stopgate.CodeEnvelopeMismatch)
		}
		a.Input = append([]byte(nil), input.Raw()...)
	}
	return a
}

// gaveAway reports whether another hook decided about the call.
func (h *Host) gaveAway(b *Backend, e *Event) bool {
	call, ok := h.identity(e)
	return b.Once != nil && ok && b.Once.Gave(call)
}
