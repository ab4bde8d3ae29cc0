package openaichat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
	"pgregory.net/rapid"
)

// driver feeds a stream step by step, as a gateway does between events.
type driver struct {
	t  testing.TB
	st provider.Stream
	d  *sse.Decoder
}

func drive(t testing.TB, r *provider.Request, g *gate, o provider.Options) *driver {
	return &driver{t, openaichat.Dialect{}.Stream(r, g, o), sse.NewDecoder(nil, sse.Limits{})}
}

// send feeds events and returns the output, the last need and the error.
func (d *driver) send(events ...string) (out string, need provider.Need, err error) {
	d.t.Helper()
	var ev sse.Event
	var dst []byte
	for _, e := range events {
		d.d.Feed([]byte(e))
		for {
			ok, limit := d.d.Next(&ev)
			if limit != nil {
				d.t.Fatal(limit)
			}
			if !ok {
				break
			}
			if dst, need, err = d.st.Event(dst, &ev); err != nil {
				return string(dst), need, err
			}
		}
	}
	return string(dst), need, nil
}

var (
	oneCall  = chunkOf(0, entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{\"path\":\"x\"}"}}`), "null")
	theEnd   = chunkOf(0, "{}", `"tool_calls"`)
	someText = chunkOf(0, `{"role":"assistant","content":"hi"}`, "null")
)

// Proves W6, K7: when every pending call is denied, the upstream can be cancelled, and the client
// still gets a valid end.
func TestCancel(t *testing.T) {
	g := newGate(t, "a")
	d := drive(t, request(t, ""), g, provider.Options{})
	if d.st.CanCancel() {
		t.Error("nothing is held")
	}
	d.st.Cancel() // does nothing
	before, _, _ := d.send(someText)
	if out, _, _ := d.send(oneCall); out != "" || !d.st.CanCancel() || d.st.Pending() != 1 {
		t.Fatalf("a call: %q, can cancel %v, pending %d", out, d.st.CanCancel(), d.st.Pending())
	}
	d.st.Cancel()
	outcomes := g.Outcomes(false)
	if len(outcomes) != 1 || g.Calls[0].End != stopgate.Cancelled {
		t.Fatalf("outcomes %+v, end %v", outcomes, g.Calls[0].End)
	}
	after, err := d.st.Release(nil, outcomes, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := run{Out: before + string(after), Gate: g}
	legal(t, r)
	got, _ := read(r.Out, true)
	if a := got[0]; len(a.tools) != 0 || a.finish[0] != "stop" || !strings.HasPrefix(a.content, "hi\n\n[stopgate] The tool call `a`") {
		t.Errorf("%+v", a)
	}
	if !d.st.Notes().UsageIncomplete || d.st.Pending() != 0 || d.st.CanCancel() {
		t.Errorf("notes %+v, pending %d", d.st.Notes(), d.st.Pending())
	}
	if out, need, _ := d.send(theEnd, "data: [DONE]\n\n", ": c\n\n"); out != "" || need != provider.Finished || d.st.Notes().Dropped != 2 {
		t.Errorf("behind the end: %q %v %+v", out, need, d.st.Notes())
	}
	if out := d.st.Abort(nil, stopgate.CodeUpstreamError, ""); out != nil {
		t.Errorf("two ends: %s", out)
	}
}

// Proves FM5, L10: the gate's error is one event with the code and its public text; after an error
// of the upstream there is none.
func TestAbort(t *testing.T) {
	g := newGate(t)
	d := drive(t, request(t, ""), g, provider.Options{})
	_, _, _ = d.send(oneCall)
	want := `data: {"error":{"message":"The model provider did not answer in time.","type":"stopgate_error","param":null,"code":"upstream_timeout"}}` + "\n\n"
	if got := string(d.st.Abort(nil, stopgate.CodeUpstreamTimeout, "")); got != want {
		t.Errorf("got %s", got)
	}
	if g.Calls[0].Code != stopgate.CodeUpstreamTimeout || d.st.Pending() != 0 {
		t.Errorf("the held call: %q, pending %d", g.Calls[0].Code, d.st.Pending())
	}
	d = drive(t, request(t, ""), newGate(t), provider.Options{})
	_, _, _ = d.send(oneCall, "data: {\"error\":{}}\n\n")
	if got := d.st.Abort(nil, stopgate.CodeUpstreamTimeout, ""); got != nil {
		t.Errorf("a second error: %s", got)
	}
}

// Proves W6: if other parts are open, the upstream is not cancelled; and a cancelled stream
// releases no call that was allowed by mistake.
func TestCannotCancel(t *testing.T) {
	for _, c := range []struct {
		name, request string
		events        []string
	}{
		{"two choices asked for", `,"n":2`, []string{oneCall}},
		{"n unknown", `,"n":"1"`, []string{oneCall}},
		{"another choice speaks", "", []string{oneCall, chunkOf(1, `{"content":"x"}`, "null")}},
		{"the choice is over", "", []string{oneCall, theEnd}},
		{"the upstream has failed", "", []string{oneCall, "data: {\"error\":{}}\n\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, request(t, c.request), newGate(t), provider.Options{})
			if _, _, err := d.send(c.events...); err != nil || d.st.CanCancel() {
				t.Errorf("can cancel %v, error %v", d.st.CanCancel(), err)
			}
		})
	}
	d := drive(t, request(t, ""), newGate(t), provider.Options{})
	_, _, _ = d.send(oneCall)
	d.st.Cancel()
	out, _ := d.st.Release(nil, []provider.CallOutcome{{Call: 0, Allowed: true, Args: []byte(`{}`)}}, nil)
	if got, err := read(string(out), true); err != nil || tools(got) != 0 || got[0].finish[0] != "stop" {
		t.Errorf("%v %s", err, out)
	}
}

// Proves W20, S17: a keepalive may be between any two events and changes nothing.
func TestKeepalive(t *testing.T) {
	g := newGate(t)
	d := drive(t, request(t, ""), g, provider.Options{})
	out := d.st.Keepalive(nil, false)
	out = d.st.Keepalive(out, true) // before the first event of the response
	if string(out) != ": stopgate\n: stopgate\n" {
		t.Errorf("%q", out)
	}
	for _, e := range []string{someText, oneCall, theEnd} {
		text, need, _ := d.send(e)
		out = append(out, text...)
		out = d.st.Keepalive(out, false)
		out = d.st.Keepalive(out, true)
		if need == provider.Resolve {
			out, _ = d.st.Release(out, g.Outcomes(false), nil)
		}
	}
	text, _, _ := d.send("data: [DONE]\n\n")
	out = append(out, text...)
	if n := strings.Count(string(out), `"model":"m","choices":[]}`); n != 2 {
		t.Errorf("%d long keepalives, want one with the call and one with its end:\n%s", n, out)
	}
	legal(t, run{Out: string(out), Gate: g})
	if got := string(d.st.Keepalive(nil, true)); got != ": stopgate\n" {
		t.Errorf("behind the end: %q", got)
	}
}

// Proves L3, L6: an outcome that is missing, contradicts the codec or cannot be written is a
// denial.
func TestRelease(t *testing.T) {
	free := chunkOf(0, entries(`{"index":0,"id":"i","type":"custom","custom":{"name":"free","input":"x"}}`), "null")
	twice := chunkOf(0, entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"i","function":{"name":"b","arguments":"{}"}}`), "null")
	allow := func(args string) []provider.CallOutcome {
		return []provider.CallOutcome{{Call: 0, Allowed: true, Args: []byte(args)}, {Call: 1, Allowed: true, Args: []byte(args)}}
	}
	for _, c := range []struct {
		name     string
		events   []string
		outcomes []provider.CallOutcome
		calls    int
		text     string
	}{
		{"allowed", []string{oneCall, theEnd}, allow(`{"path":"y"}`), 1, ""},
		{"no outcome", []string{oneCall, theEnd}, nil, 0, "[stopgate] The tool call `this tool` was not run: The policy failed while it looked at this call (policy_error)."},
		{"denied without a text", []string{oneCall, theEnd}, []provider.CallOutcome{{Call: 0}}, 0, "[stopgate] The tool call `this tool` was not run: The policy failed while it looked at this call (policy_error)."},
		{"denied with a text", []string{oneCall, theEnd}, []provider.CallOutcome{{Call: 0, Text: "no \"\n"}}, 0, "no \"\n"},
		{"allowed without arguments", []string{oneCall, theEnd}, allow(""), 0, "policy_error"},
		{"allowed, but cut", []string{oneCall, chunkOf(0, "{}", `"length"`)}, allow(`{}`), 0, "policy_error"},
		{"allowed, but refused here", []string{twice, theEnd}, allow(`{}`), 0, "policy_error"},
		{"free text", []string{free, theEnd}, allow(`{"input":"y"}`), 1, ""},
		{"free text edited to another shape", []string{free, theEnd}, allow(`{"input":1}`), 0, "policy_error"},
		{"free text edited to two members", []string{free, theEnd}, allow(`{"input":"x","y":1}`), 0, "policy_error"},
		{"free text edited to no member", []string{free, theEnd}, allow(`{}`), 0, "policy_error"},
		{"free text edited to no JSON", []string{free, theEnd}, allow(`{`), 0, "policy_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, request(t, ""), newGate(t), provider.Options{})
			before, need, err := d.send(c.events...)
			if err != nil || need != provider.Resolve {
				t.Fatal(need, err)
			}
			out, err := d.st.Release([]byte(before), c.outcomes, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read(string(out)+"data: [DONE]\n\n", true)
			if err != nil {
				t.Fatal(err)
			}
			if len(got[0].tools) != c.calls || !strings.Contains(got[0].content, c.text) || c.text == "" && got[0].content != "" {
				t.Errorf("%s", show(got))
			}
			if err := truthful(got, map[int]bool{0: true}); err != nil {
				t.Error(err)
			}
			if again, err := d.st.Release(nil, c.outcomes, nil); len(again) != 0 || err != nil {
				t.Errorf("a second release: %s %v", again, err)
			}
		})
	}
}

