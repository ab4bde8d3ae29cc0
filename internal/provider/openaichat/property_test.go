package openaichat_test

import (
	"encoding/json"
	"fmt"
	"maps"
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
		return 17
	}
	return 4
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

// Proves FM5, F10, L6, L3: a stream that ends anywhere gets a valid end, and no held call leaks.
func TestTruncationReleasesNoCall(t *testing.T) {
	for i, f := range codec.Transcripts(t) {
		upstream := f.Get("upstream")
		for end := i % every(); end < len(upstream); end += every() {
			r := playFile(t, f, upstream[:end])
			legal(t, r)
		}
	}
}

// Proves I13, L13, F1: any interleaving of the deltas of several calls that keeps the order within
// each call changes no byte, if the calls begin in the same order.
func TestInterleavedCalls(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(rt, "calls")
		deny := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string]).Draw(rt, "deny")
		var starts, sequential []string
		rest := make([][]string, n)
		for i := range n {
			name := string(rune('a' + i))
			starts = append(starts, entries(fmt.Sprintf(`{"index":%d,"id":"i%d","type":"function","function":{"name":"%s","arguments":""}}`, i, i, name)))
			args := fmt.Sprintf(`{"n":%d,"text":%q}`, i, strings.Repeat("größe \"x\" ", rapid.IntRange(0, 5).Draw(rt, "length")))
			if rapid.IntRange(0, 9).Draw(rt, "broken") == 0 {
				args = args[:len(args)-1]
			}
			for runes := []rune(args); len(runes) > 0; {
				k := rapid.IntRange(1, len(runes)).Draw(rt, "piece")
				rest[i] = append(rest[i], entries(fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, i, quote(string(runes[:k])))))
				runes = runes[k:]
			}
			sequential = append(sequential, rest[i]...)
		}
		mixed := append([]string(nil), starts...)
		for left := n; left > 0; {
			left = 0
			i := rapid.IntRange(0, n-1).Draw(rt, "next")
			if len(rest[i]) > 0 {
				mixed = append(mixed, rest[i][0])
				rest[i] = rest[i][1:]
			}
			for _, r := range rest {
				left += len(r)
			}
		}
		req := request(t, "")
		want := play(t, newGate(t, deny...), req, provider.Options{}, chunks("tool_calls", append(starts, sequential...)...))
		got := play(t, newGate(t, deny...), req, provider.Options{}, chunks("tool_calls", mixed...))
		if got.Out != want.Out {
			rt.Fatalf("interleaved:\n%s\nsequential:\n%s", got.Out, want.Out)
		}
		legal(t, got)
	})
}

// withoutCalls removes calls and finish reasons from a stream, so that the rest of two streams can
// be compared.
func withoutCalls(t testing.TB, stream string) string {
	var out strings.Builder
	for _, block := range strings.SplitAfter(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		data, ok := strings.CutPrefix(strings.TrimSpace(block), "data:")
		if !ok || strings.TrimSpace(data) == "[DONE]" {
			continue
		}
		var chunk map[string]any
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		choices, _ := chunk["choices"].([]any)
		says := chunk["usage"] != nil || chunk["error"] != nil
		for _, c := range choices {
			delta, _ := c.(map[string]any)["delta"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(delta)) {
				v := delta[name]
				if name == "tool_calls" || name == "function_call" || name == "role" {
					continue
				}
				if v != nil && v != "" && fmt.Sprint(v) != "[]" && fmt.Sprint(v) != "map[]" {
					fmt.Fprintf(&out, "%s=%v\n", name, v)
				}
			}
		}
		if says {
			fmt.Fprintf(&out, "usage=%v error=%v\n", chunk["usage"], chunk["error"])
		}
	}
	return out.String()
}

