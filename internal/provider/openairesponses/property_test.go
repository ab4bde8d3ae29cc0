package openairesponses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// anyCall finds a call as a client would that folds case, at any possible place: an item, or the
// output of a response.
func anyCall(out string) string {
	for _, frame := range strings.Split(strings.ReplaceAll(out, "\r\n", "\n"), "\n\n") {
		_, text, _ := fields(frame)
		var e clientEvent
		_ = json.Unmarshal([]byte(text), &e)
		items := []json.RawMessage{e.Item}
		if e.Response != nil {
			items = append(items, e.Response.Output...)
		}
		for _, item := range items {
			if p, err := parse(item); err == nil && p.call() {
				return frame
			}
		}
	}
	return ""
}

func steps(n int) int {
	switch {
	case long():
		return 1
	case testing.Short():
		return n * 6
	}
	return n
}

// Proves I2, I24: wherever a stream is split once, the client gets the same bytes and the sink the
// same events.
func TestResultsDoNotDependOnReads(t *testing.T) {
	upstream := everyKind().completed()
	want := play(t, codec.NewGate(t, "a", "openai.shell"), request(t), provider.Options{}, upstream)
	for cut := 0; cut <= len(upstream); cut += steps(7) {
		r := play(t, codec.NewGate(t, "a", "openai.shell"), request(t), provider.Options{}, upstream[:cut], upstream[cut:])
		if r.Out != want.Out || r.Gate.Log.String() != want.Gate.Log.String() {
			t.Fatalf("cut at %d:\n%s\nwant:\n%s", cut, r.Out, want.Out)
		}
	}
	crlf := play(t, codec.NewGate(t, "a", "openai.shell"), request(t), provider.Options{}, strings.ReplaceAll(upstream, "\n", "\r\n"))
	if strings.ReplaceAll(crlf.Out, "\r\n", "\n") != want.Out {
		t.Errorf("CRLF:\n%s", crlf.Out)
	}
}

// Proves FM5, F10, L6, L3, W44: a stream that ends anywhere gets a valid end, and no held call
// leaks.
func TestTruncationReleasesNoCall(t *testing.T) {
	upstream := everyKind().completed()
	for end := 0; end < len(upstream); end += steps(7) {
		r := play(t, codec.NewGate(t), request(t), provider.Options{}, upstream[:end])
		if m := legal(t, r); m.end != "error" || anyCall(r.Out) != "" {
			t.Fatalf("ends at %d with %q:\n%s", end, m.end, r.Out)
		}
	}
}

// Proves I13, L13, F1: any interleaving of the events of several items that keeps the order within
// each item changes no byte of the calls.
func TestInterleavedItems(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "calls")
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a0", "a1", "a2", "a3"}), rapid.ID[string]).Draw(rt, "deny")
		var pieces [][]func(*script)
		for i := range n {
			name := fmt.Sprintf("a%d", i)
			args := fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("größe \"x\" ", rapid.IntRange(0, 5).Draw(rt, "length")))
			var list []func(*script)
			for rest := []rune(args); len(rest) > 0; {
				k := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
				piece := string(rest[:k])
				list = append(list, func(s *script) { s.delta(i, "fc_"+name, piece) })
				rest = rest[k:]
			}
			list = append(list, func(s *script) { s.whole(i, "fc_"+name, args) }, func(s *script) { s.doneAt(i, function(name, args)) })
			pieces = append(pieces, list)
		}
		open := func() *script {
			s := begin()
			for i := range n {
				s.added(function(fmt.Sprintf("a%d", i), ""))
			}
			return s
		}
		final := func(s *script) string {
			s.final = nil
			return s.completed()
		}
		sequential, mixed := open(), open()
		for _, list := range pieces {
			for _, step := range list {
				step(sequential)
			}
		}
		for {
			var left []int
			for i := range pieces {
				if len(pieces[i]) > 0 {
					left = append(left, i)
				}
			}
			if len(left) == 0 {
				break
			}
			i := rapid.SampledFrom(left).Draw(rt, "next")
			pieces[i][0](mixed)
			pieces[i] = pieces[i][1:]
		}
		want := play(t, codec.NewGate(t, deny...), &provider.Request{N: 1}, provider.Options{}, final(sequential))
		got := play(t, codec.NewGate(t, deny...), &provider.Request{N: 1}, provider.Options{}, final(mixed))
		if got.Out != want.Out || codes(got.Gate) != codes(want.Gate) {
			rt.Fatalf("interleaved:\n%s\nsequential:\n%s", got.Out, want.Out)
		}
		legal(t, got)
	})
}