// Proves W6 (size): a large call is written in chunks of at most 32 KiB with flushes in between,
// and an error of the flush ends it.
func TestLargeCall(t *testing.T) {
	text := strings.Repeat("größe 😀\n\"\\", 20_000)
	args := jsonstream.AppendQuote([]byte(`{"content":`), text)
	args = append(args, '}')
	g := newGate(t)
	d := drive(t, request(t, ""), g, provider.Options{})
	call := `{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":` + string(jsonstream.AppendQuote(nil, args)) + `},"extra":[1]}`
	before, _, err := d.send(chunkOf(0, entries(call), "null"), theEnd)
	if err != nil {
		t.Fatal(err)
	}
	out, spills := []byte(before), 0
	rest, err := d.st.Release(nil, g.Outcomes(false), func(p []byte) error {
		spills++
		if len(p) > 3*provider.ChunkSize {
			t.Errorf("a spill of %d bytes", len(p))
		}
		out = append(out, p...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, rest...)
	got, err := read(string(out)+"data: [DONE]\n\n", true)
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0].tools) != 1 || got[0].tools[0].args != string(args) {
		t.Error("other arguments came out")
	}
	if spills < len(args)/provider.ChunkSize/2 {
		t.Errorf("%d spills for %d bytes", spills, len(args))
	}
	d = drive(t, request(t, ""), newGate(t), provider.Options{})
	_, _, _ = d.send(chunkOf(0, entries(call), "null"), theEnd)
	broken := errors.New("the client is gone")
	n := 0
	_, err = d.st.Release(nil, []provider.CallOutcome{{Allowed: true, Args: args}}, func([]byte) error {
		if n++; n == 3 {
			return broken
		}
		return nil
	})
	if err != broken || n != 3 {
		t.Errorf("error %v after %d spills", err, n)
	}
}

