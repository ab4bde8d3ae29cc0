package anthropic_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

func long() bool { return os.Getenv("STOPGATE_LONG") == "1" }

// every is the step between tried positions of a text: 1 in a long run, large in a short one.
func every() int {
	switch {
	case long():
		return 1
	case testing.Short():
		return 41
	}
	return 7
}

// Proves I2, I24: wherever a stream is split once, the client gets the same bytes and the sink the
// same events.
func TestResultsDoNotDependOnReads(t *testing.T) {
	for i, f := range codec.Transcripts(t) {
		upstream := f.Get("upstream")
		want := playFile(t, f, upstream)
		for cut := i % every(); cut <= len(upstream); cut += every() {
			r := playFile(t, f, upstream[:cut], upstream[cut:])
			if r.Out != want.Out || r.Gate.Log.String() != want.Gate.Log.String() {
				t.Fatalf("%s cut at %d:\n%s\nwant:\n%s", f.Name, cut, r.Out, want.Out)
			}
		}
	}
}

// Proves FM5, F10, L6, L3, W33: a stream that ends anywhere gets a valid end, and no held call
// leaks.
func TestTruncationReleasesNoCall(t *testing.T) {
	for i, f := range codec.Transcripts(t) {
		upstream := f.Get("upstream")
		for end := i % every(); end < len(upstream); end += every() {
			legal(t, playFile(t, f, upstream[:end]))
		}
		if t.Failed() {
			t.Fatal(f.Name)
		}
	}
}

// mix interleaves lists, each in its own order.
func mix(rt *rapid.T, lists ...[]string) (out []string) {
	for {
		var left []int
		for i, l := range lists {
			if len(l) > 0 {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		i := rapid.SampledFrom(left).Draw(rt, "next")
		out = append(out, lists[i][0])
		lists[i] = lists[i][1:]
	}
}

// Proves I13, L13, F1, W28: any interleaving of the deltas of several blocks that keeps the order
// within each block changes no byte of the calls, if the blocks begin in the same order.
func TestInterleavedBlocks(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "calls")
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string]).Draw(rt, "deny")
		starts := begin
		var sequential string
		rest := make([][]string, n)
		for i := range n {
			starts += toolStart(i, string(rune('a'+i)))
			text := fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("größe \"x\" ", rapid.IntRange(0, 5).Draw(rt, "length")))
			if rapid.IntRange(0, 9).Draw(rt, "broken") == 0 {
				text = text[:len(text)-1]
			}
			for runes := []rune(text); len(runes) > 0; {
				k := rapid.IntRange(1, len(runes)).Draw(rt, "piece")
				rest[i] = append(rest[i], args(i, string(runes[:k])))
				runes = runes[k:]
			}
			rest[i] = append(rest[i], stop(i))
			sequential += strings.Join(rest[i], "")
		}
		mixed := strings.Join(mix(rt, rest...), "")
		end := finish("tool_use") + theStop
		want := play(t, newGate(t, deny...), request(t), provider.Options{}, starts+sequential+end)
		got := play(t, newGate(t, deny...), request(t), provider.Options{}, starts+mixed+end)
		if got.Out != want.Out || got.Gate.Log.String() != want.Gate.Log.String() {
			rt.Fatalf("interleaved:\n%s\nsequential:\n%s", got.Out, want.Out)
		}
		legal(t, got)
	})
}

