package tui_test

import (
	"context"
	"flag"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/chat"
	"github.com/stopgate/stopgate/internal/testkit/vt"
)

var update = flag.Bool("update", false, "write golden frames and the demonstration anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// person is a simulated person at a screen.
type person struct {
	*chat.Rig
	screen *vt.Screen
	keys   chan tui.Keys
	edit   func(text string) (string, error)
	lines  bool
	drains int
	ended  chan error
	now    atomic.Int64 // milliseconds
}

// Keys implements tui.Keyboard, as the other methods do.
func (p *person) Keys() <-chan tui.Keys { return p.keys }
func (p *person) More()                 {}
func (p *person) Drain()                { p.drains++ }
func (p *person) Lines() bool           { return p.lines }
func (p *person) Edit(_ context.Context, _, text string) (string, error) {
	return p.edit(text)
}

// settings change a session before it starts.
type settings func(o *tui.Options, c *chat.Options)

// sit starts a session with a person.
func sit(t *testing.T, script string, change ...settings) *person {
	t.Helper()
	p := &person{keys: make(chan tui.Keys), ended: make(chan error, 1)}
	board := tui.NewBoard()
	o := tui.Options{Board: board, Style: tui.Style{Width: 80, Height: 40, Live: true}, Raw: true}
	c := chat.Options{Script: script, Watch: board}
	for _, f := range change {
		f(&o, &c)
	}
	o.Now = func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(p.now.Load()) * time.Millisecond)
	}
	c.Now = o.Now
	p.screen = vt.New(o.Style.Width)
	p.Rig = chat.New(t, c)
	o.Agent, o.Questions, o.Tools, o.Keyboard, o.Saved = p.Rig.Agent, p.Rig.Questions, p.Rig.Tools, p, p.Saved
	if o.Out == nil {
		o.Out = p.screen
	} else {
		o.Out = io.MultiWriter(o.Out, p.screen)
	}
	s := &tui.Session{Options: o}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := s.Run(ctx, "", false)
		p.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-p.ended:
		case <-time.After(time.Minute):
			t.Error("the session does not end")
		}
		if odd := p.screen.Odd(); len(odd) > 0 {
			t.Errorf("drawn with %q", odd)
		}
	})
	return p
}

// presses types keys, one per read.
func (p *person) presses(keys ...tui.Key) {
	p.T.Helper()
	for _, k := range keys {
		p.types(tui.Keys{Keys: []tui.Key{k}})
	}
}

func (p *person) types(k tui.Keys) {
	p.T.Helper()
	select {
	case p.keys <- k:
	case <-time.After(time.Minute):
		p.T.Fatalf("nobody reads the keys; the screen shows\n%s", p.screen)
	}
}

// later advances the time after all input was handled.
func (p *person) later(milliseconds int64) {
	p.T.Helper()
	p.types(tui.Keys{}) // taken when the earlier input was handled
	p.now.Add(milliseconds)
}

// writes types a line and Enter.
func (p *person) writes(text string) {
	p.T.Helper()
	var keys []tui.Key
	for _, r := range text {
		keys = append(keys, tui.Key(r))
	}
	p.types(tui.Keys{Keys: append(keys, '\r')})
}

// sees waits until the screen contains texts.
func (p *person) sees(texts ...string) string {
	p.T.Helper()
	for _, text := range texts {
		found := false
		for end := time.Now().Add(15 * time.Second); !found && time.Now().Before(end); time.Sleep(time.Millisecond) {
			found = strings.Contains(p.screen.String(), text)
		}
		if !found {
			p.T.Fatalf("%q does not stand on the screen:\n%s", text, p.screen)
		}
	}
	return p.screen.String()
}

var _ tui.Keyboard = (*person)(nil)
var _ = agent.Interrupted