// Proves D26-34, K41, L2, I8, I12, I24, W22: recorded streams of many servers. Allowed calls keep
// id, name and arguments; streams without calls are byte-identical; everything but the calls is the
// same; and the result does not depend on chunks.
func TestRecordedStreams(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "openai-chat"), "*.sse"))
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
		if len(r.Gate.Calls) == 0 {
			if r.Out != upstream {
				t.Errorf("%s: has no calls and was changed", name)
			}
			continue
		}
		withCalls++
		if normal(r.Gate) {
			want, err := read(upstream, false)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := read(r.Out, true)
			if err != nil {
				t.Fatal(name, err)
			}
			for i, a := range want {
				a.finish = a.finish[:1] // with calls only the first counts
				if len(got[i].finish) > 0 && len(a.tools) == 0 {
					got[i].finish = got[i].finish[:1]
				}
				for k := range a.tools {
					if a.tools[k].kind == "" {
						a.tools[k].kind = "function"
					}
					if a.tools[k].args == "" {
						a.tools[k].args = "{}"
					}
				}
			}
			if show(got) != show(want) {
				t.Errorf("%s: the client has\n%swant\n%s", name, show(got), show(want))
			}
			if got, want := withoutCalls(t, r.Out), withoutCalls(t, upstream); got != want {
				t.Errorf("%s: besides the calls the client has\n%swant\n%s", name, got, want)
			}
		}
		denied := play(t, newGate(t, toolNames(r.Gate)...), &provider.Request{N: 1}, provider.Options{}, upstream)
		legal(t, denied)
		if got, err := read(denied.Out, false); err != nil || tools(got) != 0 {
			t.Errorf("%s: a denied call was let out: %v\n%s", name, err, denied.Out)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range splits {
			again := play(t, newGate(t), &provider.Request{N: 1}, provider.Options{}, pieces(rng, upstream)...)
			if again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
				t.Fatalf("%s: other bytes when it was cut otherwise", name)
			}
		}
	}
	t.Logf("%d streams, %d with calls, %d ways to cut each", len(paths), withCalls, splits)
}

func toolNames(g *gate) (names []string) {
	for _, j := range g.Calls {
		names = append(names, string(j.Tool))
	}
	return names
}

func tools(answers map[int]*answer) (n int) {
	for _, a := range answers {
		n += len(a.tools)
	}
	return n
}

// normal reports whether every call of a stream was allowed.
func normal(g *gate) bool {
	for _, j := range g.Calls {
		if j.Code != "" {
			return false
		}
	}
	return true
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
	for _, block := range strings.Split(strings.ReplaceAll(out, "\r\n", "\n"), "\n\n") {
		var data strings.Builder
		for _, line := range strings.Split(block, "\n") {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data.WriteString(v)
			}
		}
		var chunk struct {
			Choices []struct {
				Delta, Message struct {
					ToolCalls    []json.RawMessage `json:"tool_calls"`
					FunctionCall map[string]any    `json:"function_call"`
				}
			}
		}
		_ = json.Unmarshal([]byte(data.String()), &chunk)
		for _, c := range chunk.Choices {
			if len(c.Delta.ToolCalls)+len(c.Message.ToolCalls) > 0 || c.Delta.FunctionCall != nil || c.Message.FunctionCall != nil {
				return block
			}
		}
	}
	return ""
}

// FuzzStream checks for any input: a gate that denies releases no call, for any client; a gate that
// allows releases the calls that it judged; and the result does not depend on chunks.
func FuzzStream(f *testing.F) {
	paths, _ := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		_, upstream, _ := strings.Cut(string(text), "-- upstream --\n")
		upstream, _, _ = strings.Cut(upstream, "-- events --")
		f.Add([]byte(upstream), uint16(i*97))
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
		var allowed []string
		for _, j := range whole.Gate.Calls {
			if j.Code == "" && j.End == stopgate.Ended {
				allowed = append(allowed, string(j.Tool))
			}
		}
		if got, err := read(whole.Out, false); err == nil {
			var have []string
			for _, a := range got {
				for _, c := range a.tools {
					have = append(have, c.name)
				}
			}
			if len(have) > len(allowed) {
				t.Fatalf("the calls %q came out, allowed were %q\n%s", have, allowed, whole.Out)
			}
		}
	})
}
