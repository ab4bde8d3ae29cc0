package chain

import (
	"fmt"
	"reflect"

	"github.com/stopgate/stopgate/gateway/events"
)

// hooks are the hooks of one policy.
type hooks struct {
	policy          events.Policy
	name            string
	request         events.OnRequest
	response        events.OnResponse
	start           events.OnStreamStart
	delta           events.OnContentDelta
	contentComplete events.OnContentComplete
	callDelta       events.OnToolCallDelta
	callComplete    events.OnToolCallComplete
	finish          events.OnFinishReason
	complete        events.OnStreamComplete
	quick           bool // see quick
}

// selective is implemented by policies that use only some of their hooks, as a table names them.
type selective interface{ HasHook(method string) bool }

// keep drops the hooks that a policy does not use.
func (h *hooks) keep(p selective) {
	keep(p, "OnRequest", &h.request)
	keep(p, "OnResponse", &h.response)
	keep(p, "OnStreamStart", &h.start)
	keep(p, "OnContentDelta", &h.delta)
	keep(p, "OnContentComplete", &h.contentComplete)
	keep(p, "OnToolCallDelta", &h.callDelta)
	keep(p, "OnToolCallComplete", &h.callComplete)
	keep(p, "OnFinishReason", &h.finish)
	keep(p, "OnStreamComplete", &h.complete)
}

func keep[Hook any](p selective, method string, hook *Hook) {
	if !p.HasHook(method) {
		var none Hook
		*hook = none
	}
}

// hooksOf finds the hooks of a policy.
func hooksOf(p events.Policy) (h hooks, err error) {
	h.policy, h.name = p, p.Name()
	h.request, _ = p.(events.OnRequest)
	h.response, _ = p.(events.OnResponse)
	h.start, _ = p.(events.OnStreamStart)
	h.delta, _ = p.(events.OnContentDelta)
	h.contentComplete, _ = p.(events.OnContentComplete)
	h.callDelta, _ = p.(events.OnToolCallDelta)
	h.callComplete, _ = p.(events.OnToolCallComplete)
	h.finish, _ = p.(events.OnFinishReason)
	h.complete, _ = p.(events.OnStreamComplete)
	_, h.quick = p.(quick)
	if _, ok := p.(events.ContentOnly); ok {
		h.quick = true
	}
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
	if some, ok := p.(selective); ok {
		h.keep(some)
	}
	return h, nil
}

func second(_ reflect.Method, ok bool) bool { return ok }

// texts reports whether the policy may change the text of a response. A hook for calls may end it.
func (h *hooks) texts() bool {
	return h.editsTexts() || h.calls() && !h.quick
}

// editsTexts reports whether the policy has a hook for texts.
func (h *hooks) editsTexts() bool {
	return h.start != nil || h.delta != nil || h.contentComplete != nil || h.finish != nil
}

// calls reports whether the policy has a hook for calls.
func (h *hooks) calls() bool { return h.callDelta != nil || h.callComplete != nil }
