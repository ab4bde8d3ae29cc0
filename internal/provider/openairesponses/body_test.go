package openairesponses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// playBody passes a body through the codec.
func playBody(t testing.TB, g *codec.Gate, o provider.Options, in string) (out string, notes provider.Notes, err error) {
	t.Helper()
	return codec.PlayBody(t, openairesponses.Dialect{}.Body(nil, g, o), g, in)
}

func bodyOf(status string, items ...string) string {
	return `{"id":"resp_1", "object":"response","status":"` + status + `","output":[` + strings.Join(items, ", ") + `],"usage":{"output_tokens":9}}`
}

// readBody parses a response as a client does.
func readBody(t testing.TB, body string) *answer {
	t.Helper()
	var r struct {
		Output []json.RawMessage
		Usage  json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err, body)
	}
	m := &answer{begun: true, usage: string(r.Usage), final: r.Output}
	for _, item := range r.Output {
		o := &output{done: true}
		if err := o.take(item); err != nil {
			t.Fatal(err)
		}
		if p, _ := parse(item); strings.HasPrefix(o.id, "msg_stopgate_") {
			o.text = p.Content[0].Text
		}
		m.items = append(m.items, o)
	}
	return m
}

// Proves W42, W45, W49, L9, F15, I12: a body gets the same verdicts, calls and texts as the stream
// with the same content, and everything else keeps its bytes.
func TestStreamAndBodyAgree(t *testing.T) {
	s := everyKind()
	stream, body := s.completed(), bodyOf("completed", s.final...)
	for _, deny := range [][]string{nil, {"a"}, {"openai.shell", "b"}, {"a", "b", "c", "openai.shell", "openai.local_shell", "openai.apply_patch"}} {
		g := codec.NewGate(t, deny...)
		out, _, err := playBody(t, g, provider.Options{}, body)
		if err != nil {
			t.Fatal(err)
		}
		streamed := play(t, codec.NewGate(t, deny...), request(t), provider.Options{}, stream)
		want := legal(t, streamed)
		got := readBody(t, out)
		if codes(g) != codes(streamed.Gate) || len(got.calls()) != len(want.calls()) || strings.Join(got.denied(), "|") != strings.Join(want.denied(), "|") {
			t.Errorf("denied %v, body:\n%s\nstream:\n%s", deny, got.show(), want.show())
		}
		for i, item := range got.final {
			if canonical(string(item)) != canonical(string(want.final[i])) {
				t.Errorf("item %d is %s, streamed %s", i, item, want.final[i])
			}
		}
		if deny == nil && out != body {
			t.Errorf("all allowed, and it changed:\n%s\nwant\n%s", out, body)
		}
	}
}

// Proves W44, W45, L6, L12, L14: bodies without a regular end, items that cannot be judged, and
// helper members.
func TestBodies(t *testing.T) {
	a := function("a", "{}")
	for _, c := range []struct{ name, in, codes, want string }{
		{"no calls", bodyOf("completed", reasoning), "", bodyOf("completed", reasoning)},
		{"no output", `{"id":"x","object":"response"}`, "", `{"id":"x","object":"response"}`},
		{"incomplete", bodyOf("incomplete", a), "stream_truncated", ""},
		{"in progress", bodyOf("in_progress", a), "stream_truncated", ""},
		{"no status", strings.Replace(bodyOf("completed", a), `"status":"completed","output"`, `"output"`, 1), "allowed", ""},
		{"an incomplete item", bodyOf("completed", strings.Replace(a, "completed", "incomplete", 1)), "stream_truncated", ""},
		{"an unknown item", bodyOf("completed", foo), "policy_not_configured", ""},
		{"twice the same id", bodyOf("completed", a, a), "protocol_violation protocol_violation", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := codec.NewGate(t)
			out, _, err := playBody(t, g, provider.Options{}, c.in)
			if err != nil || codes(g) != c.codes || c.want != "" && out != c.want {
				t.Errorf("%v, %s\n%s", err, codes(g), out)
			}
			if n := strings.Count(c.codes, "allowed"); len(readBody(t, out).calls()) != n {
				t.Errorf("the client has\n%s", out)
			}
		})
	}
	g := codec.NewGate(t)
	g.DenyAll = true
	out, notes, err := playBody(t, g, provider.Options{}, strings.Replace(bodyOf("completed", a, `{"type":"mcp_call"}`), `"output"`, `"output_text":"hi","output"`, 1))
	if err != nil || !strings.Contains(out, `"output_text":"hi\n[stopgate] The tool call `+"`a`"+` was not run`) || len(notes.NotEvaluated) != 1 {
		t.Errorf("%v %v\n%s", err, notes, out)
	}
}

// Proves F12, F14, L14, S57: ambiguous bodies.
func TestMalformedBodies(t *testing.T) {
	a := function("a", "{}")
	for _, c := range []struct {
		name, in string
		o        provider.Options
		code     stopgate.Code
	}{
		{name: "no JSON", in: "x"},
		{name: "twice the same member", in: `{"output":[],"output":[]}`},
		{name: "another case", in: `{"Output":[]}`},
		{name: "an output that is no list", in: `{"output":"x"}`},
		{name: "an item that is no object", in: bodyOf("completed", a, `1`)},
		{name: "another case in an item", in: bodyOf("completed", `{"type":"message","Type":"function_call"}`)},
		{name: "an event with a response", in: `{"type":"response.completed","response":{"output":[` + a + `]}}`, code: stopgate.CodePolicyNotConfigured},
		{name: "an event with an item", in: `{"type":"response.output_item.done","item":` + a + `}`, code: stopgate.CodePolicyNotConfigured},
		{name: "large", in: bodyOf("completed", a), o: provider.Options{MaxBytes: 50}, code: stopgate.CodeLimitExceeded},
		{name: "code waits for a result", in: bodyOf("completed", strings.Replace(a, `"id"`, `"caller":{"type":"program"},"id"`, 1)), code: stopgate.CodeProtocolViolation},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.code == "" {
				c.code = stopgate.CodeEnvelopeMismatch
			}
			g := codec.NewGate(t)
			_, _, err := playBody(t, g, c.o, c.in)
			var e *provider.StreamError
			if !errors.As(err, &e) || e.Code != c.code {
				t.Errorf("error %v, want %s", err, c.code)
			}
		})
	}
}