// Proves W52, F13: calls above the limit are refused, with one text in each choice, and the others
// are judged.
func TestTooManyCalls(t *testing.T) {
	for _, n := range []int{256, 257, 300} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"id":"i%d","function":{"name":"a","arguments":"{}"}}`, i))
		}
		g := newGate(t)
		r := play(t, g, request(t, ""), provider.Options{}, chunks("tool_calls", entries(list...)))
		legal(t, r)
		got, err := read(r.Out, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(got[0].tools) != 256 {
			t.Errorf("%d calls: %d came out", n, len(got[0].tools))
		}
		if over := strings.Count(got[0].content, "limit_exceeded"); n > 256 != (over == 1) {
			t.Errorf("%d calls: %q", n, got[0].content)
		}
		if want := max(0, n-257); r.Notes.Dropped != want {
			t.Errorf("%d calls: %d dropped, want %d", n, r.Notes.Dropped, want)
		}
	}
}

// Proves F13, A18: the buffers of the codec are bounded.
func TestBufferLimit(t *testing.T) {
	nameless := entries(`{"index":0,"id":"i","function":{"arguments":"0123456789"}}`)
	for _, c := range []struct {
		name   string
		deltas []string
		denied string
	}{
		{"arguments without a name", []string{nameless, nameless, nameless}, "limit_exceeded"},
		{"... under the limit", []string{nameless, nameless, entries(`{"index":0,"function":{"name":"a"}}`)}, "non_object_root"},
		{"unknown members", []string{entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"},"x":"01234567890123456789"}`)}, "limit_exceeded"},
		{"released bytes count no more", []string{nameless, entries(`{"index":0,"function":{"name":"a"}}`), entries(`{"index":1,"id":"j","function":{"arguments":"0123456789"}}`), entries(`{"index":1,"function":{"name":"b"}}`), entries(`{"index":2,"id":"k","function":{"arguments":"0123456789"}}`), entries(`{"index":2,"function":{"name":"c"}}`)}, "non_object_root non_object_root non_object_root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGate(t)
			r := play(t, g, request(t, ""), provider.Options{MaxBuffered: 25}, chunks("tool_calls", c.deltas...))
			legal(t, r)
			var codes []string
			for _, j := range g.Calls {
				codes = append(codes, string(j.Code))
			}
			if strings.Join(codes, " ") != c.denied {
				t.Errorf("denied %q, want %q", codes, c.denied)
			}
		})
	}
}

