package openairesponses_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// play passes chunks of a stream through the codec.
func play(t testing.TB, g *codec.Gate, req *provider.Request, o provider.Options, pieces ...string) codec.Run {
	t.Helper()
	return codec.Play(t, func(g *codec.Gate, o provider.Options, inFull bool) provider.Stream {
		st := openairesponses.Dialect{}.Stream(req, g, o)
		if inFull {
			openairesponses.ReadInFull(st)
		}
		return st
	}, g, o, pieces...)
}

func long() bool { return os.Getenv("STOPGATE_LONG") == "1" }

// pieces splits a text anywhere.
func pieces(rng *rand.Rand, s string) (out []string) {
	most := 1 << rng.IntN(12)
	for len(s) > 0 {
		n := min(1+rng.IntN(most), len(s))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// legal checks the output with the tests' own client: it has exactly the allowed calls, and none if
// the response did not end regularly.
func legal(t testing.TB, r codec.Run) *answer {
	t.Helper()
	if len(r.Notes.Unexpected) > 0 && len(r.Gate.Calls) == 0 {
		return &answer{} // mistakes of the provider are forwarded if there is no call
	}
	m, err := read(r.Out, true)
	if err != nil {
		t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
	}
	var have, allowed []string
	for _, o := range m.calls() {
		have = append(have, o.callID+" "+canonical(o.args))
	}
	for _, c := range r.Gate.Calls {
		if c.Allowed() {
			args := canonical(string(c.Raw))
			if text, ok := freeText(args); ok && slices.ContainsFunc(m.calls(), func(o *output) bool { return o.callID == string(c.ID) && o.typ == "custom_tool_call" }) {
				args = canonical(text)
			}
			allowed = append(allowed, string(c.ID)+" "+args)
		}
	}
	if m.end == "error" {
		if len(have) > 0 {
			t.Errorf("the calls %q came out of a response without an end", have)
		}
	} else if strings.Join(have, "|") != strings.Join(allowed, "|") {
		t.Errorf("the client has the calls %q, want %q\n%s", have, allowed, r.Out)
	}
	return m
}

// freeText returns the text in the argument object of a custom tool.
func freeText(args string) (string, bool) {
	rest, ok := strings.CutPrefix(args, `{"input":`)
	if !ok {
		return "", false
	}
	var text string
	return text, unquote(strings.TrimSuffix(rest, "}"), &text)
}

// Proves K41, L2, L5, I8, I12, I24, W40, W41, W42: recorded streams. Allowed
// calls keep id, name and arguments in all of their copies, and everything around
// them keeps its bytes; streams without calls are byte-identical; a denied call,
// first, in the middle, last or all of them, is gone from the stream and from the
// final response; and cutting the bytes anywhere changes nothing.
func TestRecordedStreams(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "openai-responses"), "*.sse"))
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
		req := &provider.Request{N: 1}
		r := play(t, codec.NewGate(t), req, provider.Options{}, upstream)
		legal(t, r)
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range splits {
			again := play(t, codec.NewGate(t), req, provider.Options{}, pieces(rng, upstream)...)
			if again.Out != r.Out || again.Gate.Log.String() != r.Gate.Log.String() {
				t.Fatalf("%s: other bytes when it was cut otherwise", name)
			}
		}
		if len(r.Gate.Calls) == 0 {
			if r.Out != upstream {
				t.Errorf("%s: has no calls and was changed:\n%s", name, r.Out)
			}
			continue
		}
		withCalls++
		want, err := read(upstream, false)
		if err != nil {
			t.Fatal(name, err)
		}
		normal := !slices.ContainsFunc(r.Gate.Calls, func(c *codec.Judged) bool { return !c.Allowed() })
		if got, _ := read(r.Out, true); normal && got.show() != want.show() {
			t.Errorf("%s: the client has\n%swant\n%s", name, got.show(), want.show())
		}
		if got, want := besides(r.Out), besides(upstream); normal && got != want {
			t.Errorf("%s: besides the calls the client has\n%swant\n%s", name, got, want)
		}
		if !normal && want.end == "response.completed" {
			t.Errorf("%s: a call of a complete response was refused\n%s", name, r.Gate.Log.String())
		}
		last := len(r.Gate.Calls) - 1
		for _, deny := range []map[int]bool{{0: true}, {last / 2: true}, {last: true}, nil} {
			g := codec.NewGate(t)
			g.DenyCalls, g.DenyAll = deny, deny == nil
			denied := play(t, g, req, provider.Options{}, upstream)
			m := legal(t, denied)
			n := len(deny)
			if deny == nil || !normal {
				n = len(g.Calls)
			}
			if len(m.denied()) != n || len(m.calls()) != len(g.Calls)-n || m.usage != want.usage || m.end != want.end {
				t.Errorf("%s: denied %v, the client has\n%s", name, deny, m.show())
			}
		}
	}
	t.Logf("%d streams, %d with calls, %d ways to cut each", len(paths), withCalls, splits)
	if withCalls == 0 {
		t.Error("no stream has calls")
	}
}