// Proves I24, L6, L10, AM4, F11, FM5: streams of events in any order, most of which break the
// dialect's laws, with any verdicts: one end, consecutive indexes, never an incomplete call, never
// a call that was not allowed.
func TestBrokenStreamsStayValid(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		index := rapid.IntRange(0, 3)
		name := rapid.SampledFrom([]string{"a", "b", "c", "bash", ""})
		text := rapid.SampledFrom([]string{"", "{}", `{"path":`, `"x"}`, "x", "{", "}", `"\ud800"`})
		var events []string
		next := 0
		if rapid.IntRange(0, 9).Draw(rt, "begun") > 0 {
			events = append(events, begin)
		}
		for range rapid.IntRange(0, 25).Draw(rt, "events") {
			i := index.Draw(rt, "index")
			var e string
			switch rapid.IntRange(0, 16).Draw(rt, "event") {
			case 0, 1, 2:
				e = toolStart(next, name.Draw(rt, "name")) + args(next, text.Draw(rt, "args"))
				next++
			case 3:
				e = textStart(next) + textDelta(next, "x")
				next++
			case 4:
				e = callA(next)
				next++
			case 5:
				e = toolStart(i, name.Draw(rt, "name"))
			case 6, 7, 8:
				e = args(i, text.Draw(rt, "args"))
			case 9, 10, 11:
				e = stop(i)
			case 12:
				e = textDelta(i, "y")
			case 13:
				e = finish(rapid.SampledFrom([]string{"tool_use", "end_turn", "max_tokens", "pause_turn", "refusal"}).Draw(rt, "reason"))
			case 14:
				e = rapid.SampledFrom([]string{ev("ping", ""), ev("message_delta", `,"delta":{"stop_reason":null}`), ev("new", `,"delta":{}`), ": c\n"}).Draw(rt, "other")
			case 15:
				e = start(next, `{"type":"server_tool_use","id":"s","name":"w","input":{}}`) + args(next, "{}")
				next++
			default:
				e = rapid.SampledFrom([]string{theStop, begin, ev("error", `,"error":{}`), "data: x\n\n"}).Draw(rt, "end")
			}
			events = append(events, e)
		}
		if rapid.Bool().Draw(rt, "proper end") {
			for i := range next {
				events = append(events, stop(i))
			}
			events = append(events, finish("tool_use"), theStop)
		}
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b"}), rapid.ID[string]).Draw(rt, "deny")
		stream := strings.Join(events, "")
		rt.Log(stream)
		limits := provider.Options{MaxBuffered: rapid.SampledFrom([]int{0, 0, 400}).Draw(rt, "held"), MaxCalls: rapid.SampledFrom([]int{0, 1}).Draw(rt, "calls")}
		r := play(t, newGate(t, deny...), request(t), limits, stream)
		if len(r.Notes.Unexpected) > 0 && len(r.Gate.Calls) == 0 {
			return // the client received the provider's bytes
		}
		m, err := read(r.Out, false)
		if err != nil {
			rt.Fatal(err)
		}
		if len(r.Gate.Calls) > 0 || r.Err != nil || m.open == 0 {
			legal(t, r)
		}
		if t.Failed() {
			rt.Fatalf("the client has\n%s", r.Out)
		}
	})
}

// Proves I2, I12, AM1, AM7, AM8, W38: the fast path for an event that repeats the previous one
// never changes the result: streams of such events, padded or not, with a few bytes changed
// anywhere, are read as if every event were parsed (play compares the two).
func TestRepeatedEvents(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", `\"`, "größe", `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\\`, "\xFF", "\t", "{", "}", `x\n`, `","type":"evil`, "0123456789abcdef"})
	property.Check(t, func(rt *rapid.T) {
		s := begin + textStart(0) + start(1, `{"type":"thinking","thinking":""}`) + toolStart(2, "a") + textStart(3)
		shapes := rapid.SampledFrom([]string{
			`"index":0,"delta":{"type":"text_delta","text":"%s"}%s`, `"index":1,"delta":{"thinking":"%s","type":"thinking_delta"}%s`,
			`"index":2,"delta":{"type":"input_json_delta","partial_json":"%s"}%s`, `"index":3,"delta":{"type":"text_delta","text":"%s"}%s`,
			`"index":1,"delta":{"type":"signature_delta","signature":"%s"}%s`, `"index":2,"delta":{"type":"text_delta","text":"%s"}%s`,
		})
		shape := shapes.Draw(rt, "shape")
		for range rapid.IntRange(1, 12).Draw(rt, "events") {
			if rapid.IntRange(0, 4).Draw(rt, "change") == 0 {
				shape = shapes.Draw(rt, "shape")
			}
			s += rapid.SampledFrom([]string{"event: content_block_delta\n", "event: content_block_delta\n", "event: content_block_delta\n", "", "event: ping\n"}).Draw(rt, "line")
			s += `data: {"type":"content_block_delta",` + fmt.Sprintf(shape, texts.Draw(rt, "text"), rapid.SampledFrom([]string{"", " ", "    "}).Draw(rt, "padding")) + "}\n\n"
		}
		b := []byte(s + stop(0) + stop(1) + stop(2) + stop(3) + finish("tool_use") + theStop)
		for range rapid.IntRange(0, 3).Draw(rt, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.SampledFrom([]byte("\"\\{}[],:0127a \n\xFF")).Draw(rt, "byte")
		}
		rt.Log(string(b))
		limit := rapid.SampledFrom([]int{0, 0, 0, 130}).Draw(rt, "limit")
		play(t, newGate(t), request(t), provider.Options{MaxBytes: limit}, string(b))
		if t.Failed() {
			rt.Fatal("see above")
		}
	})
}