// Proves I24, L6, L10, L13, F11, FM5: streams of events in any order, most of which break the
// dialect's laws, with any verdicts: one end, every item where the client expects it, never an
// incomplete call, never a call that was not allowed.
func TestBrokenStreamsStayValid(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "twice", ""})
		args := rapid.SampledFrom([]string{"", "{}", `{"path":`, `"x"}`, `{"path":"x"}`, "[1]", `"\ud800"`})
		index := rapid.IntRange(0, 4)
		var s *script
		if rapid.IntRange(0, 9).Draw(rt, "begun") == 0 {
			s = &script{}
		} else {
			s = begin()
		}
		for range rapid.IntRange(0, 20).Draw(rt, "events") {
			n, text, i := name.Draw(rt, "name"), args.Draw(rt, "args"), index.Draw(rt, "index")
			switch rapid.IntRange(0, 22).Draw(rt, "event") {
			case 0, 1, 2:
				s.call(n, "{}")
			case 3:
				s.added(function(n, text))
			case 4:
				s.delta(i, "fc_"+n, text)
			case 5:
				s.whole(i, "fc_"+n, text)
			case 6:
				s.doneAt(i, function(n, text))
			case 7:
				s.say("hi you")
			case 8:
				s.added(message(""))
			case 9:
				s.event("response.output_text.delta", `"output_index":%d,"delta":"x"`, i)
			case 10:
				s.custom()
			case 11:
				s.shell()
			case 12:
				s.patch()
			case 13:
				s.item(rapid.SampledFrom([]string{localShell, foo, approval, computer, reasoning, `{"type":"web_search_call","id":"w"}`}).Draw(rt, "item"))
			case 14:
				s.doneAt(i, message("x"))
			case 15:
				s.event("response.unknown", `"output_index":%d,"delta":"x"`, i)
			case 16:
				s.seq += rapid.IntRange(-3, 3).Draw(rt, "jump")
				s.seq = max(s.seq, 0)
			case 17:
				s.event("response.in_progress", `"response":{"output":[]}`)
			case 18:
				s.final = nil
			case 19:
				s.final = append(s.final, function(n, text))
			case 20:
				s.b.WriteString(rapid.SampledFrom([]string{": c\n", "data: x\n\n", "data: [DONE]\n\n", "event: x\n\n"}).Draw(rt, "other"))
			case 21:
				s.event("response.shell_call_command.delta", `"output_index":%d,"command_index":%d,"delta":"l"`, i, i)
			default:
				if rapid.IntRange(0, 4).Draw(rt, "early end") == 0 {
					s.end(rapid.SampledFrom([]string{"response.completed", "response.incomplete", "response.failed", "error"}).Draw(rt, "end"))
				}
			}
		}
		if rapid.Bool().Draw(rt, "proper end") {
			s.completed()
		}
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "c", "openai.shell"}), rapid.ID[string]).Draw(rt, "deny")
		rt.Log(s.b.String())
		limits := provider.Options{MaxBuffered: rapid.SampledFrom([]int{0, 0, 900}).Draw(rt, "held"), MaxCalls: rapid.SampledFrom([]int{0, 1}).Draw(rt, "calls")}
		r := play(t, codec.NewGate(t, deny...), request(t), limits, s.b.String())
		g := codec.NewGate(t)
		g.DenyAll = true
		denied := play(t, g, request(t), limits, s.b.String())
		if call := anyCall(denied.Out); call != "" {
			rt.Fatalf("a denied call was let out: %s", call)
		}
		// Wrong numbers of the upstream are kept if nothing is held.
		stream := r.Out
		if len(r.Gate.Calls) == 0 && len(r.Notes.Unexpected) > 0 {
			return // the client received the provider's bytes
		}
		if len(r.Gate.Calls) == 0 {
			if m, err := read(stream, false); err != nil || m.end == "" {
				rt.Fatalf("%v\n%s", err, stream)
			}
			return
		}
		m, err := read(stream, false)
		if err != nil || m.end == "" {
			rt.Fatalf("%v\n%s", err, stream)
		}
		allowed := 0
		for _, c := range r.Gate.Calls {
			if c.Allowed() {
				allowed++
			}
		}
		if m.end == "error" {
			allowed = 0
		}
		have := 0
		for _, o := range m.calls() {
			have++
			if !o.done || o.joined != "" && o.joined != o.args || o.ended != "" && o.ended != o.args {
				rt.Fatalf("half a call: %+v\n%s", o, stream)
			}
		}
		if have > allowed {
			rt.Fatalf("%d calls came out, allowed were %d\n%s", have, allowed, stream)
		}
		if t.Failed() {
			rt.Fatalf("the client has\n%s", stream)
		}
	})
}

