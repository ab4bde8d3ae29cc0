package tui_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/testkit/chat"
)

// timed is a model that records when the last bytes of its responses arrived.
type timed struct {
	next http.RoundTripper
	last *atomic.Int64
}

func (m timed) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := m.next.RoundTrip(r)
	if err == nil {
		res.Body = timedBody{res.Body, m.last}
	}
	return res, err
}

type timedBody struct {
	io.ReadCloser
	last *atomic.Int64
}

func (b timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.last.Store(time.Now().UnixNano())
	return n, err
}

// decisions records the bytes at which a call was decided.
type decisions struct {
	agent.Watcher
	last    *atomic.Int64
	decided atomic.Int64
}

func (d *decisions) Call(c agent.Call) {
	if c.Verdict.Decided && c.State == agent.Arriving {
		d.decided.CompareAndSwap(0, d.last.Load())
	}
	d.Watcher.Call(c)
}

// BenchmarkPromptReplay measures the same as BenchmarkPrompt with the replay upstream at the pace
// of a fast model: from the deciding bytes to the question on the screen, while the rest of the
// call arrives. p99 must stay under 20 ms.
func BenchmarkPromptReplay(b *testing.B) {
	var script strings.Builder
	script.WriteString("model stopgate-test\n")
	for i := range b.N {
		fmt.Fprintf(&script, "turn\nsay I write it.\ncall fs_create_file\n  path string src/main%d.rs\n  content repeat 60 a line of the file %%d\n", i)
	}
	scenario, err := replay.ParseScenario("bench", []byte(script.String()))
	if err != nil {
		b.Fatal(err)
	}
	up, err := replay.New(replay.Options{Scenarios: []*replay.Scenario{scenario}, TokensPerSecond: 400})
	if err != nil {
		b.Fatal(err)
	}
	last := new(atomic.Int64)
	board, out := tui.NewBoard(), newWatchedScreen(b)
	watch := &decisions{Watcher: board, last: last}
	rig := chat.New(b, chat.Options{
		Script: "turn\nsay never asked\n", Watch: watch, API: provider.Chat,
		Policy:    "version = 1\n[tools.fs_create_file.policy]\nrun = [{ arg = \"/path\", prefix = \"free\", mode = \"unattended\" }, { arg = \"/path\", prefix = \"src\", mode = \"ask\" }, { mode = \"deny\" }]\n",
		Transport: func(http.RoundTripper) http.RoundTripper { return timed{replay.Transport(up), last} },
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
	for range b.N {
		watch.decided.Store(0)
		shown := out.expect("fs_create_file wants to run")
		p.writes("go")
		took = append(took, (<-shown).Sub(time.Unix(0, watch.decided.Load())))
		over := out.expect("not run: say what to do instead")
		p.presses('n')
		<-over
	}
	p.types("\x04")
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
