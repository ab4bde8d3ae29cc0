package openaichat_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
)

// Proves S6: a model gets its own message back completely: its text, its reasoning in the members
// of its provider, its calls with their other members.
func TestNextRequest(t *testing.T) {
	delta := func(members string) []byte {
		return []byte(`{"id":"x","choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]}`)
	}
	round := provider.Round{
		Events: [][]byte{
			delta(`"role":"assistant","content":"","reasoning_content":"one "`),
			delta(`"reasoning_content":"two","reasoning_details":[{"type":"reasoning.text","text":"a"}],"refusal":null`),
			delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"b"}],"content":"hi"`),
			delta(`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\""},"extra_content":{"google":{"thought_signature":"s"}}}]`),
			delta(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"id":"c2","type":"custom","custom":{"name":"g","input":"free"}}]`),
			[]byte("[DONE]"),
		},
		Results: []provider.CallResult{{Call: "c1", Text: "no"}, {Call: "c2", Text: "no", Skipped: true}},
	}
	next, ok := openaichat.Dialect{}.NextRequest([]byte(`{"model":"m","messages":[{"role":"user","content":"go"}],"n":1}`), round)
	want := `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","content":"hi",` +
		`"reasoning_content":"one two","reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.encrypted","data":"b"}],"tool_calls":[` +
		`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"},"extra_content":{"google":{"thought_signature":"s"}}},` +
		`{"id":"c2","type":"custom","custom":{"name":"g","input":"free"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"no"},{"role":"tool","tool_call_id":"c2","content":"no"}],"n":1}`
	if !ok || string(next) != want {
		t.Errorf("%t\n%s\nwant\n%s", ok, next, want)
	}
	for name, events := range map[string][]string{
		"the legacy form": {`"function_call":{"name":"f","arguments":"{}"}`},
		"text in parts":   {`"content":[{"type":"text","text":"x"}]`, `"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]`},
		"no index":        {`"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]`},
		"no name":         {`"tool_calls":[{"index":0,"id":"c1","function":{"arguments":"{}"}}]`},
	} {
		s := provider.Round{Results: []provider.CallResult{{Call: "c1", Text: "no"}}}
		for _, e := range events {
			s.Events = append(s.Events, delta(e))
		}
		if next, ok := (openaichat.Dialect{}).NextRequest([]byte(`{"messages":[]}`), s); ok {
			t.Errorf("%s: %s", name, next)
		}
	}
	// The history contains the complete part of a truncated call.
	for _, s := range []provider.Round{
		{Events: [][]byte{delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\":1,\"b\":\"xx"}}]`)}},
		{Body: []byte(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1,\"b\":\"xx"}}]}}]}`)},
	} {
		s.Results = round.Results[:1]
		want := `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"no"}]}`
		if next, ok := (openaichat.Dialect{}).NextRequest([]byte(`{"messages":[]}`), s); !ok || string(next) != want {
			t.Errorf("%t %s, want %s", ok, next, want)
		}
	}
	if _, ok := (openaichat.Dialect{}).NextRequest([]byte(strings.Repeat("[", 3)), round); ok {
		t.Error("a request that is none")
	}
}
