package chain_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func throughRun(t testing.TB, run *chain.Run, body string) string {
	t.Helper()
	out, err := io.ReadAll(run.Reader(t.Context(), strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// tellChat returns the text of the first choice.
func tellChat(body string) string {
	o := told{texts: map[string]string{}}
	for _, line := range strings.Split(body, "\n") {
		var event map[string]any
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &event) == nil {
			o.chat(event)
		}
	}
	return o.texts["choice 0"]
}

type misspelt struct{ events.Passthrough }

// OnContentDelta lacks the text parameter.
func (misspelt) OnContentDelta(context.Context, *events.Exchange, events.Stream) error { return nil }

// Proves S53, V3-10: hooks are found when a chain is created; a method with the name of a hook and
// other parameters is an error, not a hook that is never called.
func TestNewChain(t *testing.T) {
	for name, list := range map[string][]events.Policy{
		"nil":              {nil},
		"no name":          {forward{""}},
		"a name twice":     {forward{"a"}, events.Passthrough{As: "a"}},
		"other parameters": {misspelt{}},
	} {
		if c, err := chain.New(list...); err == nil || c != nil {
			t.Errorf("%s: no mistake", name)
		}
	}
	if c := chained(t); len(c.Names()) != 0 || c.WatchesCalls() || c.Begin(chain.Setup{}) != nil {
		t.Error("an empty chain is none")
	}
	c := chained(t, forward{"a"}, events.Passthrough{}, events.ContentOnly{})
	if got := strings.Join(c.Names(), " "); got != "a passthrough content_only" || !c.WatchesCalls() {
		t.Error(got)
	}
}

// Proves V3-17: if no policy has a hook for texts, the stream is not parsed.
func TestPassthroughIsNotParsed(t *testing.T) {
	in := strings.NewReader("x")
	for _, c := range []*chain.Chain{nil, chained(t, events.Passthrough{}), chained(t, events.ContentOnly{}), chained(t, events.Passthrough{As: "a"}, events.Passthrough{As: "b"})} {
		run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: "openai-chat"}})
		if run.Reader(t.Context(), in) != io.Reader(in) {
			t.Error("a stream goes through policies that do not want it")
		}
		if body, err := run.Body(t.Context(), []byte("{")); err != nil || string(body) != "{" {
			t.Error("a body does")
		}
	}
}

// bodies are the texts of streams as unstreamed responses.
var bodies = map[string]string{
	"openai-chat": `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"one three","refusal":null},"logprobs":{"content":[{"token":"one"}]},"finish_reason":"stop"},` +
		`{"index":1,"message":{"content":null,"tool_calls":[{"id":"t","function":{"name":"a","arguments":"{}"}}]},"finish_reason":"tool_calls"}], "usage":{"total_tokens":1.0}}`,
	"anthropic": `{"id":"m","type":"message","content":[{"type":"thinking","thinking":"hmm"},{"type":"text","text":"one three"},{"type":"tool_use","id":"t","name":"a","input":{}}],"stop_reason":"tool_use"}`,
	"gemini":    `{"candidates":[{"content":{"parts":[{"text":"hmm","thought":true},{"text":"one three"},{"functionCall":{"name":"a","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}]}`,
	"openai-responses": `{"id":"r","status":"completed","output":[{"type":"reasoning","summary":[]},{"type":"message","content":[{"type":"output_text","text":"one three","annotations":[],"logprobs":[{"token":"one"}]}]},` +
		`{"type":"function_call","call_id":"t","name":"a","arguments":"{}"}]}`,
}