// Proves I2, I12, A1, A7, A8: the fast path for an event that repeats the previous one never
// changes the result: streams of such events, with a few bytes changed anywhere, are read as if
// every event were parsed (play compares the two).
func TestRepeatedEvents(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", `\"`, "größe", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\\`, "\xFF", "\t", "{", "}", `x\n`, `","type":"evil`, "0123456789abcdef"})
	property.Check(t, func(rt *rapid.T) {
		s := begin().added(message(""))
		if rapid.Bool().Draw(rt, "call") {
			s.added(function("a", "")).added(message(""))
		}
		shapes := rapid.SampledFrom([]string{
			`"type":"response.output_text.delta","output_index":0,"delta":"%s","sequence_number":%d`, `"type":"response.output_text.delta","output_index":2,"delta":"%s","sequence_number":%d`,
			`"delta":"%s","type":"response.function_call_arguments.delta","sequence_number":%d,"output_index":1,"item_id":"fc_a"`,
			`"type":"response.reasoning_text.delta","delta":"%s","obfuscation":"xyz","sequence_number":%d,"output_index":0`,
			`"type":"response.function_call_arguments.delta","output_index":1,"delta":"%s","sequence_number":%d,"obfuscation":"a"`,
		})
		shape := shapes.Draw(rt, "shape")
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			if rapid.IntRange(0, 4).Draw(rt, "change") == 0 {
				shape = shapes.Draw(rt, "shape")
			}
			s.b.WriteString("data: {" + fmt.Sprintf(shape, texts.Draw(rt, "text"), rapid.SampledFrom([]int{s.seq, s.seq, s.seq, 7, 1234567890}).Draw(rt, "number")) + "}\n\n")
			s.seq++
		}
		b := []byte(s.completed())
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.SampledFrom([]byte("\"\\{}[],:0127a \n\xFF")).Draw(rt, "byte")
		}
		rt.Log(string(b))
		play(t, codec.NewGate(t), request(t), provider.Options{MaxBytes: rapid.SampledFrom([]int{0, 0, 0, 130}).Draw(rt, "limit")}, string(b))
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

// FuzzStream checks for any input: a gate that denies releases no call, for any client; a gate that
// allows releases the calls that it judged; and the result does not depend on chunks.
func FuzzStream(f *testing.F) {
	f.Add([]byte(everyKind().completed()), uint16(700))
	f.Add([]byte(begin().call("a", `{"path":"x"}`).call("b", "{}").completed()), uint16(97))
	f.Add([]byte(begin().say("hi").item(foo).end("response.incomplete")), uint16(7))
	req := &provider.Request{N: 1}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		s := string(stream)
		g := codec.NewGate(t)
		g.DenyAll = true
		if call := anyCall(play(t, g, req, provider.Options{}, s).Out); call != "" {
			t.Fatalf("a denied call was let out: %s", call)
		}
		n := int(cut) % (len(s) + 1)
		whole := play(t, codec.NewGate(t), req, provider.Options{}, s)
		parts := play(t, codec.NewGate(t), req, provider.Options{}, s[:n], s[n:])
		if whole.Out != parts.Out || whole.Gate.Log.String() != parts.Gate.Log.String() {
			t.Fatalf("cut at %d:\n%s\nwant:\n%s", n, parts.Out, whole.Out)
		}
		allowed := 0
		for _, c := range whole.Gate.Calls {
			if c.Allowed() {
				allowed++
			}
		}
		if m, err := read(whole.Out, false); err == nil && len(m.calls()) > allowed {
			t.Fatalf("%d calls came out, allowed were %d\n%s", len(m.calls()), allowed, whole.Out)
		}
	})
}
