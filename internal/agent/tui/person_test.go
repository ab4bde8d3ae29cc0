package tui_test

import (
	"context"
	"flag"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/chat"
	"github.com/stopgate/stopgate/internal/testkit/vt"
)

var update = flag.Bool("update", false, "write golden frames and the demonstration anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// person is a simulated person at a screen.
type person struct {
	*chat.Rig
	session *tui.Session
	screen  *vt.Screen
	edit    func(text string) (string, error)
	drains  int
	ended   chan error
	now     atomic.Int64 // milliseconds
}

// settings change a session before it starts.
type settings func(o *tui.Options, c *chat.Options)

// sit starts a session with a person.
func sit(t *testing.T, script string, change ...settings) *person {
	t.Helper()
	p := &person{ended: make(chan error, 1)}
	board := tui.NewBoard()
	o := tui.Options{Board: board, Style: tui.Style{Width: 80, Height: 40, Live: true}}
	c := chat.Options{Script: script, Watch: board}
	for _, f := range change {
		f(&o, &c)
	}
	o.Now = func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(p.now.Load()) * time.Millisecond)
	}
	c.Now = o.Now
	p.screen = vt.New(o.Style.Width, o.Style.Height, io.Discard)
	io.WriteString(p.screen, "\x1b[20h") // a line feed returns the carriage, as the driver of a terminal does it
	p.Rig = chat.New(t, c)
	o.Agent, o.Questions, o.Tools, o.Saved = p.Rig.Agent, p.Rig.Questions, p.Rig.Tools, p.Saved
	o.Drain = func() { p.drains++ }
	o.Edit = func(_ context.Context, _, text string) (string, error) { return p.edit(text) }
	if o.Out == nil {
		o.Out = p.screen
	} else {
		o.Out = io.MultiWriter(o.Out, p.screen)
	}
	p.session = tui.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := p.session.Run(ctx, "", false)
		p.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-p.ended:
		case <-time.After(time.Minute):
			t.Error("the session does not end")
		}
		p.screen.Close()
		if unknown := p.screen.Unknown(); len(unknown) > 0 {
			t.Errorf("drawn with %q", unknown)
		}
	})
	return p
}

// presses types keys, one per read.
func (p *person) presses(runes ...rune) {
	p.T.Helper()
	for _, k := range runes {
		p.session.Send(nil) // taken when the earlier input was handled
		p.session.Received()
		p.session.Send(keys(k))
	}
}

// types types keys that are read at once.
func (p *person) types(text string) {
	p.session.Send(nil)
	p.session.Received()
	for _, k := range text {
		p.session.Send(keys(k))
	}
}

// keys returns the message of a key.
func keys(k rune) tea.KeyPressMsg {
	switch {
	case k == '\r':
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case k == '\b':
		return tea.KeyPressMsg{Code: tea.KeyBackspace}
	case k < ' ' && k != tea.KeyEscape:
		return tea.KeyPressMsg{Code: k + 'a' - 1, Mod: tea.ModCtrl}
	case k < ' ' || k > tea.KeyExtended:
		return tea.KeyPressMsg{Code: k}
	}
	return tea.KeyPressMsg{Code: k, Text: string(k)}
}

// later advances the time after all input was handled.
func (p *person) later(milliseconds int64) {
	p.T.Helper()
	p.session.Send(nil) // taken when the earlier input was handled
	p.now.Add(milliseconds)
}

// writes types a line and Enter.
func (p *person) writes(text string) {
	p.T.Helper()
	p.types(text + "\r")
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
			p.T.Fatalf("%q is not on the screen:\n%s", text, p.screen)
		}
	}
	return p.screen.String()
}

// loses waits until the screen does not contain a text any more: it is drawn in several writes.
func (p *person) loses(text string) {
	p.T.Helper()
	for end := time.Now().Add(15 * time.Second); strings.Contains(p.screen.String(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.T.Fatalf("%q still is on the screen:\n%s", text, p.screen)
		}
	}
}
