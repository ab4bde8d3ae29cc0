package events

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Policy is a part of a chain. What it takes part in follows from the hooks that it
// has. A policy is shared by all exchanges and keeps no state of any of them; that
// belongs into [Exchange.Scratchpad] (V3-01, X3).
type Policy interface {
	// Name identifies the policy in events, logs and errors: one of its own in a chain.
	Name() string
}

// The hooks. A policy has those of them that it implements; a method with the name of a
// hook and other parameters is an error of [NewChain], not a hook that is never called; a
// misspelt name is one of [Check].
// The context of a hook ends with the exchange, and when the hook has taken too long.
type (
	// OnRequest is asked about a request before it goes upstream. It may change it;
	// an error refuses it, with the status of a [*Rejection].
	OnRequest interface {
		OnRequest(ctx context.Context, x *Exchange, r *Request) error
	}
	// OnResponse is given a response that is not streamed. A policy without it whose
	// content hooks are given the texts of such a response, each as one delta.
	OnResponse interface {
		OnResponse(ctx context.Context, x *Exchange, r *Response) error
	}
	// OnStreamStart hears of a response before anything of it was read. Text that it
	// sends stands in front of the first text of the model.
	OnStreamStart interface {
		OnStreamStart(ctx context.Context, x *Exchange, s *Stream) error
	}
	// OnContentDelta is given every piece of text. What it sends takes the place of the
	// piece; without this hook the piece goes on.
	OnContentDelta interface {
		OnContentDelta(ctx context.Context, x *Exchange, s *Stream, b *Content, delta string) error
	}
	// OnContentComplete hears of the end of a text. What it sends stands behind it.
	OnContentComplete interface {
		OnContentComplete(ctx context.Context, x *Exchange, s *Stream, b *Content) error
	}
	// OnToolCallDelta is given every piece of a call's arguments. It can only look: a
	// call is held until it is complete (X11).
	OnToolCallDelta interface {
		OnToolCallDelta(ctx context.Context, x *Exchange, s *Stream, b *Call, delta string) error
	}
	// OnToolCallComplete decides about a complete call: [BlockChunk] sends it on, as it
	// is or with other arguments; text that is sent takes its place; nothing drops it.
	// Without this hook the call goes on.
	OnToolCallComplete interface {
		OnToolCallComplete(ctx context.Context, x *Exchange, s *Stream, b *Call) error
	}
	// OnFinishReason hears why a choice ended, in the provider's own word. What it sends
	// stands at the end of the text; the reason itself stays the real one.
	OnFinishReason interface {
		OnFinishReason(ctx context.Context, x *Exchange, s *Stream, reason string) error
	}
	// OnStreamComplete is called once for every exchange that got as far as the
	// provider, however it ended (V3-14).
	OnStreamComplete interface {
		OnStreamComplete(ctx context.Context, x *Exchange) error
	}
)

// Passthrough is the policy that does nothing: it has no hook. It is a place in a chain
// to be filled later, and the proof that a policy costs only what it asks for (V3-17).
type Passthrough struct{ As string }

// Name is As, or "passthrough".
func (p Passthrough) Name() string {
	if p.As == "" {
		return "passthrough"
	}
	return p.As
}

// hooks are one policy taken apart.
type hooks struct {
	policy          Policy
	name            string
	request         OnRequest
	response        OnResponse
	start           OnStreamStart
	delta           OnContentDelta
	contentComplete OnContentComplete
	callDelta       OnToolCallDelta
	callComplete    OnToolCallComplete
	finish          OnFinishReason
	complete        OnStreamComplete
}

// takeApart finds the hooks of a policy.
func takeApart(p Policy) (h hooks, err error) {
	h.policy, h.name = p, p.Name()
	h.request, _ = p.(OnRequest)
	h.response, _ = p.(OnResponse)
	h.start, _ = p.(OnStreamStart)
	h.delta, _ = p.(OnContentDelta)
	h.contentComplete, _ = p.(OnContentComplete)
	h.callDelta, _ = p.(OnToolCallDelta)
	h.callComplete, _ = p.(OnToolCallComplete)
	h.finish, _ = p.(OnFinishReason)
	h.complete, _ = p.(OnStreamComplete)
	// The names are constants, so that the linker keeps methods of these names and not all
	// methods of the program.
	t := reflect.TypeOf(p)
	for _, hook := range []struct {
		name        string
		found, like bool
	}{
		{"OnRequest", h.request != nil, second(t.MethodByName("OnRequest"))},
		{"OnResponse", h.response != nil, second(t.MethodByName("OnResponse"))},
		{"OnStreamStart", h.start != nil, second(t.MethodByName("OnStreamStart"))},
		{"OnContentDelta", h.delta != nil, second(t.MethodByName("OnContentDelta"))},
		{"OnContentComplete", h.contentComplete != nil, second(t.MethodByName("OnContentComplete"))},
		{"OnToolCallDelta", h.callDelta != nil, second(t.MethodByName("OnToolCallDelta"))},
		{"OnToolCallComplete", h.callComplete != nil, second(t.MethodByName("OnToolCallComplete"))},
		{"OnFinishReason", h.finish != nil, second(t.MethodByName("OnFinishReason"))},
		{"OnStreamComplete", h.complete != nil, second(t.MethodByName("OnStreamComplete"))},
	} {
		if hook.like && !hook.found {
			return h, fmt.Errorf("events: policy %s: %s has other parameters than the hook of this name", p.Name(), hook.name)
		}
	}
	return h, nil
}

func second(_ reflect.Method, ok bool) bool { return ok }

// Check reports a method of a policy whose name begins with On and is no hook, which
// [NewChain] would take for a method of the policy's own. It is for tests of policies: a
// program that calls it carries every exported method of all its types.
func Check(p Policy) error {
	if _, err := takeApart(p); err != nil {
		return err
	}
	hooks := []string{
		"OnRequest", "OnResponse", "OnStreamStart", "OnContentDelta", "OnContentComplete",
		"OnToolCallDelta", "OnToolCallComplete", "OnFinishReason", "OnStreamComplete",
	}
	for m := range reflect.TypeOf(p).Methods() {
		if strings.HasPrefix(m.Name, "On") && !slices.Contains(hooks, m.Name) {
			return fmt.Errorf("events: policy %s: %s is no hook", p.Name(), m.Name)
		}
	}
	return nil
}

// texts reports whether the policy wants to see the text of responses.
func (h *hooks) texts() bool {
	return h.start != nil || h.delta != nil || h.contentComplete != nil || h.finish != nil
}

// calls reports whether it wants to see calls.
func (h *hooks) calls() bool { return h.callDelta != nil || h.callComplete != nil }
