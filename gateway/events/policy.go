package events

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// Policy is one element of a chain. It has the hooks whose interfaces it implements. All exchanges
// share a policy, so state of one exchange belongs in [Exchange.Scratchpad].
type Policy interface {
	// Name identifies the policy in events, logs and errors. It is unique in a chain.
	Name() string
}

// The hooks. A policy implements any of them. A gateway does not start with a
// method that has the name of a hook and other parameters; [Check] finds misspelled names.
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
		OnStreamStart(ctx context.Context, x *Exchange, s Stream) error
	}
	// OnContentDelta receives every chunk of text. Its output replaces the chunk. Without this hook
	// the chunk is forwarded.
	OnContentDelta interface {
		OnContentDelta(ctx context.Context, x *Exchange, s Stream, b *Content, delta string) error
	}
	// OnContentComplete is called at the end of a text. Its output is appended to the text.
	OnContentComplete interface {
		OnContentComplete(ctx context.Context, x *Exchange, s Stream, b *Content) error
	}
	// OnToolCallDelta receives every chunk of a call's arguments, and at least one chunk of every
	// call. It cannot change anything: a call is buffered until it is complete (X11). If the policy
	// has OnToolCallComplete, it only looks. Otherwise it decides: a call of which it did not send
	// every chunk, with Send(BlockChunk(b)), is dropped.
	OnToolCallDelta interface {
		OnToolCallDelta(ctx context.Context, x *Exchange, s Stream, b *Call, delta string) error
	}
	// OnToolCallComplete decides about a call when its arguments are complete: sending its
	// [BlockChunk] forwards it, unchanged or with other arguments; sending text replaces it; sending
	// nothing drops it. A policy without a hook for calls forwards them.
	OnToolCallComplete interface {
		OnToolCallComplete(ctx context.Context, x *Exchange, s Stream, b *Call) error
	}
	// OnFinishReason receives the provider's finish reason of a choice, after the gate has judged the
	// calls of the choice. Its output is appended to the text. It cannot change the reason.
	OnFinishReason interface {
		OnFinishReason(ctx context.Context, x *Exchange, s Stream, reason string) error
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

// Check reports methods of a policy that have the name of a hook and other parameters, and methods
// whose names start with On and are not hooks, which gateways ignore. Use Check in tests of policies
// only: it makes the linker keep every exported method of all types.
func Check(p Policy) error {
	hooks := map[string]bool{
		"OnRequest": has[OnRequest](p), "OnResponse": has[OnResponse](p), "OnStreamStart": has[OnStreamStart](p),
		"OnContentDelta": has[OnContentDelta](p), "OnContentComplete": has[OnContentComplete](p),
		"OnToolCallDelta": has[OnToolCallDelta](p), "OnToolCallComplete": has[OnToolCallComplete](p),
		"OnFinishReason": has[OnFinishReason](p), "OnStreamComplete": has[OnStreamComplete](p),
	}
	for m := range reflect.TypeOf(p).Methods() {
		switch fits, known := hooks[m.Name]; {
		case known && !fits:
			return fmt.Errorf("events: policy %s: %s has other parameters than the hook of this name", p.Name(), m.Name)
		case !known && strings.HasPrefix(m.Name, "On"):
			return fmt.Errorf("events: policy %s: %s is not a hook", p.Name(), m.Name)
		}
	}
	return nil
}

func has[Hook any](p Policy) bool {
	_, ok := p.(Hook)
	return ok
}
