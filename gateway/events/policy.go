package events

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Policy is one element of a chain. Its hooks determine what it takes part in. All exchanges share
// a policy, so state of one exchange belongs in [Exchange.Scratchpad].
type Policy interface {
	// Name identifies the policy in events, logs and errors. It is unique in a chain.
	Name() string
}

// The hooks. A policy implements any of them. [NewChain] returns an error for a method with the
// name of a hook and other parameters; [Check] finds misspelled names.
//
// The context of a hook ends with the exchange and at the hook's timeout.
type (
	// OnRequest receives a request before it is sent upstream and may change it. An error refuses
	// it, with the status of a [*Rejection].
	OnRequest interface {
		OnRequest(ctx context.Context, x *Exchange, r *Request) error
	}
	// OnResponse receives a response that is not streamed. If a policy lacks it, its content hooks
	// receive the texts of such a response, each as one delta.
	OnResponse interface {
		OnResponse(ctx context.Context, x *Exchange, r *Response) error
	}
	// OnStreamStart is called before a response is read. Text that it sends precedes the model's
	// first text.
	OnStreamStart interface {
		OnStreamStart(ctx context.Context, x *Exchange, s *Stream) error
	}
	// OnContentDelta receives every chunk of text. Its output replaces the chunk. Without this hook
	// the chunk is forwarded.
	OnContentDelta interface {
		OnContentDelta(ctx context.Context, x *Exchange, s *Stream, b *Content, delta string) error
	}
	// OnContentComplete is called at the end of a text. Its output is appended to the text.
	OnContentComplete interface {
		OnContentComplete(ctx context.Context, x *Exchange, s *Stream, b *Content) error
	}
	// OnToolCallDelta receives every chunk of a call's arguments. It cannot send anything: a call
	// is buffered until it is complete (X11).
	OnToolCallDelta interface {
		OnToolCallDelta(ctx context.Context, x *Exchange, s *Stream, b *Call, delta string) error
	}
	// OnToolCallComplete decides about a complete call: sending its [BlockChunk] forwards it,
	// unchanged or with other arguments; sending text replaces it; sending nothing drops it.
	// Without this hook the call is forwarded.
	OnToolCallComplete interface {
		OnToolCallComplete(ctx context.Context, x *Exchange, s *Stream, b *Call) error
	}
	// OnFinishReason receives the provider's finish reason of a choice. Its output is appended to
	// the text. It cannot change the reason.
	OnFinishReason interface {
		OnFinishReason(ctx context.Context, x *Exchange, s *Stream, reason string) error
	}
	// OnStreamComplete is called once for every exchange that reached the provider, however it
	// ended.
	OnStreamComplete interface {
		OnStreamComplete(ctx context.Context, x *Exchange) error
	}
)

// Passthrough is a policy without hooks: a placeholder in a chain. It adds no cost.
type Passthrough struct{ As string }

// Name returns As, or "passthrough".
func (p Passthrough) Name() string {
	if p.As == "" {
		return "passthrough"
	}
	return p.As
}

// hooks are the hooks of one policy.
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

// hooksOf finds the hooks of a policy.
func hooksOf(p Policy) (h hooks, err error) {
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
	// The names are constants, so that the linker keeps only methods with these names instead of
	// all exported methods of the program.
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

// Check reports methods of a policy whose names start with On and are not hooks. [NewChain] ignores
// them. Use Check in tests of policies only: it makes the linker keep every exported method of all
// types.
func Check(p Policy) error {
	if _, err := hooksOf(p); err != nil {
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

// texts reports whether the policy has a hook for response text.
func (h *hooks) texts() bool {
	return h.start != nil || h.delta != nil || h.contentComplete != nil || h.finish != nil
}

// calls reports whether the policy has a hook for calls.
func (h *hooks) calls() bool { return h.callDelta != nil || h.callComplete != nil }