// Proves K41, L2, I8, I12, I24, W24, W26: recorded streams. Allowed calls keep id, name, arguments
// and everything around them; streams without calls are byte-identical; denied calls are removed;
// and the result does not depend on chunks.
func TestRecordedStreams(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "anthropic-messages"), "*.sse"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no streams", err)
	}
	splits := 3
	if testing.Short() {
		splits = 1
	}
	if long() {
		splits = 200
	}
	withCalls := 0
	for i, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		upstream, name := string(b), filepath.Base(path)
		r := play(t, newGate(t), &provider.Request{N: 1}, provider.Options{}, upstream)
		legal(t, r)
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range splits {
			again := play(t, newGate(t), &provider.Request{N: 1}, provider.Options{}, pieces(rng, upstream)...)
			if again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
				t.Fatalf("%s: other bytes when it was cut otherwise", name)
			}
		}
		if len(r.Gate.Calls) == 0 {
			if r.Out != upstream && r.Out != strings.TrimRight(upstream, "\n")+"\n\n" {
				t.Errorf("%s: has no calls and was changed", name)
			}
			continue
		}
		withCalls++
		want, err := read(upstream, false)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := read(r.Out, true)
		if err != nil {
			t.Fatal(name, err)
		}
		if normal(r.Gate) {
			if got.show() != want.show() {
				t.Errorf("%s: the client has\n%swant\n%s", name, got.show(), want.show())
			}
		}
		if got, want := otherFrames(r.Out), otherFrames(upstream); normal(r.Gate) && got != want {
			t.Errorf("%s: apart from calls the client has\n%swant\n%s", name, got, want)
		}
		var names []string
		for _, j := range r.Gate.Calls {
			names = append(names, string(j.Tool))
		}
		denied := play(t, newGate(t, names...), &provider.Request{N: 1}, provider.Options{}, upstream)
		legal(t, denied)
		if got, err := read(denied.Out, true); err != nil || len(got.tools()) != 0 {
			t.Errorf("%s: a denied call was let out: %v\n%s", name, err, denied.Out)
		}
	}
	t.Logf("%d streams, %d with calls, %d ways to cut each", len(paths), withCalls, splits)
	if withCalls == 0 {
		t.Error("no stream has calls")
	}
}

