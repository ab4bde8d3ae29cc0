package chain_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// Proves V3-05, V3-16: a text cannot bypass a policy by an unusual position: as a list of parts, in
// the first event of a block, only in copies, next to a finish reason, after a call, without any
// end.
func TestTextsInOddPlaces(t *testing.T) {
	line := func(data string) string { return "data: " + data + "\n\n" }
	for _, c := range []struct {
		name, dialect, body string
		want                []string
	}{
		{"parts", "openai-chat", line(`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"secret one"},{"type":"x","text":"secret two"}]}}]}`), []string{"SECRET ONE", "SECRET TWO"}},
		{"a whole message in a stream", "openai-chat", line(`{"choices":[{"message":{"content":"secret"}}]}`), []string{"SECRET"}},
		{"a message beside a delta", "openai-chat", line(`{"choices":[{"delta":{"content":"secret"},"message":{"content":"secret before"}}]}`), []string{`"delta":{"content":"SECRET"}`, `"message":{"content":"SECRET"}`}},
		{"legacy completions", "openai-chat", line(`{"choices":[{"text":"secret"}]}`), []string{"SECRET"}},
		{"beside the end", "openai-chat", line(`{"choices":[{"delta":{"content":"secret"},"finish_reason":"stop"}]}`), []string{`"content":"SECRET<C>"`}},
		{"behind a call", "openai-chat", line(`{"choices":[{"delta":{"content":"secret","tool_calls":[{"index":0}]}}]}`) + line(`{"choices":[{"delta":{"content":"secret"}}]}`) + line("[DONE]"), []string{`"content":"SECRET<C>"`, `"content":"SECRET"`, `"content":"<C>"`}},
		{"without an end", "openai-chat", line(`{"choices":[{"delta":{"content":"secret"}}]}`) + line("[DONE]"), []string{`"content":"SECRET"`, `"content":"<C>"`}},
		{"a stranger's index", "openai-chat", line(`{"choices":[{"index":"9","delta":{"content":"secret"}}]}`), []string{"SECRET"}},
		{"the first event of a block", "anthropic", line(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"secret"}}`) + line(`{"type":"content_block_stop","index":0}`), []string{`"text":"SECRET"`, `"text":"<C>"`}},
		{"a delta of no block", "anthropic", line(`{"type":"content_block_delta","index":5,"delta":{"type":"text_delta","text":"secret"}}`), []string{"SECRET"}},
		{"the end of a text alone", "openai-responses", line(`{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"secret"}`), []string{`"text":"SECRET<C>"`}},
		{"an item alone", "openai-responses", line(`{"type":"response.output_item.done","output_index":0,"item":{"content":[{"type":"refusal"},{"type":"output_text","text":"secret"}]}}`), []string{"SECRET<C>"}},
		{"a part alone", "openai-responses", line(`{"type":"response.content_part.done","output_index":1,"content_index":1,"part":{"type":"output_text","text":"secret"}}`), []string{"SECRET<C>"}},
		{"a response alone", "openai-responses", line(`{"type":"response.completed","response":{"output":[{"content":[{"type":"output_text","text":"secret"}]}],"output_text":"secret"}}`), []string{`"text":"SECRET<C>"`, `"output_text":"SECRET<C>"`}},
		{"an end that says more", "openai-responses", line(`{"type":"response.output_text.delta","delta":"sec"}`) + line(`{"type":"response.output_text.done","text":"secret"}`), []string{`"delta":"SEC"`, `"text":"SECRET<C>"`}},
		{"an end that says something else", "openai-responses", line(`{"type":"response.output_text.delta","delta":"one"}`) + line(`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max"},"output":[{"content":[{"type":"output_text","text":"secret"}]}]}}`), []string{`"text":"ONE<C>"`}},
	} {
		got := through(t, chained(t, upper{}, closing{}), c.dialect, c.body)
		if strings.Contains(got, "secret") {
			t.Errorf("%s: passed\n%s", c.name, got)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q is missing in\n%s", c.name, part, got)
			}
		}
		// An unreadable event is forwarded, because the codec after it refuses it. A truncated
		// event does not count as text.
		for _, broken := range []string{strings.Replace(c.body, "}", "", 1), strings.Replace(c.body, `"index"`, `"index":0,"index"`, 1), c.body[:len(c.body)/2]} {
			run := chained(t, forward{"a"}).Begin(chain.Setup{Exchange: events.Exchange{Dialect: c.dialect}})
			if _, err := io.ReadAll(run.Reader(t.Context(), strings.NewReader(broken))); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// closing appends a mark to every text.
type closing struct{}

func (closing) Name() string { return "closing" }

func (closing) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content) error {
	return s.SendText("<C>", false)
}

// failing returns an error, or panics, in one hook.
type failing struct {
	name string
	at   string
	how  func() error
}

func (f failing) Name() string { return f.name }

func (f failing) do(hook string) error {
	if f.at == hook {
		return f.how()
	}
	return nil
}

func (f failing) OnStreamStart(context.Context, *events.Exchange, events.Stream) error {
	return f.do("start")
}

func (f failing) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	if err := s.SendText(delta, false); err != nil {
		return err
	}
	return f.do("delta")
}

func (f failing) OnContentComplete(context.Context, *events.Exchange, events.Stream, *events.Content) error {
	return f.do("complete")
}

func (f failing) OnFinishReason(context.Context, *events.Exchange, events.Stream, string) error {
	return f.do("finish")
}

// Proves I14, FM15: a failing hook ends the stream there, in every dialect, streamed and not, at
// any position in the chain; the error names the policy, and nothing more is read.
func TestFailuresEndStreams(t *testing.T) {
	hows := map[string]func() error{
		"error": func() error { return errors.New("no") },
		"panic": func() error { panic("no") },
	}
	for dialect, body := range streams {
		for _, at := range []string{"start", "delta", "complete", "finish"} {
			for how, f := range hows {
				for _, policies := range [][]events.Policy{{failing{"p", at, f}}, {addend{}, failing{"p", at, f}}, {failing{"p", at, f}, upper{}}} {
					run := chained(t, policies...).Begin(chain.Setup{Exchange: events.Exchange{Dialect: dialect}})
					r := run.Reader(t.Context(), &cutter{strings.NewReader(body), 50})
					out, err := io.ReadAll(r)
					var failed *chain.HookError
					if !errors.As(err, &failed) || failed.Policy != "p" || failed.Late || !strings.Contains(failed.Error(), "p: On") || errors.Unwrap(failed) == nil {
						t.Fatalf("%s %s %s: %v", dialect, at, how, err)
					}
					if n, again := r.Read(make([]byte, 10)); n != 0 || again == nil || at == "start" && len(out) > 0 {
						t.Errorf("%s %s %s: goes on behind its end: %d, %v", dialect, at, how, n, again)
					}
					run = chained(t, policies...).Begin(chain.Setup{Exchange: events.Exchange{Dialect: dialect}})
					if whole, err := run.Body(t.Context(), []byte(bodies[dialect])); !errors.As(err, &failed) || whole != nil {
						t.Errorf("%s %s %s: a body passes: %v", dialect, at, how, err)
					}
				}
			}
		}
	}
}
