package gemini_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini"
	"github.com/stopgate/stopgate/internal/testkit/codec"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// recorded is the request of recorded streams: the tools of the provider are allowed.
func recorded() *provider.Request {
	return &provider.Request{N: 1, ServerTools: []string{"codeExecution", "googleSearch"}}
}

// Recorded streams without calls are forwarded byte for byte. Allowed calls keep id, name and
// arguments; a denied call is gone from the stream and its text takes its place. Where the bytes are
// cut changes nothing.
func TestRecordedStreams(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "gemini"), "*.sse"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no streams", err)
	}
	withCalls := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		upstream, name := string(b), filepath.Base(path)
		r := play(t, codec.NewGate(t), recorded(), provider.Options{}, upstream)
		if r.Err != nil {
			t.Errorf("%s: %v", name, r.Err)
			continue
		}
		for _, size := range []int{1, 7, 64} {
			var pieces []string
			for p := range slices.Chunk(b, size) {
				pieces = append(pieces, string(p))
			}
			if again := play(t, codec.NewGate(t), recorded(), provider.Options{}, pieces...); again.Out != r.Out {
				t.Fatalf("%s: other bytes in pieces of %d", name, size)
			}
		}
		got, want := read(t, r.Out), read(t, upstream)
		if len(r.Gate.Calls) == 0 {
			if r.Out != upstream {
				t.Errorf("%s: has no calls and was changed:\n%s", name, r.Out)
			}
			continue
		}
		withCalls++
		if !slices.Equal(got.calls, want.calls) || !slices.Equal(got.texts, want.texts) || !slices.Equal(got.finish, want.finish) {
			t.Errorf("%s: the client has\n%+v\nwant\n%+v", name, got, want)
		}
		if n := strings.Count(r.Out, "thoughtSignature"); n != strings.Count(upstream, "thoughtSignature") {
			t.Errorf("%s: %d signatures", name, n)
		}
		last := len(r.Gate.Calls) - 1
		for _, deny := range []map[int]bool{{0: true}, {last: true}, nil} {
			g := codec.NewGate(t)
			g.DenyCalls, g.DenyAll = deny, deny == nil
			denied := read(t, play(t, g, recorded(), provider.Options{}, upstream).Out)
			n := len(deny)
			if deny == nil {
				n = len(g.Calls)
			}
			if len(denied.calls) != len(g.Calls)-n || strings.Count(strings.Join(denied.texts, ""), "[stopgate]") != n || !slices.Equal(denied.finish, want.finish) {
				t.Errorf("%s: denied %v, the client has\n%+v", name, deny, denied)
			}
		}
		g := codec.NewGate(t)
		out, _, err := codec.PlayBody(t, gemini.Dialect{}.Body(recorded(), g, provider.Options{}), g, array(strings.ReplaceAll(upstream, "\r\n", "\n")))
		if err != nil || !bytes.Contains([]byte(out), []byte("functionCall")) || len(g.Calls) != len(r.Gate.Calls) {
			t.Errorf("%s: as an array: %v", name, err)
		}
	}
	t.Logf("%d streams, %d with calls", len(paths), withCalls)
}
