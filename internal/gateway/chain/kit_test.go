package chain_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/gateway/chain"
)

// forward is a policy with only the hook below.
type forward struct{ name string }

func (f forward) Name() string { return f.name }

// OnContentDelta forwards every chunk.
func (forward) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return s.SendText(delta, false)
}

// upper converts texts to capitals.
type upper struct{}

func (upper) Name() string { return "upper" }

func (upper) OnContentDelta(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content, delta string) error {
	return s.SendText(strings.ToUpper(delta), false)
}

// addend adds a text at every possible position.
type addend struct{}

func (addend) Name() string { return "addend" }

func (addend) OnStreamStart(_ context.Context, _ *events.Exchange, s events.Stream) error {
	return s.SendText("<start>", false)
}

func (addend) OnContentComplete(_ context.Context, _ *events.Exchange, s events.Stream, _ *events.Content) error {
	return s.SendText("<complete>", false)
}

func (addend) OnFinishReason(_ context.Context, _ *events.Exchange, s events.Stream, reason string) error {
	return s.SendText("<"+reason+">", false)
}

func chained(t testing.TB, policies ...events.Policy) *chain.Chain {
	t.Helper()
	c, err := chain.New(policies...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// through returns a stream after a chain.
func through(t testing.TB, c *chain.Chain, dialect, body string) string {
	t.Helper()
	return throughCut(t, c, dialect, body, len(body)+1)
}

// throughCut passes the stream through the chain in chunks of size bytes.
func throughCut(t testing.TB, c *chain.Chain, dialect, body string, size int) string {
	t.Helper()
	run := c.Begin(chain.Setup{Exchange: events.Exchange{Dialect: dialect, Streamed: true}})
	out, err := io.ReadAll(run.Reader(t.Context(), &cutter{strings.NewReader(body), size}))
	if err != nil {
		t.Fatalf("%s: %v", dialect, err)
	}
	return string(out)
}

// cutter returns at most size bytes from each read.
type cutter struct {
	r    io.Reader
	size int
}

func (c *cutter) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }

// dialects of the package, by the directory of their recordings.
var dialects = map[string]string{"openai-chat": "openai-chat", "openai-responses": "openai-responses", "anthropic-messages": "anthropic", "gemini": "gemini"}

// told is a stream as a client parses it, independently of the package. Texts has all copies of
// each text; rest is everything else, in order.
type told struct {
	texts map[string]string
	rest  []string
}

// tell parses a stream of events.
func tell(t testing.TB, dialect, body string) told {
	t.Helper()
	out := told{texts: map[string]string{}}
	for _, frame := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		for _, line := range strings.Split(frame, "\n") {
			data, ok := strings.CutPrefix(line, "data:")
			if !ok {
				continue
			}
			var event map[string]any
			if json.Unmarshal([]byte(data), &event) != nil {
				out.rest = append(out.rest, data)
				continue
			}
			switch dialect {
			case "openai-chat":
				out.chat(event)
			case "anthropic":
				out.anthropic(event)
			case "gemini":
				out.gemini(event)
			default:
				out.responses(event)
			}
			text, _ := json.Marshal(event)
			out.rest = append(out.rest, string(text))
		}
	}
	return out
}

func list(v any) []any { l, _ := v.([]any); return l }

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func (o *told) chat(event map[string]any) {
	for _, c := range list(event["choices"]) {
		choice := object(c)
		delta := object(choice["delta"])
		if text, ok := delta["content"].(string); ok {
			index, _ := choice["index"].(float64)
			o.texts["choice "+string(rune('0'+int(index)))] += text
			delta["content"] = "TEXT"
		}
		// A copy of the message so far, which some servers send.
		if message := object(choice["message"]); message != nil {
			if text, ok := message["content"].(string); ok {
				o.texts["copy"] = text
				message["content"] = "TEXT"
			}
		}
		delete(choice, "logprobs")
	}
}

func (o *told) anthropic(event map[string]any) {
	index, _ := event["index"].(float64)
	key := "block " + string(rune('0'+int(index)))
	if delta := object(event["delta"]); delta["type"] == "text_delta" {
		o.texts[key] += delta["text"].(string)
		delta["text"] = "TEXT"
	}
	if block := object(event["content_block"]); block["type"] == "text" {
		text, _ := block["text"].(string)
		o.texts[key] += text
		block["text"] = "TEXT"
	}
}

func (o *told) gemini(event map[string]any) {
	for _, c := range list(event["candidates"]) {
		candidate := object(c)
		index, _ := candidate["index"].(float64)
		for _, p := range list(object(candidate["content"])["parts"]) {
			part := object(p)
			if text, ok := part["text"].(string); ok && part["thought"] != true {
				o.texts["candidate "+string(rune('0'+int(index)))] += text
				part["text"] = "TEXT"
			}
		}
	}
}

func (o *told) responses(event map[string]any) {
	item, _ := event["output_index"].(float64)
	part, _ := event["content_index"].(float64)
	key := func(kind string, i, p int) string {
		return kind + " " + string(rune('0'+i)) + "." + string(rune('0'+p))
	}
	parts := func(kind string, i int, content []any) {
		for n, p := range content {
			if part := object(p); part["type"] == "output_text" {
				o.texts[key(kind, i, n)] = part["text"].(string)
				part["text"] = "TEXT"
				delete(part, "logprobs")
			}
		}
	}
	delete(event, "logprobs")
	switch event["type"] {
	case "response.output_text.delta":
		o.texts[key("delta", int(item), int(part))] += event["delta"].(string)
		event["delta"] = "TEXT"
	case "response.output_text.done":
		o.texts[key("done", int(item), int(part))] = event["text"].(string)
		event["text"] = "TEXT"
	case "response.content_part.done":
		parts("part", int(item), []any{event["part"]})
	case "response.output_item.done":
		parts("item", int(item), list(object(event["item"])["content"]))
	case "response.completed", "response.incomplete", "response.failed":
		for i, v := range list(object(event["response"])["output"]) {
			parts("response", i, list(object(v)["content"]))
		}
	}
}