// otherFrames returns the frames that belong to no call, byte for byte and sorted, because pings
// may overtake held calls.
func otherFrames(stream string) string {
	calls := map[int]bool{}
	var out []string
	for _, frame := range strings.Split(strings.TrimRight(stream, "\n"), "\n\n") {
		_, data, _ := strings.Cut(frame, "data:")
		var e struct {
			Type  string
			Index int
			Block struct{ Type string } `json:"content_block"`
		}
		_ = json.Unmarshal([]byte(data), &e)
		if e.Block.Type == "tool_use" {
			calls[e.Index] = true
		}
		if !strings.HasPrefix(e.Type, "content_block") || !calls[e.Index] {
			out = append(out, frame)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n") + "\n"
}

// normal reports whether every call of a stream was allowed.
func normal(g *gate) bool {
	return !slices.ContainsFunc(g.Calls, func(j *judged) bool { return j.Code != "" })
}

func pieces(rng *rand.Rand, s string) (out []string) {
	most := 1 << rng.IntN(12)
	for len(s) > 0 {
		n := min(1+rng.IntN(most), len(s))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// anyCall finds a call as a client would that folds case and uses the last of two equal members, at
// any possible place.
func anyCall(out string) string {
	for _, frame := range strings.Split(strings.ReplaceAll(out, "\r\n", "\n"), "\n\n") {
		var data strings.Builder
		for _, line := range strings.Split(frame, "\n") {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data.WriteString(v)
			}
		}
		var e struct {
			Type    string
			Block   struct{ Type string } `json:"content_block"`
			Message struct {
				Content []struct{ Type string }
			}
		}
		_ = json.Unmarshal([]byte(data.String()), &e)
		if e.Type == "content_block_start" && e.Block.Type == "tool_use" {
			return frame
		}
		for _, c := range e.Message.Content {
			if e.Type == "message_start" && c.Type == "tool_use" {
				return frame
			}
		}
	}
	return ""
}

// FuzzStream checks for any input: a gate that denies releases no call, for any client; a gate that
// allows releases the calls that it judged; and the result does not depend on chunks.
func FuzzStream(f *testing.F) {
	for i, c := range codec.Transcripts(f) {
		f.Add([]byte(c.Get("upstream")), uint16(i*97))
	}
	req := &provider.Request{N: 1}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		s := string(stream)
		g := newGate(t)
		g.DenyAll = true
		denied := play(t, g, req, provider.Options{}, s)
		if call := anyCall(denied.Out); call != "" {
			t.Fatalf("a denied call was let out: %s", call)
		}
		n := int(cut) % (len(s) + 1)
		whole := play(t, newGate(t), req, provider.Options{}, s)
		parts := play(t, newGate(t), req, provider.Options{}, s[:n], s[n:])
		if whole.Out != parts.Out || whole.Gate.Log.String() != parts.Gate.Log.String() {
			t.Fatalf("cut at %d:\n%s\nwant:\n%s", n, parts.Out, whole.Out)
		}
		allowed := 0
		for _, j := range whole.Gate.Calls {
			if j.Code == "" && j.End == stopgate.Ended {
				allowed++
			}
		}
		if got, err := read(whole.Out, false); err == nil && len(got.tools()) > allowed {
			t.Fatalf("%d calls came out, allowed were %d\n%s", len(got.tools()), allowed, whole.Out)
		}
	})
}

// FuzzBody checks for any body: a gate that denies releases no call, and the output is JSON.
func FuzzBody(f *testing.F) {
	for _, c := range codec.Transcripts(f) {
		if m, err := read(c.Get("upstream"), false); err == nil && len(m.stops) > 0 {
			if body, whole := bodyOf(m); whole {
				f.Add([]byte(body))
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, denyAll := range []bool{true, false} {
			g := newGate(t)
			g.DenyAll = denyAll
			out, _, err := playBody(t, g, provider.Options{}, string(body))
			if err != nil {
				continue
			}
			if !json.Valid([]byte(out)) {
				t.Fatalf("no JSON: %s", out)
			}
			allowed := 0
			for _, j := range g.Calls {
				if j.Code == "" && j.End == stopgate.Ended {
					allowed++
				}
			}
			var m struct{ Content []struct{ Type string } }
			_ = json.Unmarshal([]byte(out), &m)
			for _, c := range m.Content {
				if c.Type == "tool_use" {
					allowed--
				}
			}
			if allowed < 0 {
				t.Fatalf("a call came out that was not allowed: %s", out)
			}
		}
	})
}
