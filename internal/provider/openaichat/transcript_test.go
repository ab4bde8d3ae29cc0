package openaichat_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// playFile plays a transcript with the request that it may name.
func playFile(t testing.TB, f *codec.Transcript, pieces ...string) run {
	t.Helper()
	return play(t, f.Gate(t), request(t, strings.TrimSpace(f.Get("request"))), provider.Options{}, pieces...)
}

// Proves W1, W2, W3, W4, W5, W7, W8, W9, W14, W15, W16, W17, W18, W19, W20, W21, W22, W23, F6, F10,
// F11, P7, P16, P17, P20, P21, I24: transcripts, each in one chunk, event by event, byte by byte
// and with CRLF framing.
func TestTranscripts(t *testing.T) {
	codec.PlayTranscripts(t, func(t testing.TB, f *codec.Transcript, pieces ...string) run {
		t.Helper()
		r := playFile(t, f, pieces...)
		if !strings.Contains(r.Out, "\r\n") { // the client of the tests reads one framing
			legal(t, r)
		}
		return r
	})
}

// legal checks the output with the tests' own client.
func legal(t testing.TB, r run) {
	t.Helper()
	got, err := read(r.Out, true)
	if err != nil {
		// An end marker of the upstream after its error is kept.
		if !strings.Contains(r.Out, `"error"`) || !strings.HasSuffix(r.Out, "data: [DONE]\n\n") {
			t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
		}
		if got, err = read(strings.TrimSuffix(r.Out, "data: [DONE]\n\n"), true); err != nil {
			t.Fatalf("the client cannot read it: %v\n%s", err, r.Out)
		}
	}
	had := map[int]bool{}
	allowed := map[int][]string{}
	for _, j := range r.Gate.Calls {
		had[j.Choice] = true
		if j.Code == "" && j.End == stopgate.Ended {
			allowed[j.Choice] = append(allowed[j.Choice], string(j.Tool)+canonical(string(j.Raw)))
		}
	}
	if err := truthful(got, had); err != nil {
		t.Error(err)
	}
	for i, a := range got {
		var tools []string
		for _, c := range a.tools {
			args := c.args
			if c.kind == "custom" {
				args = canonical(`{"input":` + quote(c.args) + `}`)
			}
			tools = append(tools, c.name+canonical(args))
		}
		if want := allowed[i]; len(a.finish) > 0 && strings.Join(tools, " ") != strings.Join(want, " ") {
			t.Errorf("choice %d has the calls %q, want %q", i, tools, want)
		}
	}
}