// Proves V3-28, V3-29, W1, P22: an unstreamed response passes the same hooks, and unchanged parts
// stay byte for byte.
func TestBodies(t *testing.T) {
	through := func(dialect string, policies ...events.Policy) string {
		run := chained(t, policies...).Begin(chain.Setup{Exchange: events.Exchange{Dialect: dialect}})
		out, err := run.Body(t.Context(), []byte(bodies[dialect]))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for dialect, body := range bodies {
		if got := through(dialect, forward{"a"}, forward{"b"}); got != body {
			t.Errorf("%s: unchanged is\n%s", dialect, got)
		}
		want := strings.NewReplacer("one three", "ONE THREE", `"logprobs":{"content":[{"token":"one"}]}`, `"logprobs":null`, `"logprobs":[{"token":"one"}]`, `"logprobs":[]`).Replace(body)
		if got := through(dialect, upper{}); got != want {
			t.Errorf("%s: capitals are\n%s\nwant\n%s", dialect, got, want)
		}
		if got := through(dialect, onBody{}, upper{}); got != strings.Replace(want, "ONE THREE", "ONE, THREE", 1) {
			t.Errorf("%s: OnResponse gives\n%s", dialect, got)
		}
	}
	for dialect, want := range map[string]string{
		"openai-chat": `"content":"<start>one three<complete><stop>"`, "anthropic": `"text":"<start>one three<complete><tool_use>"`,
		"gemini":           `"text":"<start>one three<complete><STOP>"`,
		"openai-responses": `"text":"<start>one three<complete><completed>"`,
	} {
		if got := through(dialect, addend{}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", dialect, got)
		}
	}
	if got := through("openai-chat", addend{}); !strings.Contains(got, `"message":{"content":"<tool_calls>","tool_calls"`) {
		t.Errorf("a message without text: %s", got)
	}
}

// Proves V3-02, V3-04, V3-08: an event has its policy and exchange, and a hook cannot reach
// internals of an exchange.
func TestEmit(t *testing.T) {
	var told []events.Event
	run := chained(t, redaction(t, events.Redaction{Name: "keys", Patterns: []string{"x+"}})).Begin(chain.Setup{
		Exchange: events.Exchange{ID: "e1", Session: "s1", TraceID: "t1", SpanID: "p1", Dialect: "openai-chat",
			Publish: func(e events.Event) { told = append(told, e) }},
	})
	if got := tellChat(throughRun(t, run, chatOf("a xx b"))); got != "a [redacted] b" {
		t.Error(got)
	}
	if len(told) != 1 {
		t.Fatalf("%+v", told)
	}
	e := told[0]
	if e.Type != "redact.replaced" || e.Policy != "keys" || e.Exchange != "e1" || e.Session != "s1" || e.TraceID != "t1" || e.SpanID != "p1" || e.Time.IsZero() ||
		e.Severity != events.Info || e.Details["matches"] != 1 || e.Details["where"] != "response" {
		t.Errorf("%+v", e)
	}
	if kind := reflect.TypeFor[events.Stream]().Kind(); kind != reflect.Interface {
		t.Errorf("hooks have a stream of kind %s, with fields", kind)
	}
	silent := run.Exchange()
	silent.Emit(events.Event{Type: "a.b", Severity: events.Error})
	if told[1].Severity.String() != "error" || events.Warning.String() != "warning" || events.Severity(9).String() != "error" {
		t.Error(told[1])
	}
	(&events.Exchange{}).Emit(events.Event{}) // no listener
}

type onBody struct{}

func (onBody) Name() string { return "on body" }

func (onBody) OnResponse(_ context.Context, x *events.Exchange, r *events.Response) error {
	if x.Dialect == "anthropic" {
		r.SetBody([]byte(strings.Replace(string(r.Body()), "one three", "one, three", 1)))
		return nil
	}
	return r.EditTexts(func(_ *events.Content, text string) string { return strings.ReplaceAll(text, "one ", "one, ") })
}

// OnContentDelta must not be called, because OnResponse exists.
func (onBody) OnContentDelta(context.Context, *events.Exchange, events.Stream, *events.Content, string) error {
	return errors.New("asked about a body")
}

// Proves V3-09: the text of a block can be sent as one chunk at its end.
func TestBlockChunk(t *testing.T) {
	for dialect := range streams {
		got := tell(t, dialect, through(t, chained(t, late{}), dialect, streams[dialect]))
		for key, text := range got.texts {
			if strings.Contains(text, "three") && text != "one three." || text == "one " {
				t.Errorf("%s: %s is %q", dialect, key, text)
			}
		}
	}
}

type late struct{}

func (late) Name() string { return "late" }

func (late) OnContentDelta(context.Context, *events.Exchange, events.Stream, *events.Content, string) error {
	return nil
}

func (late) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, b *events.Content) error {
	if err := s.Send(events.BlockChunk(b)); err != nil {
		return err
	}
	return s.Send(events.TextChunk("."))
}
