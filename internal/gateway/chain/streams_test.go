package chain_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// recordings calls f with every recorded stream.
func recordings(t *testing.T, f func(t *testing.T, dialect, name, body string)) {
	for folder, dialect := range dialects {
		files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", folder), "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "data:") {
				f(t, dialect, filepath.Base(file), string(text))
			}
		}
	}
}

// streams are short synthetic ones, with everything that policies must not change.
var streams = map[string]string{
	"openai-chat": `data: {"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"obfuscation":"x"}

: comment
data: {"id":"c","object":"chat.completion.chunk","created":7,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hmm"}}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"one "}},{"index":1,"delta":{"content":"two "}}]}

data: {"id":"c","choices":[{"index":0,"delta":{"content":"three"},"logprobs":{"content":[{"token":"three"}]}}]}

data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"a","arguments":"{}"}}]}}]}

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"},{"index":1,"delta":{"content":"four"},"finish_reason":"stop"}]}

data: {"id":"c","choices":[],"usage":{"total_tokens":3}}

data: [DONE]

`,
	"anthropic": `event: message_start
data: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type":"ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"one "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"three"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"a","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`,
	"gemini": `data: {"candidates":[{"content":{"parts":[{"text":"hmm","thought":true}],"role":"model"},"index":0}],"responseId":"r"}

data: {"candidates":[{"content":{"parts":[{"text":"one "}],"role":"model"},"index":0}],"responseId":"r"}

data: {"candidates":[{"content":{"parts":[{"text":"three"}],"role":"model"},"index":0}],"responseId":"r"}

data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{}}}],"role":"model"},"index":0}],"responseId":"r"}

data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"totalTokenCount":3}}

`,
	"openai-responses": `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"i","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"i","output_index":0,"content_index":0,"delta":"one ","logprobs":[{"token":"one"}]}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"i","output_index":0,"content_index":0,"delta":"three","logprobs":[]}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":5,"item_id":"i","output_index":0,"content_index":0,"text":"one three","logprobs":[]}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":6,"item_id":"i","output_index":0,"content_index":0,"part":{"type":"output_text","text":"one three","annotations":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"one three","annotations":[]}]}}

event: response.completed
data: {"type":"response.completed","sequence_number":8,"response":{"id":"r","status":"completed","output":[{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","text":"one three","annotations":[]}]}],"usage":{"total_tokens":3}}}

`,
}

// Proves V3-12, V3-17, W1, P20: unchanged texts are forwarded byte for byte, and so is everything
// that hooks cannot see, in synthetic streams with any chunks.
func TestUnchangedIsIdentical(t *testing.T) {
	c := chained(t, forward{"a"}, events.Passthrough{}, forward{"b"})
	for dialect, body := range streams {
		for _, size := range []int{1, 2, 7, 64, 1 << 20} {
			if got := throughCut(t, c, dialect, body, size); got != body {
				t.Fatalf("%s, %d bytes at a time:\n%s", dialect, size, got)
			}
		}
	}
}

// unread matches lines that the standard ignores: one recording has one.
var unread = regexp.MustCompile(`(?m)^[^:\r\n].*\n`)

// read returns the content of a stream for a client of the standard, byte for byte.
func read(body string) string {
	return unread.ReplaceAllStringFunc(body, func(line string) string {
		name, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if name == "data" || name == "event" || name == "id" || name == "retry" {
			return line
		}
		return ""
	})
}

// Proves V3-12, V3-17, W1: the same for every recorded stream of all dialects.
func TestRecordedStreamsAreIdentical(t *testing.T) {
	c, n := chained(t, forward{"a"}, forward{"b"}), 0
	recordings(t, func(t *testing.T, dialect, name, body string) {
		n++
		if got := throughCut(t, c, dialect, body, 1500); got != read(body) {
			t.Errorf("%s %s differs", dialect, name)
		}
	})
	if n < 400 {
		t.Errorf("only %d streams", n)
	}
}

// Proves V3-05, V3-16: a policy that changes every text changes every copy of it, and nothing else
// of any recorded stream.
func TestRecordedStreamsInCapitals(t *testing.T) {
	c, texts := chained(t, upper{}), 0
	check := func(t *testing.T, dialect, name, body string) {
		before, after := tell(t, dialect, body), tell(t, dialect, throughCut(t, c, dialect, body, 1500))
		for key, text := range before.texts {
			texts++
			if after.texts[key] != strings.ToUpper(text) {
				t.Errorf("%s %s: %s: %.200q became %.200q", dialect, name, key, text, after.texts[key])
			}
		}
		if !slices.Equal(before.rest, after.rest) {
			for i := range before.rest {
				if i >= len(after.rest) || before.rest[i] != after.rest[i] {
					t.Errorf("%s %s: event %d\n%.300s\n%.300s", dialect, name, i, before.rest[i], after.rest[min(i, len(after.rest)-1)])
					break
				}
			}
		}
	}
	for dialect, body := range streams {
		check(t, dialect, "ours", body)
	}
	recordings(t, check)
	if texts < 500 {
		t.Errorf("only %d texts", texts)
	}
}

// Proves V3-05, V3-10, V3-26, W1: text can be added at the start, after a text and at the end; the
// stream stays valid in its dialect, and the finish reason is unchanged.
func TestAddedText(t *testing.T) {
	for dialect, want := range map[string]map[string]string{
		"openai-chat": {"choice 0": "<start>one three<complete><tool_calls>", "choice 1": "two four<complete><stop>"},
		"anthropic":   {"block 1": "<start>one three<complete>", "block 3": "<tool_use>"},
		"gemini":      {"candidate 0": "<start>one three<complete><STOP>"},
		"openai-responses": {
			"delta 0.0": "<start>one three<complete>", "done 0.0": "<start>one three<complete>", "part 0.0": "<start>one three<complete>",
			"item 0.0": "<start>one three<complete>", "response 0.0": "<start>one three<complete>",
			"delta 1.0": "<completed>", "done 1.0": "<completed>", "part 1.0": "<completed>", "item 1.0": "<completed>", "response 1.0": "<completed>",
		},
	} {
		got := through(t, chained(t, addend{}), dialect, streams[dialect])
		after := tell(t, dialect, got)
		for key, text := range want {
			if after.texts[key] != text {
				t.Errorf("%s: %s is %q, want %q", dialect, key, after.texts[key], text)
			}
		}
		for key := range after.texts {
			if _, ok := want[key]; !ok && after.texts[key] != "" {
				t.Errorf("%s: %s is %q", dialect, key, after.texts[key])
			}
		}
		if dialect == "openai-responses" {
			numbers(t, got)
		}
		// The next policy sees the text that a policy adds.
		both := tell(t, dialect, through(t, chained(t, addend{}, upper{}), dialect, streams[dialect]))
		for key, text := range want {
			if both.texts[key] != strings.ToUpper(text) {
				t.Errorf("%s: %s is %q behind another policy", dialect, key, both.texts[key])
			}
		}
	}
}

// numbers checks that the events of a stream are numbered from 0.
func numbers(t *testing.T, body string) {
	t.Helper()
	next := 0
	for _, line := range strings.Split(body, "\n") {
		if _, rest, ok := strings.Cut(line, `"sequence_number":`); ok {
			digits := rest[:strings.IndexAny(rest, ",}")]
			if digits != itoa(next) {
				t.Fatalf("number %s, want %d", digits, next)
			}
			next++
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
