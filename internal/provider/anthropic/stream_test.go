package anthropic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// ev returns one event as a server writes it.
func ev(typ, members string) string {
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + `"` + members + "}\n\n"
}

const (
	begin   = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":7,\"cache_read_input_tokens\":5,\"output_tokens\":1}}}\n\n"
	theStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func start(i int, block string) string {
	return ev("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, block))
}

func delta(i int, d string) string {
	return ev("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, d))
}

func stop(i int) string { return ev("content_block_stop", fmt.Sprintf(`,"index":%d`, i)) }

func toolStart(i int, name string) string {
	return start(i, fmt.Sprintf(`{"type":"tool_use","id":"i%d","name":"%s","input":{}}`, i, name))
}

func args(i int, text string) string {
	return delta(i, `{"type":"input_json_delta","partial_json":`+quote(text)+`}`)
}

func textStart(i int) string { return start(i, `{"type":"text","text":""}`) }

func textDelta(i int, text string) string {
	return delta(i, `{"type":"text_delta","text":`+quote(text)+`}`)
}

func finish(reason string) string {
	return ev("message_delta", `,"delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":9}`)
}

func callA(i int) string { return toolStart(i, "a") + args(i, "{}") + stop(i) }

// Proves F12, F14, AM1, L6, L14, W33, W38: streams that break the dialect's laws end with one
// error, and none of their calls is released.
func TestMalformedStreams(t *testing.T) {
	data := func(s string) string { return "data: " + s + "\n\n" }
	for _, c := range []struct {
		name, in string
		code     stopgate.Code
		o        provider.Options
	}{
		{name: "not JSON", in: begin + data("x")},
		{name: "not an object", in: begin + data("[DONE]")},
		{name: "twice the same member", in: begin + data(`{"type":"ping","type":"ping"}`)},
		{name: "no type", in: begin + data(`{"index":0}`)},
		{name: "a type that is no string", in: begin + data(`{"type":1}`)},
		{name: "another name than the type", in: begin + "event: ping\n" + data(`{"type":"message_stop"}`)},
		{name: "another case", in: begin + data(`{"type":"ping","Content_Block":{}}`)},
		{name: "a repeated key beside the input", in: begin + start(0, `{"type":"tool_use","id":"i","name":"a","input":{"a":1,"a":2},"name":"b"}`)},
		{name: "another case in a block", in: begin + start(0, `{"type":"text","Name":"a"}`)},
		{name: "another case in a delta", in: begin + textStart(0) + delta(0, `{"Partial_json":"x"}`)},
		{name: "another case in the message", in: ev("message_start", `,"message":{"Content":[]}`)},
		{name: "two beginnings and a call", in: begin + begin + callA(0)},
		{name: "a call and two beginnings", in: begin + callA(0) + begin},
		{name: "a beginning without a message", in: ev("message_start", "")},
		{name: "a call in the beginning", in: ev("message_start", `,"message":{"content":[{"type":"tool_use"}]}`)},
		{name: "content that is no array", in: ev("message_start", `,"message":{"content":"x"}`)},
		{name: "a call before the beginning", in: toolStart(0, "a")},
		{name: "a block and a call without a beginning", in: textStart(0) + stop(0) + toolStart(1, "a")},
		{name: "the end before the beginning", in: finish("end_turn")},
		{name: "no end while a block is open", in: begin + textStart(0) + ev("message_delta", `,"delta":{"stop_reason":null}`)},
		{name: "no end while a call is open", in: begin + toolStart(0, "a") + ev("message_delta", `,"delta":{}`) + stop(0) + finish("tool_use")},
		{name: "no end while a held block is open", in: begin + callA(0) + textStart(1) + ev("message_delta", `,"delta":{"stop_reason":null}`) + stop(1) + finish("max_tokens")},
		{name: "no index", in: begin + ev("content_block_start", `,"content_block":{"type":"text"}`)},
		{name: "a negative index", in: begin + strings.Replace(textStart(0), ":0,", ":-1,", 1)},
		{name: "an index that is no number", in: begin + strings.Replace(textStart(0), ":0,", `:"0",`, 1)},
		{name: "an index with seven digits", in: begin + textStart(1000000)},
		{name: "a gap", in: begin + textStart(0) + stop(0) + toolStart(2, "a")},
		{name: "an index twice", in: begin + textStart(0) + stop(0) + toolStart(0, "a")},
		{name: "a block that is no object", in: begin + start(0, `"tool_use"`)},
		{name: "a delta without a start", in: begin + textDelta(0, "x")},
		{name: "a delta behind the stop", in: begin + callA(0) + args(0, "{}")},
		{name: "two stops", in: begin + callA(0) + stop(0)},
		{name: "arguments in a text", in: begin + textStart(0) + args(0, "{}"), code: stopgate.CodePolicyNotConfigured},
		{name: "arguments in an unknown block", in: begin + start(0, `{"type":"new","name":"a"}`) + args(0, "{}"), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an unknown event", in: begin + ev("block_start", `,"content_block":{"type":"tool_use"}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in a ping", in: begin + ev("ping", `,"content_block":{"type":"tool_use"}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an error", in: begin + ev("error", `,"error":{},"content_block":{"type":"tool_use"}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in the end", in: begin + ev("message_stop", `,"message":{"content":[{"type":"text","text":"x"},{"type":"tool_use"}]}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in the end's delta", in: begin + ev("message_delta", `,"delta":{"stop_reason":"tool_use","content":[{"type":"tool_use"}]}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in a message as an event", in: begin + ev("message", `,"content":[{"type":"tool_use"}]`), code: stopgate.CodePolicyNotConfigured},
		{name: "a call in an unknown event's message", in: begin + ev("new", `,"message":{"content":[{"type":"tool_use"}]}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a member behind a NUL", in: begin + start(0, `{"type":"text","name\u0000":"a"}`)},
		{name: "a large event", in: begin + textStart(0) + textDelta(0, strings.Repeat("x", 300)), o: provider.Options{MaxBytes: 300}, code: stopgate.CodeLimitExceeded},
		{name: "a large event like the one before", in: begin + textStart(0) + textDelta(0, "x") + textDelta(0, strings.Repeat("x", 300)), o: provider.Options{MaxBytes: 300}, code: stopgate.CodeLimitExceeded},
		{name: "much text behind a call", in: begin + callA(0) + textStart(1) + strings.Repeat(textDelta(1, strings.Repeat("x", 100)), 10), o: provider.Options{MaxBuffered: 1000}, code: stopgate.CodeLimitExceeded},
		{name: "many ends without a reason", in: begin + callA(0) + strings.Repeat(ev("message_delta", `,"delta":{}`), 50), o: provider.Options{MaxBuffered: 1000}, code: stopgate.CodeLimitExceeded},
		{name: "a stop without an end", in: begin + callA(0) + theStop, code: stopgate.CodeStreamTruncated},
		{name: "a stop alone", in: theStop, code: stopgate.CodeStreamTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.code == "" {
				c.code = stopgate.CodeEnvelopeMismatch
			}
			r := play(t, newGate(t), request(t), c.o, c.in+finish("tool_use")+theStop)
			legal(t, r)
			var e *provider.StreamError
			if !errors.As(r.Err, &e) || e.Code != c.code {
				t.Errorf("error %v, want %s", r.Err, c.code)
			}
			if !strings.Contains(r.Out, "event: error\n") || !strings.Contains(r.Out, "("+string(c.code)+")") {
				t.Errorf("the client has\n%s", r.Out)
			}
			for _, j := range r.Gate.Calls {
				if j.Code != c.code {
					t.Errorf("a call got %s", j.Code)
				}
			}
		})
	}
}

// Proves L5, L14, F7: calls that are refused individually, while the response continues.
func TestRefusedCalls(t *testing.T) {
	withInput := func(input string) string {
		return start(0, `{"type":"tool_use","id":"i0","name":"a","input":`+input+`}`)
	}
	for _, c := range []struct {
		name, in string
		code     stopgate.Code
		o        provider.Options
	}{
		{name: "another delta", in: toolStart(0, "a") + textDelta(0, "{}"), code: stopgate.CodeProtocolViolation},
		{name: "arguments that are no text", in: toolStart(0, "a") + delta(0, `{"type":"input_json_delta","partial_json":{}}`), code: stopgate.CodeProtocolViolation},
		{name: "input that is no object", in: withInput(`[1]`), code: stopgate.CodeNonObjectRoot},
		{name: "input that is no object, and equal deltas", in: withInput(`[1]`) + args(0, "[1]"), code: stopgate.CodeNonObjectRoot},
		{name: "input, and deltas that are none", in: withInput(`{"a":1}`) + args(0, "{"), code: stopgate.CodeEnvelopeMismatch},
		{name: "input, and deltas with a member more", in: withInput(`{"a":1}`) + args(0, `{"a":1,"b":2}`), code: stopgate.CodeEnvelopeMismatch},
		{name: "a repeated key in the input", in: withInput(`{"a":{"b":1,"b":2}}`), code: stopgate.CodeDuplicateKey},
		{name: "a repeated key in the input, and deltas", in: withInput(`{"a":1,"a":2}`) + args(0, `{"a":1,"a":2}`), code: stopgate.CodeDuplicateKey},
		{name: "a large start", in: withInput(`{"a":"` + strings.Repeat("x", 500) + `"}`), o: provider.Options{MaxBuffered: 300}, code: stopgate.CodeLimitExceeded},
		{name: "large input, and deltas", in: withInput(`{"a":"`+strings.Repeat("x", 500)+`"}`) + args(0, `{"a":"`+strings.Repeat("x", 500)+`"}`), o: provider.Options{MaxBuffered: 1300}, code: stopgate.CodeLimitExceeded},
		{name: "a type in another case", in: start(0, `{"type":"Tool_Use","id":"i0","name":"a"}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a type behind a NUL", in: start(0, `{"type":"tool_use\u0000","id":"i0","name":"a"}`), code: stopgate.CodePolicyNotConfigured},
		{name: "a type of another spelling", in: start(0, `{"type":"toolUse","id":"i0","name":"a"}`) + args(0, "{}"), code: stopgate.CodePolicyNotConfigured},
		{name: "a caller of no form", in: start(0, `{"type":"tool_use","id":"i0","name":"a","input":{},"caller":null}`) + args(0, "x"), code: stopgate.CodeMalformedArguments},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, newGate(t), request(t), c.o, begin+c.in+stop(0)+finish("tool_use")+theStop)
			if r.Err != nil || len(r.Gate.Calls) != 1 || r.Gate.Calls[0].Code != c.code {
				t.Errorf("error %v, the log is\n%s%s, want %s", r.Err, r.Gate.Log.String(), r.Gate.Calls[0].Code, c.code)
			}
			legal(t, r)
			if !strings.Contains(r.Out, "[stopgate]") || !strings.Contains(r.Out, `"end_turn"`) {
				t.Errorf("the client has\n%s", r.Out)
			}
		})
	}
}

// Proves W31, L4: a call without an input, or with a null one, is written with an
// empty one.
func TestNoInput(t *testing.T) {
	for _, input := range []string{"", `,"input":null`, `,"input": { } `} {
		r := play(t, newGate(t), request(t), provider.Options{}, begin+start(0, `{"type":"tool_use","id":"i0","name":"a"`+input+`}`)+stop(0)+finish("tool_use")+theStop)
		legal(t, r)
		m, err := read(r.Out, true)
		if err != nil || len(m.tools()) != 1 || m.tools()[0].args != "{}" {
			t.Errorf("%q: %v\n%s", input, err, r.Out)
		}
	}
}

// Proves W52: the calls over the limit are refused, the others are not.
func TestTooManyCalls(t *testing.T) {
	in := begin
	for i := range 257 {
		in += callA(i)
	}
	r := play(t, newGate(t), request(t), provider.Options{}, in+finish("tool_use")+theStop)
	legal(t, r)
	for i, j := range r.Gate.Calls {
		if want := i < 256; (j.Code == "") != want {
			t.Errorf("call %d: %q", i, j.Code)
		}
	}
}

// Proves F13: the number of blocks of a response is bounded.
func TestTooManyBlocks(t *testing.T) {
	st := anthropic.Dialect{}.Stream(nil, newGate(t), provider.Options{})
	feed(t, st, begin)
	for i := range 1 << 16 {
		feed(t, st, textStart(i)+stop(i))
	}
	d := sse.NewDecoder(nil, sse.Limits{})
	d.Feed([]byte(textStart(1 << 16)))
	var e sse.Event
	if ok, err := d.Next(&e); !ok || err != nil {
		t.Fatal(err)
	}
	var bad *provider.StreamError
	if _, _, err := st.Event(nil, &e); !errors.As(err, &bad) || bad.Code != stopgate.CodeLimitExceeded {
		t.Errorf("error %v", err)
	}
}

// feed passes events to a stream and returns its output and its last need.
func feed(t testing.TB, st provider.Stream, text string) (string, provider.Need) {
	t.Helper()
	d := sse.NewDecoder(nil, sse.Limits{})
	d.Feed([]byte(text))
	var e sse.Event
	var out []byte
	last := provider.Continue
	for {
		ok, err := d.Next(&e)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return string(out), last
		}
		if out, last, err = st.Event(out, &e); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves W25, W26: when the upstream may be cancelled, and the output for the client then.
func TestCancel(t *testing.T) {
	g := newGate(t, "a", "b")
	st := anthropic.Dialect{}.Stream(request(t), g, provider.Options{})
	can := func(want bool, text string) (out string) {
		t.Helper()
		out, _ = feed(t, st, text)
		if st.CanCancel() != want {
			t.Errorf("CanCancel is %v behind %s", !want, text)
		}
		return out
	}
	st.Cancel() // too early: nothing happens
	out := can(false, begin+textStart(0)+textDelta(0, "x"))
	out += can(false, toolStart(1, "a")+args(1, `{"path":`))
	out += can(true, stop(0))
	can(false, textStart(2)+textDelta(2, "held"))
	can(true, stop(2))
	can(true, stop(1)+ev("message_delta", `,"delta":{},"usage":{"output_tokens":42}`))
	st.Cancel()
	st.Cancel()
	if st.CanCancel() || st.Pending() != 1 || g.Calls[0].End != stopgate.Cancelled {
		t.Errorf("pending %d, end %s", st.Pending(), g.Calls[0].End)
	}
	out += can(false, args(1, "x")+finish("tool_use")) // data in transit is dropped
	end, err := st.Release(nil, g.Outcomes(true), nil)
	if err != nil {
		t.Fatal(err)
	}
	out += string(end)
	m, err := read(out, true)
	if err != nil {
		t.Fatal(err, out)
	}
	const want = `text "" "" "x" {}
text "" "" ` + "\"[stopgate] The tool call `a` was not run: A rule of the policy decided this call (rule_matched).\"" + ` {}
text "" "" "held" {}
["" "end_turn"] message_stop
`
	if got := m.show(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(out, `"usage":{"input_tokens":7,"cache_read_input_tokens":5,"output_tokens":42}`) {
		t.Errorf("usage:\n%s", out)
	}
	if n := st.Notes(); !n.UsageIncomplete || n.Dropped != 2 || st.Pending() != 0 {
		t.Errorf("notes %+v", n)
	}
	if more, need := feed(t, st, finish("tool_use")+theStop); more != "" || need != provider.Finished {
		t.Errorf("behind the end: %q", more)
	}
	if tail, _, err := st.EOF(nil, nil); len(tail) > 0 || err != nil {
		t.Errorf("EOF: %q %v", tail, err)
	}
}

// A response without usage gets one that clients can read.
func TestCancelWithoutUsage(t *testing.T) {
	g := newGate(t, "a")
	st := anthropic.Dialect{}.Stream(request(t), g, provider.Options{})
	feed(t, st, ev("message_start", `,"message":{"content":[]}`)+toolStart(0, "a"))
	st.Cancel()
	out, _ := st.Release(nil, g.Outcomes(true), nil)
	if !st.Notes().UsageEstimated {
		t.Error("the estimate is not marked")
	}
	if !strings.Contains(string(out), `"usage":{"input_tokens":0,"output_tokens":1}}`) {
		t.Errorf("got %s", out)
	}
}

// Proves L3, L6, I24: outcomes that are missing, contradictory, for no call, for a refused call, or
// without arguments release nothing.
func TestOnlyAllowedCallsAreReleased(t *testing.T) {
	ok := provider.CallOutcome{Call: 0, Allowed: true, Args: []byte(`{}`)}
	for _, c := range []struct {
		name string
		in   string
		give []provider.CallOutcome
		want string // the line
	}{
		{"none", callA(0), nil, "(policy_error)"},
		{"of another call", callA(0), []provider.CallOutcome{{Call: 1, Allowed: true, Args: []byte("{}")}, {Call: -1, Allowed: true, Args: []byte("{}")}}, "(policy_error)"},
		{"allowed and denied", callA(0), []provider.CallOutcome{ok, {Call: 0, Text: "no"}}, "no"},
		{"denied and allowed", callA(0), []provider.CallOutcome{{Call: 0, Text: "no"}, ok}, "no"},
		{"denied without a text", callA(0), []provider.CallOutcome{{Call: 0}}, "(policy_error)"},
		{"allowed without arguments", callA(0), []provider.CallOutcome{{Call: 0, Allowed: true}}, "(policy_error)"},
		{"allowed though refused", toolStart(0, "bash") + stop(0), []provider.CallOutcome{ok}, "(policy_error)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := anthropic.Dialect{}.Stream(request(t), newGate(t), provider.Options{})
			out, need := feed(t, st, begin+c.in+finish("tool_use")+theStop)
			if need != provider.Resolve {
				t.Fatal("nothing to resolve")
			}
			if more, _ := feed(t, st, theStop+": x\n"); more != "" {
				t.Errorf("before the release: %q", more)
			}
			if _, _, err := st.EOF(nil, nil); err == nil {
				t.Error("the end came before the release")
			}
			dst, err := st.Release([]byte(out), c.give, nil)
			if err != nil {
				t.Fatal(err)
			}
			more, _ := feed(t, st, theStop)
			m, err := read(string(dst)+more, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.blocks) != 1 || m.blocks[0].typ != "text" || !strings.Contains(m.blocks[0].text, c.want) || m.stops[0] != "end_turn" {
				t.Errorf("the client has\n%s", m.show())
			}
			if again, _ := st.Release(nil, c.give, nil); len(again) > 0 {
				t.Errorf("released twice: %s", again)
			}
		})
	}
}

// Proves W33: the ways in which a body can end.
func TestEOF(t *testing.T) {
	whole := begin + textStart(0) + textDelta(0, "x") + stop(0) + finish("end_turn")
	for _, c := range []struct {
		name, tail, want string
	}{
		{"nothing", "", "cut"},
		{"half an event", "event: message_stop\nda", "cut"},
		{"half a JSON text", "data: {\"type\":\"message_stop\"", "cut"},
		{"another event", "data: {\"type\":\"ping\"}", "cut"},
		{"another name", "event: ping\ndata: {\"type\":\"message_stop\"}", "cut"},
		{"a field alone", "id: 7", "cut"},
		{"no blank line", strings.TrimSuffix(theStop, "\n"), theStop},
		{"no line end", strings.TrimSuffix(theStop, "\n\n"), theStop},
		{"no name", "data: {\"type\":\"message_stop\"}", theStop},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := play(t, newGate(t), request(t), provider.Options{}, whole+c.tail)
			legal(t, r)
			if c.want == "cut" {
				var e *provider.StreamError
				if !errors.As(r.Err, &e) || e.Code != stopgate.CodeStreamTruncated {
					t.Errorf("error %v", r.Err)
				}
				return
			}
			if r.Err != nil || r.Out != whole+c.want {
				t.Errorf("error %v, the client has\n%s", r.Err, r.Out)
			}
		})
	}
	st := anthropic.Dialect{}.Stream(nil, newGate(t), provider.Options{})
	feed(t, st, whole)
	if _, _, err := st.EOF(nil, []byte(strings.Repeat(":\n", 40<<10)+"data")); err == nil {
		t.Error("a flood of comments is an end")
	}
}

// Proves W34, S42, I24: an abort writes one error and nothing after it.
func TestAbort(t *testing.T) {
	g := newGate(t)
	st := anthropic.Dialect{}.Stream(request(t), g, provider.Options{})
	feed(t, st, begin+callA(0))
	out := string(st.Abort(nil, stopgate.CodeUpstreamTimeout, ""))
	if !strings.HasPrefix(out, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"[stopgate] ") || !strings.HasSuffix(out, "(upstream_timeout)\"}}\n\n") {
		t.Errorf("got %q", out)
	}
	if g.Calls[0].Code != stopgate.CodeUpstreamTimeout || st.Pending() != 0 || st.CanCancel() {
		t.Errorf("code %s, %d pending", g.Calls[0].Code, st.Pending())
	}
	if more := st.Abort(nil, stopgate.CodeUpstreamError, "x"); len(more) > 0 {
		t.Errorf("two errors: %s", more)
	}
	if more, _ := st.Release(nil, g.Outcomes(true), nil); len(more) > 0 {
		t.Errorf("released: %s", more)
	}
}

// Proves S17, I24: keepalives may be between any two events.
func TestKeepalive(t *testing.T) {
	st := anthropic.Dialect{}.Stream(nil, newGate(t), provider.Options{})
	const comment, ping = ": stopgate\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	for _, c := range []struct {
		feed, short, long string
	}{{"", comment, comment}, {begin, comment, ping}, {textStart(0) + stop(0) + finish("end_turn") + theStop, comment, comment}} {
		feed(t, st, c.feed)
		if got := string(st.Keepalive(nil, false)); got != c.short {
			t.Errorf("short: %q", got)
		}
		if got := string(st.Keepalive(nil, true)); got != c.long {
			t.Errorf("long: %q", got)
		}
	}
}

// Proves L12, F12: comments and unknown events are forwarded while a call is held; those that may
// affect the response are listed. An invalid type does not get into the framing.
func TestUnknownEvents(t *testing.T) {
	odd := "data: {\"type\":\"new\\n\\ndata: x\"}\n\n"
	st := anthropic.Dialect{}.Stream(nil, newGate(t), provider.Options{})
	feed(t, st, begin+toolStart(0, "a"))
	in := ": c\n" + ev("new", "") + ev("newer", `,"delta":{}`) + ev("newest", `,"message":{}`) + odd
	if out, _ := feed(t, st, in); out != in {
		t.Errorf("got\n%s\nwant\n%s", out, in)
	}
	if got := strings.Join(st.Notes().NotEvaluated, " "); got != "newer newest" {
		t.Errorf("notes %q", got)
	}
	if out, _ := feed(t, st, "data: {\"type\":\n"+"data: \"new\"}\n\n"); out != "event: new\ndata: {\"type\": \"new\"}\n\n" {
		t.Errorf("got %q", out)
	}
}

// Proves C4, L4: large arguments are written in chunks, with flushes, and an error of the flush
// ends the release.
func TestReleaseFlushesLongCalls(t *testing.T) {
	text := `{"path":"` + strings.Repeat("größe", 20000) + `"}`
	stream := begin + toolStart(0, "a") + args(0, text) + stop(0) + textStart(1) + textDelta(1, strings.Repeat("y", 40000)) + stop(1) + finish("tool_use")
	whole := play(t, newGate(t), request(t), provider.Options{}, stream+theStop)
	legal(t, whole)
	spills := 0
	for n := -1; n < 5; n++ {
		g := newGate(t)
		st := anthropic.Dialect{}.Stream(request(t), g, provider.Options{})
		out, _ := feed(t, st, stream+theStop)
		gone, most := errors.New("gone"), 0
		spills = 0
		rest, err := st.Release(nil, g.Outcomes(true), func(p []byte) error {
			if spills++; spills == n+1 {
				return gone
			}
			out += string(p)
			most = max(most, len(p))
			return nil
		})
		if n < 0 {
			out += string(rest)
			if err != nil || out != whole.Out || spills != 5 || most > 3*provider.FlushSize {
				t.Errorf("%v, %d spills, the largest %d, %d bytes for %d", err, spills, most, len(out), len(whole.Out))
			}
		} else if err != gone {
			t.Errorf("spill %d: %v", n, err)
		}
	}
}

// A message without calls that begins twice, or not at all, is forwarded byte for byte, and the
// unexpected event is noted.
func TestUnexpectedMessageStart(t *testing.T) {
	text := textStart(0) + textDelta(0, "x") + textDelta(0, "y") + stop(0) + finish("end_turn") + theStop
	for name, in := range map[string]string{
		"message_start":       begin + begin + text,
		"content_block_start": text,
	} {
		r := play(t, newGate(t), request(t), provider.Options{}, in)
		if r.Err != nil || r.Out != in || len(r.Notes.Unexpected) != 1 || r.Notes.Unexpected[0] != name {
			t.Errorf("%s: error %v, noted %q, client:\n%s", name, r.Err, r.Notes.Unexpected, r.Out)
		}
	}
}