// Proves W23, F14, A7, A8, A9, A10, A24, L14: an ambiguous event ends the stream, and nothing of a
// held call is released.
func TestMalformedEvents(t *testing.T) {
	for _, c := range []struct {
		name, data string
		o          provider.Options
		code       stopgate.Code
	}{
		{"empty data", "", provider.Options{}, "envelope_mismatch"},
		{"no JSON", "hello", provider.Options{}, "envelope_mismatch"},
		{"null", "null", provider.Options{}, "envelope_mismatch"},
		{"an array", `[{"choices":[]}]`, provider.Options{}, "envelope_mismatch"},
		{"trailing data", `{"choices":[]}{}`, provider.Options{}, "envelope_mismatch"},
		{"end mark with more", `[DONE]x`, provider.Options{}, "envelope_mismatch"},
		{"two members", `{"choices":[],"choices":[]}`, provider.Options{}, "envelope_mismatch"},
		{"two members, one escaped", `{"choices":[],"choice\u0073":[]}`, provider.Options{}, "envelope_mismatch"},
		{"two members in a delta", `{"choices":[{"index":0,"delta":{"content":"a","content":"b"}}]}`, provider.Options{}, "envelope_mismatch"},
		{"bad UTF-8", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xFF\"}}]}", provider.Options{}, "envelope_mismatch"},
		{"half a surrogate pair in a delta", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ud83d"}}]}}]}`, provider.Options{}, "envelope_mismatch"},
		{"a raw tab in a string", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\t\"}}]}", provider.Options{}, "envelope_mismatch"},
		{"choices is no array", `{"choices":{}}`, provider.Options{}, "envelope_mismatch"},
		{"a choice is no object", `{"choices":[[]]}`, provider.Options{}, "envelope_mismatch"},
		{"a delta is no object", `{"choices":[{"index":0,"delta":[]}]}`, provider.Options{}, "envelope_mismatch"},
		{"a choice's index is negative", `{"choices":[{"index":-1,"delta":{}}]}`, provider.Options{}, "envelope_mismatch"},
		{"a choice's index is text", `{"choices":[{"index":"0","delta":{}}]}`, provider.Options{}, "envelope_mismatch"},
		{"tool_calls is no array", `{"choices":[{"index":0,"delta":{"tool_calls":{"index":0}}}]}`, provider.Options{}, "envelope_mismatch"},
		{"an entry is no object", `{"choices":[{"index":0,"delta":{"tool_calls":["x"]}}]}`, provider.Options{}, "envelope_mismatch"},
		{"function_call is no object", `{"choices":[{"index":0,"delta":{"function_call":"a"}}]}`, provider.Options{}, "envelope_mismatch"},
		{"too large", `{"choices":[],"x":"` + strings.Repeat("x", 300) + `"}`, provider.Options{MaxBytes: 300}, "limit_exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGate(t)
			r := play(t, g, request(t, ""), c.o, someText+oneCall+"data: "+c.data+"\n\n"+theEnd+"data: [DONE]\n\n")
			legal(t, r)
			var e *provider.StreamError
			if !errors.As(r.Err, &e) || e.Code != c.code {
				t.Fatalf("error %v, want %s", r.Err, c.code)
			}
			if g.Calls[0].Code != c.code {
				t.Errorf("the held call was refused with %q", g.Calls[0].Code)
			}
			if want := someText + `data: {"error":{"message":`; !strings.HasPrefix(r.Out, want) || strings.Contains(r.Out, "DONE") {
				t.Errorf("client:\n%s", r.Out)
			}
		})
	}
}

// Proves F13: the number of choices is bounded.
func TestTooManyChoices(t *testing.T) {
	var b strings.Builder
	for i := range 1025 {
		b.WriteString(chunkOf(i, "{}", "null"))
	}
	if r := play(t, newGate(t), request(t, ""), provider.Options{}, b.String()); r.Err == nil {
		t.Error("no error")
	}
}

