package anthropic_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
)

// responseLog maps keys to replaced calls.
type responseLog map[string]provider.ReplacedCall

func (responseLog) Response(id string) (string, []provider.ReplacedCall) { return id, nil }
func (responseLog) Conversation(string) []provider.ReplacedCall          { return nil }
func (responseLog) ByText(string) []provider.ReplacedCall                { return nil }

func (s responseLog) Message(id string) (provider.ReplacedCall, bool) {
	r, ok := s[id]
	return r, ok
}

// Proves S6, AM7, L2: a message with the thinking of several turns is split where the response log
// knows the position, and nothing else of a request changes.
func TestRestoreThinking(t *testing.T) {
	at := func(signature string) string {
		sum := sha256.Sum256([]byte(signature))
		return "thinking_" + hex.EncodeToString(sum[:16])
	}
	l := responseLog{
		at("s2"):   {Item: []byte(`CALL1`), Output: []byte(`RESULT1`)},
		at("data"): {Item: []byte(`CALL2`), Output: []byte(`RESULT2`)},
		at("s9"):   {Output: []byte(`forgotten`)},
	}
	one, two := `{"type":"thinking","thinking":"a","signature":"s1"}`, `{"type":"thinking","thinking":"b","signature":"\u00732"}`
	three, text := `{"type":"redacted_thinking","data":"data"}`, `{"type":"text","text":"x"}`
	between := func(n, role string) string {
		if role == "" {
			return `CALL` + n + `]},{"role":"user","content":[RESULT` + n + `]},{"role":"assistant","content":[`
		}
		return `CALL` + n + `],"role":"assistant"},{"role":"user","content":[RESULT` + n + `]},{"content":[`
	}
	for _, c := range []struct{ name, in, want string }{
		{"two places", `{ "messages" : [ {"role":"assistant","content":[` + one + ` , ` + two + `,` + three + `,` + text + `]} ] }`,
			`{ "messages" : [ {"role":"assistant","content":[` + one + ` , ` + between("1", "") + two + `,` + between("2", "") + three + `,` + text + `]} ] }`},
		{"the role behind", `{"messages":[{"content":[` + one + `,` + two + `],"role":"assistant"}]}`,
			`{"messages":[{"content":[` + one + `,` + between("1", "behind") + two + `],"role":"assistant"}]}`},
		{"at the beginning", `{"messages":[{"role":"assistant","content":[` + two + `,` + text + `]}]}`, ""},
		{"not known", `{"messages":[{"role":"assistant","content":[` + text + `,` + one + `]}]}`, ""},
		{"forgotten", `{"messages":[{"role":"assistant","content":[` + text + `,{"type":"thinking","signature":"s9"}]}]}`, ""},
		{"of the user", `{"messages":[{"role":"user","content":[` + text + `,` + two + `]}]}`, ""},
		{"a text", `{"messages":[{"role":"assistant","content":"thinking\""}]}`, ""},
		{"no JSON", `thinking"`, ""},
		{"none", `{"messages":[]}`, ""},
	} {
		if c.want == "" {
			c.want = c.in
		}
		if got := string(anthropic.Dialect{}.Restore([]byte(c.in), l)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Proves S6, AM6: a streamed message is reassembled with everything that the provider requires.
func TestNextRequest(t *testing.T) {
	event := func(typ, members string) []byte { return []byte(`{"type":"` + typ + `",` + members + `}`) }
	start := func(i, block string) []byte {
		return event("content_block_start", `"index":`+i+`,"content_block":`+block)
	}
	delta := func(i, d string) []byte { return event("content_block_delta", `"index":`+i+`,"delta":{`+d+`}`) }
	round := provider.Round{
		Events: [][]byte{
			event("message_start", `"message":{"content":[],"container":{"id":"box"}}`),
			start("0", `{"type":"thinking","thinking":"","signature":""}`), delta("0", `"type":"thinking_delta","thinking":"hm"`), delta("0", `"type":"signature_delta","signature":"s"`),
			start("1", `{"type":"text","text":"","citations":null}`), delta("1", `"type":"text_delta","text":"see"`), delta("1", `"type":"citations_delta","citation":{"n":1}`),
			start("2", `{"type":"text","text":""}`),
			start("3", `{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`), delta("3", `"type":"input_json_delta","partial_json":"{\"q\":"`), delta("3", `"type":"input_json_delta","partial_json":"1}"`),
			start("4", `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`),
			start("5", `{"type":"tool_use","id":"c1","name":"a","input":{}}`), delta("5", `"type":"input_json_delta","partial_json":""`),
			event("message_delta", `"delta":{"stop_reason":"tool_use"}`), []byte(`{"type":"message_stop"}`),
		},
		Results: []provider.CallResult{{Call: "c1", Text: "no"}},
	}
	message := `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"see","citations":[{"n":1}]},` +
		`{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]},` +
		`{"type":"tool_use","id":"c1","name":"a","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"no","is_error":true}]}`
	for _, c := range [][2]string{
		{`{"messages":[],"model":"m"}`, `{"messages":[` + message + `],"model":"m","container":"box"}`},
		{`{"messages":[],"container":"old"}`, `{"messages":[` + message + `],"container":"box"}`},
		{`{"messages":[],"container":{"id":"old","skills":[]}}`, `{"messages":[` + message + `],"container":{"id":"box","skills":[]}}`},
		{`{"messages":[],"container":{"skills":[]}}`, `{"messages":[` + message + `],"container":{"skills":[],"id":"box"}}`},
	} {
		if next, ok := (anthropic.Dialect{}).NextRequest([]byte(c[0]), round); !ok || string(next) != c[1] {
			t.Errorf("%t\n%s\nwant\n%s", ok, next, c[1])
		}
	}
	cut := provider.Round{Results: round.Results, Events: [][]byte{
		start("0", `{"type":"tool_use","id":"c1","name":"a","input":{}}`), delta("0", `"type":"input_json_delta","partial_json":"{\"a\":1,\"b\":\"xx"`),
	}}
	if next, ok := (anthropic.Dialect{}).NextRequest([]byte(`{"messages":[]}`), cut); !ok || !strings.Contains(string(next), `"input":{"a":1}}`) {
		t.Errorf("a call that was cut: %s", next)
	}
	for name, events := range map[string][][]byte{
		"nothing":             nil,
		"an unknown delta":    {start("0", `{"type":"text","text":""}`), delta("0", `"type":"smell_delta","smell":"x"`)},
		"a delta of no block": {delta("0", `"type":"text_delta","text":"x"`)},
	} {
		if next, ok := (anthropic.Dialect{}).NextRequest([]byte(`{"messages":[]}`), provider.Round{Events: events, Results: round.Results}); ok {
			t.Errorf("%s: %s", name, next)
		}
	}
}
