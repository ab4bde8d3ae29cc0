package codec

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
)

// Texts lists the texts of a request, one a line: the source, or the id of the call of a result, and
// the text. "+" marks content that is no text for the gate.
func Texts(r *provider.Request) string {
	var lines []string
	for i := range r.Texts {
		t := &r.Texts[i]
		who := string(t.Source)
		if t.IsResult() {
			who = string(r.History[t.Call].Call) + ":" + string(r.History[t.Call].Tool)
		}
		text, opaque := t.Read(r.History)
		line := who + " " + strings.ReplaceAll(string(text), "\n", "|")
		if opaque {
			line += "+"
		}
		lines = append(lines, line)
	}
	for _, id := range r.Unseen {
		lines = append(lines, "unseen "+id)
	}
	return strings.Join(lines, "\n")
}

// resultLog lists the starts of calls and the results of a response, in their order.
type resultLog struct {
	provider.Sink
	lines []string
}

// Event implements [provider.Sink].
func (l *resultLog) Event(e *stopgate.Event) {
	if e.Kind == stopgate.CallStarted {
		l.lines = append(l.lines, "call "+string(e.Tool))
	}
	l.Sink.Event(e)
}

func (l *resultLog) options() provider.Options {
	return provider.Options{Result: func(text []byte, opaque bool) {
		line := "result " + strings.ReplaceAll(string(text), "\n", "|")
		if opaque {
			line += "+"
		}
		l.lines = append(l.lines, line)
	}}
}

// StreamResults returns the starts of calls and the results of the provider's tools in a stream, one
// a line. The stream is passed as a whole and byte by byte, with the same lines.
func StreamResults(t testing.TB, d provider.Dialect, r *provider.Request, stream string) string {
	t.Helper()
	play := func(pieces ...string) string {
		l := &resultLog{}
		run := playOnce(t, func(g *Gate, o provider.Options, _ bool) provider.Stream {
			l.Sink = g
			return d.Stream(r, l, o)
		}, NewGate(t), l.options(), oneByOne, pieces...)
		if run.Err != nil {
			t.Fatal(run.Err)
		}
		return strings.Join(l.lines, "\n")
	}
	whole := play(stream)
	if apart := play(strings.Split(stream, "")...); apart != whole {
		t.Errorf("byte by byte:\n%s\nas a whole:\n%s", apart, whole)
	}
	return whole
}

// BodyResults is like [StreamResults] for a response that is not streamed.
func BodyResults(t testing.TB, d provider.Dialect, r *provider.Request, body string) string {
	t.Helper()
	l := &resultLog{Sink: NewGate(t)}
	if _, err := d.Body(r, l, l.options()).Decode([]byte(body)); err != nil {
		t.Fatal(err)
	}
	return strings.Join(l.lines, "\n")
}