// Proves L4, D26-30: arguments that a person edited are in every copy, and arguments that do not
// fit the free text of a custom tool are refused.
func TestEditedArguments(t *testing.T) {
	s := begin().call("a", `{"path":"x"}`).custom().patch()
	b := openairesponses.Dialect{}.Body(request(t), codec.NewGate(t), provider.Options{})
	if _, err := b.Decode([]byte(bodyOf("completed", s.final...))); err != nil {
		t.Fatal(err)
	}
	out, err := b.Release(nil, []provider.CallOutcome{
		{Call: 0, Allowed: true, Args: []byte(`{"path":"y"}`)}, {Call: 1, Allowed: true, Args: []byte(`{"input":"z","more":1}`)},
		{Call: 2, Allowed: true, Args: []byte(`{"type":"delete_file","path":"q"}`)}, {Call: 3, Allowed: true, Args: []byte(`{}`)},
	})
	m := readBody(t, string(out))
	if err != nil || len(m.denied()) != 1 || len(m.calls()) != 2 || m.items[0].args != `{"path":"y"}` || canonical(m.items[2].args) != `{"path":"q","type":"delete_file"}` {
		t.Errorf("%v\n%s", err, m.show())
	}
}

// FuzzBody checks for any body: a gate that denies releases no call, and the output is JSON.
func FuzzBody(f *testing.F) {
	s := everyKind()
	f.Add([]byte(bodyOf("completed", s.final...)))
	f.Add([]byte(bodyOf("incomplete", foo, function("a", "{}"))))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, denyAll := range []bool{true, false} {
			g := codec.NewGate(t)
			g.DenyAll = denyAll
			out, _, err := playBody(t, g, provider.Options{}, string(body))
			if err != nil {
				continue
			}
			var m struct{ Output []json.RawMessage }
			if !json.Valid([]byte(out)) {
				t.Fatalf("no JSON: %s", out)
			}
			_ = json.Unmarshal([]byte(out), &m)
			allowed := 0
			for _, c := range g.Calls {
				if c.Allowed() {
					allowed++
				}
			}
			for _, item := range m.Output {
				if p, err := parse(item); err == nil && p.call() {
					allowed--
				}
			}
			if allowed < 0 {
				t.Fatalf("a call came out that was not allowed: %s", out)
			}
		}
	})
}

// discard is a sink that ignores all events.
type discard struct{}

func (discard) Event(*stopgate.Event) {}

// Proves L4: the released arguments of a body are written in one way, however the provider wrote them,
// and whether the gate changed them or not.
func TestBodyHasTheEvaluatedArguments(t *testing.T) {
	call := func(n int, encoded string) string {
		return fmt.Sprintf(`{"id":"fc_%d","type":"function_call","status":"completed","arguments":%s,"call_id":"call_%d","name":"a"}`, n, encoded, n)
	}
	for _, c := range []struct{ encoded, args, want string }{
		{`"{\"a\":\"b\"}"`, `{"a":"b"}`, `"{\"a\":\"b\"}"`},
		{`"{\"a\":\"b\"}"`, `{"a":"c"}`, `"{\"a\":\"c\"}"`},
		{`"{\"a\":\"\\n\\/\"}"`, `{"a":"\n\/"}`, `"{\"a\":\"\\n\\/\"}"`},
		{`"{\"a\":\"\\\\u\"}"`, `{"a":"\\u"}`, `"{\"a\":\"\\\\u\"}"`},
		{`"{\"a\":\"\/\"}"`, `{"a":"/"}`, `"{\"a\":\"/\"}"`},
		{`"{\u0022a\":\"\u0062\"}"`, `{"a":"b"}`, `"{\"a\":\"b\"}"`},
		{`"{\"a\":1}\n"`, `{"a":1}`, `"{\"a\":1}"`},
		{`"{\"other\":\"\\n\"}"`, `{"other":"\t"}`, `"{\"other\":\"\\t\"}"`}, // those of the other call
		{`"{}"`, `{}`, `"{}"`},
		{`"{}"`, `{ }`, `"{ }"`},
	} {
		other := call(1, `"{\"other\":\"\\t\"}"`)
		b := openairesponses.Dialect{}.Body(nil, discard{}, provider.Options{})
		if _, err := b.Decode([]byte(bodyOf("completed", call(0, c.encoded), other))); err != nil {
			t.Fatal(err)
		}
		out, err := b.Release(nil, []provider.CallOutcome{{Call: 0, Allowed: true, Args: []byte(c.args)}, {Call: 1, Allowed: true, Args: []byte(`{"other":"\t"}`)}})
		if want := bodyOf("completed", call(0, c.want), other); err != nil || string(out) != want {
			t.Errorf("%s, judged as %s: %v\n%s\nwant\n%s", c.encoded, c.args, err, out, want)
		}
	}
}