// Proves L2: unknown members of a call are written with it, once each, wherever they arrived; a
// name that folds to a known one never is.
func TestExtraMembers(t *testing.T) {
	for _, c := range []struct {
		name, finish string
		deltas       []string
		want         []string // the calls' deltas in the output
	}{
		{"in the first entry and in a later one", "tool_calls", []string{
			entries(`{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{","q":[1]},"s":"x"}`),
			entries(`{"index":0,"function":{"arguments":"}","q":[1]},"s":"x"}`), entries(`{"index":0,"t":{"u":null},"none":null}`)},
			[]string{
				`{"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"","q":[1]},"s":"x"}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
				`{"tool_calls":[{"index":0,"t":{"u":null}}]}`}},
		{"in a custom call", "tool_calls", []string{
			entries(`{"index":0,"id":"i","type":"custom","custom":{"name":"free","input":"x","Input":"evil"},"s":1}`), entries(`{"index":0,"custom":{"q":2}}`)},
			[]string{
				`{"tool_calls":[{"index":0,"id":"i","type":"custom","custom":{"name":"free","input":""},"s":1}]}`,
				`{"tool_calls":[{"index":0,"custom":{"input":"x"}}]}`,
				`{"tool_calls":[{"index":0,"custom":{"q":2}}]}`}},
		{"in a legacy call", "function_call", []string{
			`{"function_call":{"name":"a","arguments":"{}","q":1}}`, `{"function_call":{"r":2}}`},
			[]string{
				`{"function_call":{"name":"a","arguments":"","q":1}}`, `{"function_call":{"arguments":"{}"}}`, `{"function_call":{"r":2}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, newGate(t), request(t, ""), provider.Options{}, chunks(c.finish, c.deltas...))
			legal(t, r)
			var want strings.Builder
			for _, delta := range c.want {
				want.WriteString(chunkOf(0, delta, "null"))
			}
			if got := strings.TrimSuffix(r.Out, chunkOf(0, "{}", `"`+c.finish+`"`)+"data: [DONE]\n\n"); got != want.String() {
				t.Errorf("got\n%swant\n%s", got, want.String())
			}
		})
	}
}

