package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// joining is a store that takes texts only with facts, and may refuse every update after it was made.
type joining struct {
	*sqlite.Store
	t       *testing.T
	refuses error
}

func (s *joining) Capabilities() gate.Capabilities {
	c := s.Store.Capabilities()
	c.Texts = s
	return c
}

func (s *joining) AppendTexts(_ context.Context, c flow.Conversation, change flow.Change) error {
	s.t.Errorf("%d segments were added to %q after the release", len(change.Segments), c.Session)
	return errors.New("alone")
}

func (s *joining) Update(ctx context.Context, o session.Owner, keys []session.Key, decide func(session.State) (gate.Change, error)) error {
	return s.Store.Update(ctx, o, keys, func(state session.State) (gate.Change, error) {
		change, err := decide(state)
		if change.Texts != nil && err == nil {
			err = s.refuses
		}
		return change, err
	})
}

// A released call is in the texts of its session, for every process, by the transaction of its facts and
// its row; a call that was not released is not in them. Calls of one turn are added in their order.
func TestTextsJoinReleases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	reading := &ports.Reading{Policy: p, Texts: &ports.Texts{Version: "1"}, Version: "h", Keep: true}
	gateOf := func(s gate.Store, r gate.Recorder) *gate.Gate {
		g, err := gate.New(reading, gate.WithStore(s), gate.WithRecorder(r))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	s, other := &joining{Store: open(t, path), t: t}, open(t, path)
	g := gateOf(s, s.Recorder())
	decide := func(g *gate.Gate, a string) bool {
		t.Helper()
		out, err := g.Decide(ctx, stopgate.Call{Tool: "t", Session: "s", Principal: "local", Args: []byte(`{"a":"` + a + `"}`)})
		if out.Allowed() != (err == nil) {
			t.Fatal(err)
		}
		return out.Allowed()
	}
	if !decide(g, "one") || decide(g, "no") {
		t.Error("the first call should be allowed, the second denied")
	}
	s.refuses = errors.New("the disk is full")
	if decide(g, "two") {
		t.Error("a call was released without its texts")
	}
	if s.refuses = nil; !decide(g, "three") {
		t.Error("the store works again")
	}
	turn := g.Turn(session.Owner{Principal: "local", Session: "s"}, "turn")
	var calls []*gate.Pending
	for _, a := range []string{"four", "five"} {
		p, err := turn.Open(ctx, stopgate.Call{Tool: "t"})
		if err != nil {
			t.Fatal(err)
		}
		p.Feed([]byte(`{"a":"` + a + `"}`))
		p.Close(stopgate.Ended)
		calls = append(calls, p)
	}
	for _, out := range g.ResolveAll(ctx, calls) {
		if !out.Allowed() {
			t.Error(out.Verdict.Code)
		}
	}
	decide(gateOf(other, other.Recorder()), "no")
	got := strings.Fields(strings.NewReplacer(`call t: {"a":"`, "", `"}`, "", ",", "").Replace(reading.Last()))
	if want := []string{"one", "three", "four", "five"}; !slices.Equal(got, want) {
		t.Errorf("another process has the calls %q, want %q", got, want)
	}
}
