package gemini_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/gemini"
	"github.com/stopgate/stopgate/internal/testkit/codec"
)

// Every transcript gives the same events and the same stream in every framing.
func TestTranscripts(t *testing.T) {
	codec.PlayTranscripts(t, func(t testing.TB, f *codec.Transcript, pieces ...string) codec.Run {
		t.Helper()
		return play(t, f.Gate(t), request(t), provider.Options{}, pieces...)
	})
}

// array returns the responses of a stream as the JSON array that clients get without alt=sse.
func array(stream string) string {
	var list []string
	for _, event := range strings.Split(stream, "\n\n") {
		if data, ok := strings.CutPrefix(event, "data: "); ok {
			list = append(list, data)
		}
	}
	return "[" + strings.Join(list, ",\r\n") + "]"
}

// The responses of every transcript, sent as one array, get the same verdicts and the same
// responses for the client.
func TestArraysLikeStreams(t *testing.T) {
	for _, f := range codec.Transcripts(t) {
		t.Run(f.Name, func(t *testing.T) {
			streamed := play(t, f.Gate(t), request(t), provider.Options{}, f.Get("upstream"))
			if streamed.Err != nil || strings.Contains(f.Get("upstream"), `"error"`) {
				return // the stream ends with an error, the array is refused
			}
			g := f.Gate(t)
			out, _, err := codec.PlayBody(t, gemini.Dialect{}.Body(request(t), g, provider.Options{}), g, array(f.Get("upstream")))
			if err != nil {
				t.Fatal(err)
			}
			if want := array(streamed.Out); out != want {
				t.Errorf("the array is\n%s\nwant\n%s", out, want)
			}
			if g.Log.String() != streamed.Gate.Log.String() {
				t.Errorf("events\n%s\nwant\n%s", g.Log.String(), streamed.Gate.Log.String())
			}
		})
	}
}
