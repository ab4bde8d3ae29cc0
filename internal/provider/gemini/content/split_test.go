package content

import (
	"slices"
	"testing"
)

// Proves V3-10: an event is divided before the texts that follow a call. No part is lost, the bytes of
// parts stay, and the last event has everything else.
func TestSplit(t *testing.T) {
	const call, thought = `{"functionCall":{"name":"a","args":{"n":1.0}}}`, `{"text":"hm","thought":true}`
	candidate := func(parts, more string) string {
		return `{"content":{"parts":[` + parts + `],"role":"model"}` + more + `}`
	}
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"text before a call", `{"candidates":[` + candidate(`{"text":"x"},`+call, `,"finishReason":"STOP"`) + `]}`, nil},
		{"a thought after a call", `{"candidates":[` + candidate(call+`,`+thought, ``) + `]}`, nil},
		{"no candidate", `{"usageMetadata":{"functionCall":1}}`, nil},
		{"not JSON", `{"functionCall"`, nil},
		{"texts after calls", `{"candidates":[` + candidate(`{"text":"x"}, `+call+`,{"text":"y"},`+call+`,`+thought+`, {"text" : "z"}`, `,"index":1,"finishReason":"STOP"`) + `],"modelVersion":"m"}`, []string{
			`{"candidates":[{"index":1,"content":{"parts":[{"text":"x"},` + call + `],"role":"model"}}]}`,
			`{"candidates":[{"index":1,"content":{"parts":[{"text":"y"},` + call + `,` + thought + `],"role":"model"}}]}`,
			`{"candidates":[` + candidate(`{"text" : "z"}`, `,"index":1,"finishReason":"STOP"`) + `],"modelVersion":"m"}`,
		}},
		{"two candidates", `{"candidates":[` + candidate(call+`,{"text":"x"}`, ``) + `,` + candidate(call+`,{"text":"y"},`+call, `,"index":1`) + `,` + candidate(`{"text":"z"}`, `,"index":2`) + `]}`, []string{
			`{"candidates":[` + candidate(call, ``) + `,{"index":1,"content":{"parts":[` + call + `],"role":"model"}}]}`,
			`{"candidates":[` + candidate(`{"text":"x"}`, ``) + `,` + candidate(`{"text":"y"},`+call, `,"index":1`) + `,` + candidate(`{"text":"z"}`, `,"index":2`) + `]}`,
		}},
	} {
		var got []string
		for _, data := range split([]byte(test.in)) {
			got = append(got, string(data))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%q\nwant\n%q", test.name, got, test.want)
		}
	}
}
