package openaichat_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// playBody passes one body through the codec.
func playBody(t testing.TB, g *gate, o provider.Options, in string) (out string, notes provider.Notes, err error) {
	t.Helper()
	return codec.PlayBody(t, openaichat.Dialect{}.Body(request(t, ""), g, codec.MadeUpIDs(o)), g, in)
}

// Proves W49, F15, P22, L2, L4, L8, W5, W13, W14, W15, W16: bodies by hand. Everything else stays
// byte for byte, including unusual spaces.
func TestBody(t *testing.T) {
	call := func(id, name, args string) string {
		return fmt.Sprintf(`{"id":"%s","type":"function","function":{"name":"%s","arguments":%s}}`, id, name, quote(args))
	}
	const denialA = `[stopgate] The tool call ` + "`a`" + ` was not run: A rule of the policy decided this call (rule_matched).`
	for _, c := range []struct{ name, deny, in, want, log string }{
		{name: "no call: byte for byte",
			in: `{ "id" : "x", "choices":[{"message":{"role":"assistant","content":"hi","tool_calls":[]},"finish_reason":"stop","index":0}],"usage":{} } ` + "\n"},
		{name: "allowed: arguments in our spelling, all else as it was",
			in:   `{"choices":[ {"index":0, "message":{"role":"assistant","content":null, "tool_calls":[ {"id":"i","type":"function" ,"function":{"name":"a","arguments":"{ \"path\" : \"x\\u0041\" }"},"extra":{"s":1}} ],"refusal":null},"finish_reason":"tool_calls"}],"usage":{"n":1.0}}`,
			want: `{"choices":[ {"index":0, "message":{"role":"assistant","content":null, "tool_calls":[ {"id":"i","type":"function" ,"function":{"name":"a","arguments":"{\"path\":\"xA\"}"},"extra":{"s":1}} ],"refusal":null},"finish_reason":"tool_calls"}],"usage":{"n":1.0}}`},
		{name: "the only call denied: member gone, text, stop", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + call("i", "a", "{}") + `],"annotations":[]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"index":0,"message":{"role":"assistant","content":"` + denialA + `","annotations":[]},"finish_reason":"stop"}]}`},
		{name: "the first of two denied, content goes on behind a blank line", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"content":"ok \"so\"","tool_calls":[` + call("i", "a", "{}") + `, ` + call("j", "b", "{}") + `]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":"ok \"so\"\n\n` + denialA + `","tool_calls":[` + call("j", "b", "{}") + `]},"finish_reason":"tool_calls"}]}`},
		{name: "no content member at all", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":"` + denialA + `"},"finish_reason":"stop"}]}`},
		{name: "no content member, but others", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"role":"assistant","tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"index":0,"message":{"role":"assistant","content":"` + denialA + `"},"finish_reason":"stop"}]}`},
		{name: "content in parts", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"x"}],"tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"stop"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"x"},{"type":"text","text":"` + denialA + `"}]},"finish_reason":"stop"}]}`},
		{name: "content in no parts", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"content":[],"tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"stop"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"` + denialA + `"}]},"finish_reason":"stop"}]}`},
		{name: "length: denied, the reason stays",
			in:   `{"choices":[{"index":0,"message":{"content":"","tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"length"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":"[stopgate] The tool call ` + "`a`" + ` was not run: The model's answer ended before the call was complete (stream_truncated)."},"finish_reason":"length"}]}`},
		{name: "no finish reason: not a normal end",
			in:   `{"choices":[{"message":{"content":"","tool_calls":[` + call("i", "a", "{}") + `]}}]}`,
			want: `{"choices":[{"message":{"content":"[stopgate] The tool call ` + "`a`" + ` was not run: The model's answer ended before the call was complete (stream_truncated)."}}]}`},
		{name: "legacy, denied", deny: "a",
			in:   `{"choices":[{"message":{"content":null,"function_call":{"name":"a","arguments":"{}"}},"finish_reason":"function_call"}]}`,
			want: `{"choices":[{"message":{"content":"` + denialA + `"},"finish_reason":"stop"}]}`},
		{name: "legacy, allowed",
			in:   `{"choices":[{"message":{"content":null,"function_call":{"name":"a","arguments":"{ }","x":1}},"finish_reason":"function_call"}]}`,
			want: `{"choices":[{"message":{"content":null,"function_call":{"name":"a","arguments":"{}","x":1}},"finish_reason":"function_call"}]}`},
		{name: "custom, allowed: text byte for byte",
			in:   `{"choices":[{"message":{"tool_calls":[{"id":"i","type":"custom","custom":{"name":"free","input":"a \"b\"\n\u00e9"}}]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"message":{"tool_calls":[{"id":"i","type":"custom","custom":{"name":"free","input":"a \"b\"\né"}}]},"finish_reason":"tool_calls"}]}`},
		{name: "id and arguments missing: made up, and no arguments",
			in:   `{"choices":[{"message":{"tool_calls":[{"type":"function","function":{"name":"a"}},{"id":null,"function":{"name":"b","arguments":null}}]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"message":{"tool_calls":[{"type":"function","function":{"name":"a","arguments":"{}"},"id":"call_made_up_1"},{"id":"call_made_up_2","function":{"name":"b","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
		{name: "both spellings of calls: all denied",
			in:   `{"choices":[{"message":{"content":"","tool_calls":[` + call("i", "a", "{}") + `],"function_call":{"name":"b","arguments":"{}"}},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"message":{"content":"[stopgate] The tool call ` + "`a`" + ` was not run: The message carries different versions of the same call (envelope_mismatch).\n[stopgate] The tool call ` + "`b`" + ` was not run: The message carries different versions of the same call (envelope_mismatch)."},"finish_reason":"stop"}]}`},
		{name: "a copy of the calls where no client reads them goes", deny: "a",
			in:   `{"choices":[{"delta":{"tool_calls":[` + call("i", "a", "{}") + `]},"message":{"tool_calls":[` + call("i", "a", "{}") + `],"content":"x"},"finish_reason":"stop"}],"x":1}`,
			want: `{"choices":[{"delta":{},"message":{"content":"x\n\n` + denialA + `"},"finish_reason":"stop"}],"x":1}`},
		{name: "members that say nothing stay", in: `{"Choices":null,"tool_calls":[],"choices":[{"Message":null,"delta":{"content":"x"},"message":{"Tool_Calls":null,"content":"x","x":{"tool_calls":[]}},"finish_reason":"stop"}],"x":1}`},
		{name: "names that look like the known ones inside an allowed call go",
			in:   `{"choices":[{"message":{"tool_calls":[{"ID":"z","id":"i","function":{"Arguments":"{\"path\":1}","name":"a","arguments":"{}","NAME":"b"}}]},"finish_reason":"stop"}]}`,
			want: `{"choices":[{"message":{"tool_calls":[{"id":"i","function":{"name":"a","arguments":"{}"}}]},"finish_reason":"stop"}]}`},
		{name: "two choices with one index are two choices", deny: "a",
			in:   `{"choices":[{"index":0,"message":{"content":null,"tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"tool_calls"},{"index":0,"message":{"content":null,"tool_calls":[` + call("i", "b", "{}") + `]},"finish_reason":"tool_calls"}]}`,
			want: `{"choices":[{"index":0,"message":{"content":"` + denialA + `"},"finish_reason":"stop"},{"index":0,"message":{"content":null,"tool_calls":[` + call("i", "b", "{}") + `]},"finish_reason":"tool_calls"}]}`},
		{name: "an error beside a call: the error passes, the call does not",
			in:   `{"error":{"message":"x"},"choices":[{"message":{"content":"","tool_calls":[` + call("i", "a", "{}") + `]},"finish_reason":"stop"}]}`,
			want: `{"error":{"message":"x"},"choices":[{"message":{"content":"[stopgate] The tool call ` + "`a`" + ` was not run: The model provider answered with an error (upstream_error)."},"finish_reason":"stop"}]}`},
		{name: "an error alone", in: `{"error":{"message":"x"}}`},
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

// Proves F14, A1, W23, I24: an ambiguous body is refused, and so are the calls found before the
// ambiguity.
func TestBodyMalformed(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        provider.Options
		code     stopgate.Code
	}{
		{"empty", "", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"HTML", "<html>", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"an array", "[]", provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"two members", `{"choices":[],"choices":[]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"trailing data", `{} {}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"too large", `{"choices":[]}`, provider.Options{MaxBytes: 5}, stopgate.CodeLimitExceeded},
		{"choices is no array", `{"choices":{}}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a choice is no object", `{"choices":[1]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a message is no object", `{"choices":[{"message":"x"}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"tool_calls is no array", `{"choices":[{"message":{"tool_calls":{}}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"function_call is no object", `{"choices":[{"message":{"function_call":"x"}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"an index is no number", `{"choices":[{"index":"0","message":{}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
		{"a call is no object, behind one that is", `{"choices":[{"message":{"tool_calls":[{"id":"i","function":{"name":"a","arguments":"{}"}},1]}}]}`, provider.Options{}, stopgate.CodeEnvelopeMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGate(t)
			_, _, err := playBody(t, g, c.o, c.in)
			e, ok := err.(*provider.StreamError)
			if !ok || e.Code != c.code {
				t.Fatalf("error %v, want %s", err, c.code)
			}
			for _, j := range g.Calls {
				if j.Code != c.code {
					t.Errorf("a call before the fault: %q", j.Code)
				}
			}
		})
	}
}

// asBody returns the content of a stream as the body that the same server would have sent.
func asBody(answers map[int]*answer) string {
	var choices []map[string]any
	for i := range len(answers) {
		a := answers[i]
		message := map[string]any{"role": "assistant", "content": a.content}
		var calls []map[string]any
		for _, c := range a.tools {
			switch c.kind {
			case "legacy":
				message["function_call"] = map[string]any{"name": c.name, "arguments": c.args}
			case "custom":
				calls = append(calls, map[string]any{"id": c.id, "type": "custom", "custom": map[string]any{"name": c.name, "input": c.args}})
			default:
				calls = append(calls, map[string]any{"id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args}})
			}
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		choice := map[string]any{"index": i, "message": message}
		if len(a.finish) > 0 {
			choice["finish_reason"] = a.finish[0]
		}
		choices = append(choices, choice)
	}
	out, _ := json.Marshal(map[string]any{"choices": choices})
	return string(out)
}

// fromBody parses a body as a client does.
func fromBody(t testing.TB, body string) map[int]*answer {
	t.Helper()
	var b struct {
		Choices []struct {
			Index        int
			FinishReason string `json:"finish_reason"`
			Message      struct {
				Content      string
				FunctionCall *struct{ Name, Arguments string } `json:"function_call"`
				ToolCalls    []struct {
					ID, Type         string
					Function, Custom struct{ Name, Arguments, Input string }
				} `json:"tool_calls"`
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	answers := map[int]*answer{}
	for _, c := range b.Choices {
		a := &answer{content: c.Message.Content}
		if c.FinishReason != "" {
			a.finish = []string{c.FinishReason}
		}
		for _, k := range c.Message.ToolCalls {
			a.tools = append(a.tools, tool{id: k.ID, kind: k.Type, name: k.Function.Name + k.Custom.Name, args: k.Function.Arguments + k.Custom.Input})
		}
		if f := c.Message.FunctionCall; f != nil {
			a.tools = append(a.tools, tool{name: f.Name, args: f.Arguments, kind: "legacy"})
		}
		answers[c.Index] = a
	}
	return answers
}

// verdicts lists the verdicts, call by call.
func verdicts(g *gate) string {
	var b strings.Builder
	for _, j := range g.Calls {
		fmt.Fprintf(&b, "%d %s %s %q\n", j.Choice, j.Tool, j.Raw, j.Code)
	}
	return b.String()
}

// Proves W49, I12, F15, P22, L9: a conversation has the same verdicts, calls, texts and finish
// reasons streamed or not.
func TestStreamAndBodyAgree(t *testing.T) {
	var sources []scene
	for _, name := range []string{
		"two_calls_allowed",
		"first_call_denied",
		"second_call_denied",
		"middle_call_denied",
		"all_calls_denied",
		"two_choices_call_in_the_second_denied",
		"legacy_function_call_denied",
		"legacy_function_call_allowed",
		"custom_tool_denied",
		"custom_tool_allowed",
		"truncated_arguments_finish_tool_calls",
		"truncated_arguments_finish_stop",
		"truncated_arguments_finish_length",
		"complete_arguments_finish_length",
		"complete_arguments_unknown_finish",
		"content_call_and_finish_in_one_chunk",
		"whole_call_in_the_only_chunk",
		"reasoning_unchanged_call_denied",
	} {
		f := codec.OpenTranscript(t, name)
		sources = append(sources, scene{name, f.Get("upstream"), f.Get("deny")})
	}

	agree(t, sources)
}

// Proves W49, K41: the same for recorded streams.
func TestRecordedStreamsAgreeWithBodies(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "openai-chat"), "*.sse"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no streams", err)
	}
	var sources []scene
	for i, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		deny := ""
		if i%2 == 0 {
			deny = "lookup_city add get_weather"
		}
		sources = append(sources, scene{filepath.Base(path), string(b), deny})
	}
	agree(t, sources)
}

type scene struct{ name, stream, deny string }

func agree(t *testing.T, sources []scene) {
	t.Helper()
	compared := 0
	for _, s := range sources {
		up, err := read(s.stream, false)
		if err != nil {
			t.Fatal(s.name, err)
		}
		clean := len(up) > 0
		for i := range len(up) {
			a := up[i]
			if a == nil || len(a.finish) == 0 {
				clean = false // truncated or numbered differently: there is no such body
			}
		}
		if !clean || strings.Contains(s.stream, `"error":`) || strings.Contains(s.stream, `"content":[`) {
			continue
		}
		compared++
		streamed := newGate(t, strings.Fields(s.deny)...)
		r := play(t, streamed, &provider.Request{N: 1}, provider.Options{}, s.stream)
		got, err := read(r.Out, true)
		if err != nil {
			t.Fatal(s.name, err)
		}
		whole := newGate(t, strings.Fields(s.deny)...)
		out, _, err := playBody(t, whole, provider.Options{}, asBody(up))
		if err != nil {
			t.Fatal(s.name, err)
		}
		if verdicts(streamed) != verdicts(whole) {
			t.Errorf("%s: streamed\n%snot streamed\n%s", s.name, verdicts(streamed), verdicts(whole))
		}
		for _, a := range got {
			a.finish = a.finish[:1]
		}
		if a, b := show(got), show(fromBody(t, out)); a != b {
			t.Errorf("%s: streamed\n%snot streamed\n%s", s.name, a, b)
		}
	}
	if compared < 18 {
		t.Errorf("only %d streams were compared", compared)
	}
}
