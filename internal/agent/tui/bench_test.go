package tui_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/chat"
	"github.com/stopgate/stopgate/internal/testkit/vt"
)

// byHand is a provider whose responses the benchmark writes event by event.
type byHand struct{ asked chan *io.PipeWriter }

func (b byHand) RoundTrip(r *http.Request) (*http.Response, error) {
	pr, pw := io.Pipe()
	b.asked <- pw
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
}

// watchedScreen records when a text appears on the screen once more.
type watchedScreen struct {
	*vt.Screen
	mu   sync.Mutex
	text string
	had  int
	seen chan time.Time
}

func newWatchedScreen(b *testing.B) *watchedScreen {
	s := vt.New(80, 40, io.Discard)
	b.Cleanup(func() { s.Close() })
	io.WriteString(s, "\x1b[20h")
	return &watchedScreen{Screen: s}
}

func (w *watchedScreen) expect(text string) <-chan time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text, w.had, w.seen = text, strings.Count(w.String(), text), make(chan time.Time, 1)
	return w.seen
}

func (w *watchedScreen) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.Screen.Write(p)
	now := time.Now()
	if w.text == "" {
		return n, err
	}
	switch count := strings.Count(w.String(), w.text); {
	case count > w.had:
		w.seen <- now
		w.text = ""
	default:
		w.had = count // an earlier one is gone
	}
	return n, err
}

// BenchmarkPrompt measures the time from the deciding byte to the question on the screen, through
// codec, gate, question queue and drawing. p99 must stay under 20 ms.
func BenchmarkPrompt(b *testing.B) {
	board, out := tui.NewBoard(), newWatchedScreen(b)
	model := byHand{make(chan *io.PipeWriter)}
	rig := chat.New(b, chat.Options{
		Script: "turn\nsay never asked\n", Watch: board, API: provider.Chat,
		Policy:    "version = 1\n[tools.fs_create_file.policy]\nrun = [{ arg = \"/path\", prefix = \"free\", mode = \"unattended\" }, { arg = \"/path\", prefix = \"src\", mode = \"ask\" }, { mode = \"deny\" }]\n",
		Transport: func(http.RoundTripper) http.RoundTripper { return model },
	})
	s := tui.New(tui.Options{
		Agent: rig.Agent, Board: board, Questions: rig.Questions, Tools: rig.Tools, Out: out, Style: tui.Style{Width: 80, Height: 40, Live: true, Color: true},
	})
	p := &person{Rig: rig, session: s}
	done := make(chan error)
	go func() {
		_, err := s.Run(b.Context(), "", false)
		done <- err
	}()
	var took []time.Duration
	for i := range b.N {
		p.writes("go")
		answer := <-model.asked
		send := func(delta string) {
			fmt.Fprintf(answer, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", delta)
		}
		send(`{"role":"assistant","content":"I write it."}`)
		send(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"c%d","type":"function","function":{"name":"fs_create_file","arguments":""}}]}`, i))
		// A question may be drawn over the one before it: each has a path of its own.
		send(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"src/%06d.rs"}}]}`, i))
		shown := out.expect(fmt.Sprintf(`path  "src/%06d.rs"`, i))
		began := time.Now()
		send(`{"tool_calls":[{"index":0,"function":{"arguments":"\""}}]}`)
		took = append(took, (<-shown).Sub(began))
		over := out.expect("not run: say what to do instead")
		p.presses('n')
		<-over
		answer.Close()
	}
	p.types("\x04")
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
