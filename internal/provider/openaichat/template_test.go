package openaichat_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// Proves I2, I12, A1, A7, A8: the fast path for an event that repeats the previous one never
// changes the result: streams of such events, with a few bytes changed anywhere, are read as if
// every event were parsed (play compares the two).
func TestRepeatedEvents(t *testing.T) {
	number := regexp.MustCompile("%d")
	texts := rapid.SampledFrom([]string{"", "a", `\"`, "größe", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\\`, "\xFF", "\t", "{", "}", `x\n`, `","id":"evil`, "0123456789abcdef"})
	property.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		call := rapid.Bool().Draw(rt, "call")
		padding := rapid.SampledFrom([]string{"", `,"obfuscation":"%s"`, `,"p":"%s"`}).Draw(rt, "padding")
		front := rapid.Bool().Draw(rt, "padding in front")
		usage := rapid.SampledFrom([]string{"", "", `"usage":null`, `"usage":{"prompt_tokens":98,"total_tokens":%d,"completion_tokens":%d,"details":{"n":%d}}`, `"usage":%d`, `"usage":{"a":1.5,"b":-1,"completion_tokens":%d}`}).Draw(rt, "usage")
		counters := rapid.SampledFrom([]string{"0", "1", "9", "10", "123456789", "1234567890", "01", "1.5", "-1", `"x"`, "null", "{}"})
		event := func(delta string) {
			counted := usage
			if counted != "" {
				counted = "," + number.ReplaceAllStringFunc(counted, func(string) string { return counters.Draw(rt, "counter") })
			}
			pad := padding
			if pad != "" {
				pad = fmt.Sprintf(pad, texts.Draw(rt, "pad"))
			}
			if front && pad != "" {
				fmt.Fprintf(&b, `data: {%s,"choices":[{"index":0,"delta":%s,"finish_reason":null}]%s}`+"\n\n", pad[1:], delta, counted)
			} else {
				fmt.Fprintf(&b, `data: {"choices":[{"index":0,"delta":%s,"finish_reason":null}]%s%s}`+"\n\n", delta, counted, pad)
			}
		}
		if call {
			event(entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{\"t\":\""}}`))
		}
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			text := texts.Draw(rt, "text")
			switch {
			case call && rapid.IntRange(0, 9).Draw(rt, "other") == 0:
				event(entries(`{"index":1,"id":"j","function":{"name":"b","arguments":"` + text + `"}}`))
			case call:
				event(entries(`{"index":0,"function":{"arguments":"` + text + `"}}`))
			default:
				event(`{"content":"` + text + `"}`)
			}
		}
		s := []byte(b.String() + theEnd + "data: [DONE]\n\n")
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			s[rapid.IntRange(0, len(s)-1).Draw(rt, "at")] = rapid.SampledFrom([]byte("\"\\{}[],:0127a \n\xFF")).Draw(rt, "byte")
		}
		rt.Log(string(s))
		limit := rapid.SampledFrom([]int{0, 0, 0, 120}).Draw(rt, "limit")
		play(t, newGate(t), &provider.Request{N: 1}, provider.Options{MaxBytes: limit}, string(s))
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}