// Proves L3: the token probabilities of a call are not forwarded before the call; those of content
// are.
func TestLogprobs(t *testing.T) {
	call := `"tool_calls":[{"index":0,"id":"i","type":"function","function":{"name":"a","arguments":"{}"}}]`
	for _, c := range []struct{ name, in, want string }{
		{"a chunk that only carries a call", `{"choices":[{"index":0,"delta":{"role":"assistant",` + call + `},"logprobs":{"content":["secret"]},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{"role":"assistant"},"logprobs":null,"finish_reason":null}]}`},
		{"with content", `{"choices":[{"index":0,"delta":{"content":"x",` + call + `},"logprobs":{"content":["x"]},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{"content":"x"},"logprobs":{"content":["x"]},"finish_reason":null}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := drive(t, request(t, ""), newGate(t), provider.Options{}).send("data: " + c.in + "\n\n")
			if want := "data: " + c.want + "\n\n"; err != nil || out != want {
				t.Errorf("%v, got %s", err, out)
			}
		})
	}
	d := drive(t, request(t, ""), newGate(t), provider.Options{})
	_, _, _ = d.send("data: {\"choices\":[{\"index\":0,\"delta\":{" + call + "},\"logprobs\":{\"content\":[\"secret\"]},\"finish_reason\":\"tool_calls\"}]}\n\n")
	if out, _ := d.st.Release(nil, nil, nil); strings.Contains(string(out), "secret") {
		t.Errorf("a denied call: %s", out)
	}
	for _, delta := range []string{"{" + call + "}", `{"content":"late"}`} {
		out, _, _ := d.send(`data: {"choices":[{"index":0,"delta":` + delta + `,"logprobs":{"content":["secret"]}}],"usage":{}}` + "\n\n")
		if strings.Contains(out, "secret") || !strings.Contains(out, "usage") {
			t.Errorf("behind the finish: %s", out)
		}
	}
}

// Proves L14, F7, W23: calls at a place or in a spelling that only some clients read were not
// judged. They are removed, streamed or not; a name that folds to that of the choices makes the
// response malformed.
func TestCallsInUnexpectedMembers(t *testing.T) {
	const calls = `[{"index":0,"id":"ia","type":"function","function":{"name":"a","arguments":"{}"}}]`
	const delta = `"delta":{"content":"x"}`
	for name, chunk := range map[string]string{
		"root":                          `"tool_calls":` + calls + `,"choices":[{"index":0,` + delta + `}]`,
		"root, legacy":                  `"function_call":{"name":"a"},"choices":[{"index":0,` + delta + `}]`,
		"root, another case":            `"Choices":[{"index":0,"delta":{"tool_calls":` + calls + `}}],"choices":[{"index":0,` + delta + `}]`,
		"choice":                        `"choices":[{"index":0,"tool_calls":` + calls + `,` + delta + `}]`,
		"choice, another case":          `"choices":[{"index":0,"Delta":{"tool_calls":` + calls + `},` + delta + `}]`,
		"the other carrier":             `"choices":[{"index":0,"message":{"tool_calls":` + calls + `},` + delta + `}]`,
		"the other carrier, legacy":     `"choices":[{"index":0,"message":{"function_call":{"name":"a"}},` + delta + `}]`,
		"the other carrier, other case": `"choices":[{"index":0,"message":{"TOOL_CALLS":` + calls + `},` + delta + `}]`,
		"delta, another case":           `"choices":[{"index":0,"delta":{"content":"x","Tool_Calls":` + calls + `}}]`,
		"delta, another case, legacy":   `"choices":[{"index":0,"delta":{"content":"x","FUNCTION_CALL":{"name":"a"}}}]`,
		"delta, the long s":             `"choices":[{"index":0,"delta":{"content":"x","tool_call\u017f":` + calls + `}}]`,
		"message in delta":              `"choices":[{"index":0,"delta":{"content":"x","message":{"tool_calls":` + calls + `}}}]`,
		"behind a NUL":                  `"choices":[{"index":0,"delta":{"content":"x","tool_calls\u0000":` + calls + `}}]`,
		"with a character nobody sees":  `"choices":[{"index":0,"delta":{"content":"x","tool\u200b_calls":` + calls + `}}]`,
		"delta in root":                 `"delta":{"tool_calls":` + calls + `},"choices":[{"index":0,` + delta + `}]`,
		"message in root":               `"message":{"tool_calls":` + calls + `},"choices":[{"index":0,` + delta + `}]`,
		"an unknown member of a choice": `"choices":[{"index":0,"reasoning":{"function_call":{"name":"ia"}},` + delta + `}]`,
		"logprobs":                      `"choices":[{"index":0,"logprobs":{"tool_calls":` + calls + `},` + delta + `}]`,
		"refusal":                       `"choices":[{"index":0,"delta":{"content":"x","refusal":{"tool_calls":` + calls + `}}}]`,
		"content":                       `"choices":[{"index":0,"delta":{"content":{"tool_calls":` + calls + `}}}]`,
		"a part of content":             `"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"ia","name":"a","input":{}}]}}]`,
		"a part of content, another":    `"choices":[{"index":0,"delta":{"content":[{"type":"function_call","call_id":"ia","name":"a","arguments":"{}"}]}}]`,
		"a part with calls":             `"choices":[{"index":0,"delta":{"content":[{"tool_calls":` + calls + `}]}}]`,
		"message in delta, other case":  `"choices":[{"index":0,"delta":{"content":"x","message":{"Tool_calls":` + calls + `}}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			refused := name == "root, another case" || name == "choice, another case"
			check := func(err error, n provider.Notes, out string) {
				t.Helper()
				if (err != nil) != refused || strings.Contains(out, "ia") || len(n.Removed) == 0 || n.Dropped == 0 {
					t.Errorf("error %v, %+v, the client has %s", err, n, out)
				}
			}
			d := drive(t, request(t, ""), newGate(t), provider.Options{})
			out, _, err := d.send("data: {" + chunk + "}\n\n")
			check(err, d.st.Notes(), out)
			body := strings.NewReplacer(`"delta"`, `"message"`, `"message"`, `"delta"`).Replace(chunk)
			out, notes, err := playBody(t, newGate(t), provider.Options{}, "{"+body+"}")
			check(err, notes, out)
		})
	}
}

// Proves L3, L5: if servers send a choice in delta and in message, its calls are judged once, and
// the copies are not forwarded, in the chunks of the call and after it.
func TestCopiedCallsAreRemoved(t *testing.T) {
	const calls = `{"role":"assistant","tool_calls":[{"index":0,"id":"ia","type":"function","function":{"name":"a","arguments":"{}"}}]}`
	in := ""
	for _, choice := range []string{
		`"message":` + calls + `,"delta":` + calls, `"message":` + calls + `,"delta":{"content":"x"}`,
		`"message":` + calls + `,"delta":{},"finish_reason":"tool_calls"`, `"message":` + calls + `,"delta":{"content":"late"}`,
	} {
		in += `data: {"choices":[{"index":0,` + choice + "}]}\n\n"
	}
	r := play(t, newGate(t, "a"), request(t, ""), provider.Options{}, in+"data: [DONE]\n\n")
	if r.Err != nil || strings.Contains(r.Out, "ia") || !strings.Contains(r.Out, `"content":"x"`) ||
		!strings.Contains(r.Out, "`a` was not run") || !strings.Contains(r.Out, `"stop"`) || len(r.Gate.Calls) != 1 {
		t.Errorf("%v, the client has\n%s", r.Err, r.Out)
	}
}

// Proves G1: a tool that the request declares twice or with an invalid name is unknown, whatever
// the policy for the name.
func TestCallsToUnknownNamesAreRefused(t *testing.T) {
	r, err := openaichat.Dialect{}.Request([]byte(`{"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t)
	out := play(t, g, r, provider.Options{}, chunks("tool_calls", entries(`{"index":0,"id":"i","function":{"name":"a","arguments":"{}"}}`, `{"index":1,"id":"j","function":{"name":"b","arguments":"{}"}}`)))
	legal(t, out)
	if g.Calls[0].Code != stopgate.CodePolicyNotConfigured || g.Calls[1].Code != "" {
		t.Errorf("%q %q", g.Calls[0].Code, g.Calls[1].Code)
	}
}

// The ends of input that count as an end; the client gets them byte for byte, and no end marker
// that the provider did not send.
func TestEOF(t *testing.T) {
	finished := someText + chunkOf(0, "{}", `"stop"`)
	for _, c := range []struct {
		name, extra, in string
		want            string // what follows the finish; "error" for an error event
	}{
		{"finish, no end mark", "", finished, ""},
		{"end mark without its blank line", "", finished + "data: [DONE]\n", "data: [DONE]\n"},
		{"end mark without any line end", "", finished + "data:[DONE]", "data:[DONE]"},
		{"white space at the end", "", finished + "\n \n", "error"},
		{"something else at the end", "", finished + "data: {", "error"},
		{"a comment at the end", "", finished + ": bye\n", ": bye\n"},
		{"no finish", "", someText, "error"},
		{"finish missing in the second choice", "", finished + chunkOf(1, `{"content":"x"}`, "null"), "error"},
		{"second choice asked for and never seen", `,"n":2`, finished, "error"},
		{"finish with an empty reason is none", "", someText + chunkOf(0, "{}", `""`), "error"},
		{"no choice at all", "", "data: {\"choices\":[]}\n\n", "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, newGate(t), request(t, c.extra), provider.Options{}, c.in)
			if c.want == "error" {
				if r.Err == nil || !strings.Contains(r.Out, `"code":"stream_truncated"`) {
					t.Errorf("error %v, client:\n%s", r.Err, r.Out)
				}
			} else if r.Err != nil || r.Out != finished+c.want {
				t.Errorf("error %v, client:\n%s", r.Err, r.Out)
			}
			legal(t, r)
		})
	}
}

// Proves I24, F6, L13, L14, A4: random chunks with all mistakes of servers. The output is always
// valid, every call in it was allowed, a denying gate releases nothing, and the result does not
// depend on chunks.
func TestOutputIsValidForAnyInput(t *testing.T) {
	index := rapid.SampledFrom([]string{"0", "0", "0", "1", "1", "2", "-1", "null", `"0"`, "256", "7"})
	id := rapid.SampledFrom([]string{`"i"`, `"j"`, `"k"`, `""`, "null", "1", `"l"`})
	name := rapid.SampledFrom([]string{`"a"`, `"b"`, `"c"`, `""`, "null", `"d"`, "2"})
	args := rapid.SampledFrom([]string{`"{}"`, `"{"`, `"}"`, `"{\"n\":"`, `"1}"`, `""`, "null", `"x"`, "{}", `"{\"t\":\"\\ud83d\\ude00\"}"`, `"\ud83d\ude00"`})
	entry := func(t *rapid.T) string {
		var m []string
		add := func(odds int, text string) {
			if rapid.IntRange(0, 9).Draw(t, "has") < odds {
				m = append(m, text)
			}
		}
		add(8, `"index":`+index.Draw(t, "index"))
		add(4, `"id":`+id.Draw(t, "id"))
		add(3, `"type":`+rapid.SampledFrom([]string{`"function"`, `"custom"`, `""`, "null", `"other"`}).Draw(t, "type"))
		add(1, `"Id":"evil"`)
		add(2, `"extra_content":{"s":[1]}`)
		inner := func(text string) string {
			var m []string
			if rapid.Bool().Draw(t, "named") {
				m = append(m, `"name":`+name.Draw(t, "name"))
			}
			if rapid.IntRange(0, 3).Draw(t, "argued") > 0 {
				m = append(m, `"`+text+`":`+args.Draw(t, "args"))
			}
			return "{" + strings.Join(m, ",") + "}"
		}
		add(9, `"function":`+inner("arguments"))
		add(1, `"custom":`+inner("input"))
		return "{" + strings.Join(m, ",") + "}"
	}
	reason := rapid.SampledFrom([]string{"null", "null", "null", "null", `""`, `"stop"`, `"tool_calls"`, `"length"`, `"function_call"`, `"content_filter"`, "1"})
	chunk := func(t *rapid.T) string {
		if rapid.IntRange(0, 30).Draw(t, "rare") == 0 {
			return rapid.SampledFrom([]string{": c\n\n", "data: {\"error\":{\"code\":1}}\n\n", "data: [DONE]\n\n", "data: {\"choices\":[],\"usage\":{\"n\":1}}\n\n", "data: {}\n\n", ": c\n"}).Draw(t, "unit")
		}
		var choices []string
		for range rapid.IntRange(1, 2).Draw(t, "choices") {
			var m []string
			add := func(odds int, text string) {
				if rapid.IntRange(0, 9).Draw(t, "has") < odds {
					m = append(m, text)
				}
			}
			add(2, `"role":"assistant"`)
			add(4, `"content":`+rapid.SampledFrom([]string{`"x"`, `""`, "null", `"\n"`}).Draw(t, "content"))
			add(1, `"reasoning":"r"`)
			add(1, `"Tool_Calls":[{"index":0,"id":"evil","function":{"name":"evil","arguments":"{}"}}]`)
			if rapid.IntRange(0, 9).Draw(t, "has") < 7 {
				var list []string
				for range rapid.IntRange(0, 3).Draw(t, "entries") {
					list = append(list, entry(t))
				}
				m = append(m, `"tool_calls":[`+strings.Join(list, ",")+`]`)
			}
			add(1, `"function_call":{"name":"a","arguments":"{}"}`)
			choices = append(choices, fmt.Sprintf(`{"index":%d,"delta":{%s},"finish_reason":%s}`, rapid.IntRange(0, 1).Draw(t, "choice"), strings.Join(m, ","), reason.Draw(t, "reason")))
		}
		usage := rapid.SampledFrom([]string{"", "", "", `,"usage":null`, `,"usage":{"n":1}`}).Draw(t, "usage")
		return `data: {"id":"x","choices":[` + strings.Join(choices, ",") + "]" + usage + "}\n\n"
	}
	property.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(rt, "chunks") {
			b.WriteString(chunk(rt))
		}
		b.WriteString(rapid.SampledFrom([]string{"data: [DONE]\n\n", "", "data: {"}).Draw(rt, "end"))
		s := b.String()
		rt.Log(s)
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID[string]).Draw(rt, "deny")
		req := &provider.Request{N: 1}
		r := play(t, newGate(t, deny...), req, provider.Options{}, s)
		legal(t, r)
		all := newGate(t)
		all.DenyAll = true
		if call := anyCall(play(t, all, req, provider.Options{}, s).Out); call != "" {
			rt.Fatalf("a denied call was let out: %s", call)
		}
		if strings.Contains(r.Out, "evil") {
			rt.Fatalf("a call that nobody judged was let out:\n%s", r.Out)
		}
		cut := rapid.IntRange(0, len(s)).Draw(rt, "cut")
		if again := play(t, newGate(t, deny...), req, provider.Options{}, s[:cut], s[cut:]); again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
			rt.Fatalf("cut at %d:\n%s\nwant:\n%s", cut, again.Out, r.Out)
		}
		if t.Failed() {
			rt.Fatalf("out:\n%s", r.Out)
		}
	})
}

// After the start of a call, its events cost no allocation.
func TestNoAllocationPerEvent(t *testing.T) {
	sink := &codec.Keeper{Args: make([]byte, 0, 1<<20)}
	st := openaichat.Dialect{}.Stream(request(t, ""), sink, provider.Options{})
	d := sse.NewDecoder(nil, sse.Limits{})
	var ev sse.Event
	dst := make([]byte, 0, 4096)
	feed := func(event []byte) {
		n := copy(d.Space(), event)
		d.Filled(n)
		if ok, err := d.Next(&ev); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var err error
		if dst, _, err = st.Event(dst[:0], &ev); err != nil {
			t.Fatal(err)
		}
	}
	feed([]byte(oneCall))
	more := []byte(chunkOf(0, entries(`{"index":0,"function":{"arguments":"err \\\"x\\\"\n"}}`), "null"))
	text := []byte(chunkOf(0, `{"content":"größe \n"}`, "null"))
	for range 3 {
		feed(more)
		feed(text)
	}
	if n := testing.AllocsPerRun(100, func() { feed(more); feed(text) }); n != 0 {
		t.Errorf("%v allocations for two events", n)
	}
}
