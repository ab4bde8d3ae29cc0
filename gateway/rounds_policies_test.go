package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
)

// footer is a policy that adds text at the start and at the end of a response.
type footer struct{}

func (footer) Name() string { return "footer" }

func (footer) OnStreamStart(_ context.Context, _ *events.Exchange, s events.Stream) error {
	return s.SendText("BEGIN ", false)
}

func (footer) OnFinishReason(_ context.Context, _ *events.Exchange, s events.Stream, reason string) error {
	return s.SendText(" END "+reason, true)
}

// Proves S6, V3-03, V3-10, V3-14, V3-16, X17: event policies see the rounds of an answered model as
// one exchange: one start, texts and calls numbered across rounds, one end; the provider gets its
// own response back, not the changed one.
func TestAnswerPolicies(t *testing.T) {
	for _, in := range tongues()[:3] { // the dialects in which a model is answered
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				seen := &transcript{}
				loud := onDelta(func(_ *events.Exchange, s events.Stream, delta string) error {
					return s.SendText("<"+delta+">", false)
				})
				k := newTalk(t, in, denying("a"), func(o *gateway.Options) {
					answering(2)(o)
					with(seen, loud, footer{})(o)
				})
				k.stream, k.tools = stream, []string{"a", "b"}
				k.model.will(pastCall{"x1", "a", `{"n":1}`})
				body := k.converse([]pastCall{{"x2", "b", `{"n":2}`}}, user("go"))
				mustContain(t, body, `"x2"`, "BEGIN", "END")
				mustLack(t, body, `"x1"`)
				if in.name != "responses" {
					mustLack(t, body, "was not run")
				}
				mustLack(t, k.model.lastRequest(), "BEGIN", "END", "<hi>", `\u003chi`)
				n := map[string]int{}
				for _, line := range seen.list() {
					var at int
					var kind, what string
					_, _ = fmt.Sscanf(line, "%d %s %s", &at, &kind, &what)
					if kind == "call" && what != "complete" {
						continue
					}
					if kind == "text" && what == "complete" {
						kind = "texts"
					}
					n[kind]++
				}
				texts := map[string]int{"chat": 2, "anthropic": 2}[in.name]
				want := map[string]int{"request": 1, "start": 1, "call": 2, "finish": 1, "complete": 1}
				for kind, times := range want {
					if n[kind] != times {
						t.Errorf("%s %d times, want %d: %q", kind, n[kind], times, seen.list())
					}
				}
				if n["texts"] != texts {
					t.Errorf("%d texts, want %d: %q", n["texts"], texts, seen.list())
				}
				if stream && in.name == "chat" {
					got := readChat(t, body)
					if got.text != "BEGIN <hi>\n\n<hi> END tool_calls" || !got.done || got.late > 0 {
						t.Errorf("%+v", got)
					}
				}
				if got := fmt.Sprint(k.log.wait(t, 2)); got != "[a denied rule_matched b allowed rule_matched]" {
					t.Error(got)
				}
			})
		}
	}
}

// halting is a policy that replaces every call by a text and stops the response.
type halting struct{}

func (halting) Name() string { return "halting" }

func (halting) OnToolCallComplete(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Call) error {
	err := s.SendText("halted", false)
	s.Stop()
	return err
}

// Proves S6, V3-10: a model is not answered after a policy stopped the response, also if the policy
// sent a text in place of the call.
func TestStopEndsRounds(t *testing.T) {
	for _, in := range tongues()[:3] { // the dialects in which a model is answered
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				k := newTalk(t, in, denying("other"), func(o *gateway.Options) {
					answering(2)(o)
					with(halting{})(o)
				})
				k.stream, k.tools = stream, []string{"b"}
				k.model.will(pastCall{"x1", "b", `{"n":1}`})
				body := k.converse([]pastCall{{"x2", "b", `{"n":2}`}}, user("go"))
				mustContain(t, body, "halted")
				if got := k.model.requests(); got != 1 {
					t.Errorf("the provider received %d requests, want 1: %s", got, body)
				}
			})
		}
	}
}

// lastStop is a policy that stops the response when it has ended.
type lastStop struct{}

func (lastStop) Name() string { return "last_stop" }

func (lastStop) OnFinishReason(_ context.Context, _ *events.Exchange, s events.Stream, _ string) error {
	err := s.SendText("halted", false)
	s.Stop()
	return err
}

// Proves V3-10, V3-26: no call is released after OnFinishReason stopped the response, although the gate
// had allowed it.
func TestStopAtTheEnd(t *testing.T) {
	for _, in := range tongues() {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " streamed ", stream), func(t *testing.T) {
				k := newTalk(t, in, denying("other"), with(lastStop{}))
				k.stream, k.tools = stream, []string{"b"}
				body := k.converse([]pastCall{{"x1", "b", `{"n":77}`}}, user("go"))
				mustContain(t, body, "halted")
				mustLack(t, body, "77", `"x1"`)
			})
		}
	}
}
