package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// playBody sends one body through the codec.
func playBody(t testing.TB, g *gate, o provider.Options, in string) (out string, notes provider.Notes, err error) {
	t.Helper()
	return codec.PlayBody(t, anthropic.Dialect{}.Body(request(t), g, o), g, in)
}

const denialOfA = "[stopgate] The tool call `a` was not run: A rule of the policy decided this call (rule_matched)."

// Proves W49, F15, L2, L4, L5, L8, L14, W25, W26, W31, W35, W36: bodies by hand. Everything else
// stays byte for byte, including unusual spaces.
func TestBody(t *testing.T) {
	const callA = `{"type":"tool_use","id":"ia","name":"a","input":{}}`
	const callB = `{"type":"tool_use","id":"ib","name":"b","input":{}}`
	cut := strings.Replace(denialOfA, "A rule of the policy decided this call (rule_matched)", "The model's answer ended before the call was complete (stream_truncated)", 1)
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	for _, c := range []struct{ name, deny, in, want string }{
		{name: "no call: byte for byte", in: `{ "id" : "x", "content":[` + text("hi") + `],"stop_reason":"end_turn" } ` + "\n"},
		{name: "no content", in: `{"type":"message","content":null}`},
		{name: "an error", in: `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`},
		{name: "allowed: arguments in our spelling, all else as it was",
			in:   `{"content":[ {"input" : { "path" : "x\u0041", "n":1.0 }, "type":"tool_use","id":"i","name":"a","x":[ ]} ],"stop_reason":"tool_use"}`,
			want: `{"content":[ {"input" : {"path":"xA","n":1.0}, "type":"tool_use","id":"i","name":"a","x":[ ]} ],"stop_reason":"tool_use"}`},
		{name: "no input", in: `{"content":[{"type":"tool_use","id":"i","name":"a"}],"stop_reason":"tool_use"}`,
			want: `{"content":[{"type":"tool_use","id":"i","name":"a","input":{}}],"stop_reason":"tool_use"}`},
		{name: "null input", in: `{"content":[{"type":"tool_use","id":"i","name":"a","input":null}],"stop_reason":"tool_use"}`,
			want: `{"content":[{"type":"tool_use","id":"i","name":"a","input":{}}],"stop_reason":"tool_use"}`},
		{name: "the only block denied", deny: "a", in: `{"content":[` + callA + `],"stop_reason":"tool_use"}`,
			want: `{"content":[` + text(denialOfA) + `],"stop_reason":"end_turn"}`},
		{name: "the first denied", deny: "a", in: `{"content":[` + text("x") + `, ` + callA + `, ` + callB + `],"stop_reason":"tool_use"}`,
			want: `{"content":[` + text("x") + `, ` + text(denialOfA) + `, ` + callB + `],"stop_reason":"tool_use"}`},
		{name: "the second denied: the text stands first", deny: "a", in: `{"content":[` + callB + `,` + callA + `,` + text("y") + `],"stop_reason":"tool_use"}`,
			want: `{"content":[` + text(denialOfA) + `,` + callB + `,` + text("y") + `],"stop_reason":"tool_use"}`},
		{name: "both denied, one text", deny: "a b", in: `{"content":[` + callA + `,` + text("y") + `,` + callB + `],"stop_reason":"tool_use"}`,
			want: `{"content":[` + text(denialOfA+`\n`+strings.Replace(denialOfA, "`a`", "`b`", 1)) + `,` + text("y") + `],"stop_reason":"end_turn"}`},
		{name: "cut: denied, the reason stays", in: `{"content":[` + callA + `],"stop_reason":"max_tokens"}`,
			want: `{"content":[` + text(cut) + `],"stop_reason":"max_tokens"}`},
		{name: "no reason is no normal end", in: `{"content":[` + callA + `]}`, want: `{"content":[` + text(cut) + `]}`},
		{name: "a repeated key in one input refuses that call",
			in:   `{"content":[{"type":"tool_use","id":"i","name":"a","input":{"x":[{"y":1,"\u0079":2}]}},` + callB + `],"stop_reason":"tool_use"}`,
			want: `{"content":[` + text(strings.Replace(denialOfA, "A rule of the policy decided this call (rule_matched)", "An object in the arguments contains the same key twice (duplicate_key)", 1)) + `,` + callB + `],"stop_reason":"tool_use"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := playBody(t, newGate(t, strings.Fields(c.deny)...), provider.Options{}, c.in)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "" {
				want = c.in
			}
			if out != want {
				t.Errorf("got  %s\nwant %s", out, want)
			}
			if !json.Valid([]byte(out)) {
				t.Errorf("not JSON: %s", out)
			}
		})
	}
}

// Proves F14, A1, I24, F13: an ambiguous body is refused, and so are the calls found before the
// ambiguity.
func TestBodyMalformed(t *testing.T) {
	const call = `{"type":"tool_use","id":"ia","name":"a","input":{}}`
	for _, c := range []struct {
		name, in string
		o        provider.Options
		code     stopgate.Code
	}{
		{"empty", "", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"HTML", "<html>", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"an array", "[]", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"two members", `{"content":[],"content":[]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"an event with a message", `{"type":"message_start","message":{"content":[` + call + `]}}`, provider.Options{}, stopgate.CodePolicyNotConfigured},
		{"an event with a block", `{"type":"content_block_start","content_block":` + call + `}`, provider.Options{}, stopgate.CodePolicyNotConfigured},
		{"trailing data", `{} {}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"too large", `{"content":[]}`, provider.Options{MaxBytes: 5}, stopgate.CodeLimitExceeded},
		{"content is an object", `{"content":{}}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a block is no object", `{"content":[` + call + `,1]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a repeated key beside an input", `{"content":[{"type":"tool_use","id":"i","id":"j","name":"a","input":{"x":1,"x":2}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"two inputs", `{"content":[{"type":"tool_use","id":"i","name":"a","input":{"x":1,"x":2},"input":{}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"two contents", `{"content":[{"type":"tool_use","id":"i","name":"a","input":{"x":1,"x":2}}],"content":[]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"two types", `{"content":[{"type":"tool_use","id":"i","name":"a","input":{"x":1,"x":2},"type":"text"}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a repeated key in the input of a tool at the provider", `{"content":[{"type":"server_tool_use","id":"i","name":"a","input":{"x":1,"x":2}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a repeated key, and too many values", `{"content":[{"type":"tool_use","id":"i","name":"a","input":{"x":1,"x":[` + strings.Repeat("0,", 2<<20) + `0]}}]}`, provider.Options{}, stopgate.CodeLimitExceeded},
		{"another case", `{"content":[],"Content":[1]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"another case in a block", `{"content":[` + call + `,{"type":"text","Type":"tool_use"}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGate(t)
			_, _, err := playBody(t, g, c.o, c.in)
			if e, ok := err.(*provider.StreamError); !ok || e.Code != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			for _, j := range g.Calls {
				if j.Code != c.code {
					t.Errorf("a call got %s", j.Code)
				}
			}
		})
	}
}

// Proves L6, I24: code at the provider waits for the result of a call that it made. If such a call
// is denied, nothing of the body is forwarded.
func TestBodyOfCodeAtTheProvider(t *testing.T) {
	in := `{"content":[{"type":"tool_use","id":"i","name":"a","input":{},"caller":{"type":"code_execution_20250825"}}],"stop_reason":"tool_use"}`
	out, _, err := playBody(t, newGate(t, "a"), provider.Options{}, in)
	if e, ok := err.(*provider.StreamError); !ok || e.Code != stopgate.CodeProtocolViolation || out != "" {
		t.Errorf("%v: %s", err, out)
	}
	if out, _, err := playBody(t, newGate(t), provider.Options{}, in); err != nil || out != in {
		t.Errorf("allowed: %v: %s", err, out)
	}
}

// Proves L12, W35: tools that ran at the provider are listed once, and the length of the list is
// bounded.
func TestNotesListUnevaluatedContent(t *testing.T) {
	in := `{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result"},{"type":"server_tool_use","id":"s2","name":"x","input":{}},{"type":"text","text":"x"},{"type":"new","x":1},{"type":"` + strings.Repeat("é", 200) + `"}],"stop_reason":"end_turn"}`
	out, notes, err := playBody(t, newGate(t), provider.Options{}, in)
	if err != nil || out != in {
		t.Fatal(err, out)
	}
	want := "server_tool_use web_search_tool_result new " + strings.Repeat("é", 64)
	if got := strings.Join(notes.NotEvaluated, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var many []string
	for i := range 1000 {
		many = append(many, `{"type":"new`+strings.Repeat("x", i)+`"}`)
	}
	_, notes, _ = playBody(t, newGate(t), provider.Options{}, `{"content":[`+strings.Join(many, ",")+`]}`)
	if n := len(notes.NotEvaluated); n != 64 {
		t.Errorf("%d notes", n)
	}
}
