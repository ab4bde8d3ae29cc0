package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/session"
)

// textKey returns a key of hashes.
func textKey(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

// conversationsOf are conversations whose names may be taken for each other.
func conversationsOf() (all []flow.Conversation) {
	for _, o := range owners {
		all = append(all, flow.Conversation{Principal: o.Principal, Session: o.Session}, flow.Conversation{Principal: o.Principal, Session: o.Session, ID: "s/x"})
	}
	return all
}

// textsOf describes a log.
func textsOf(t *testing.T, s flow.Store, c flow.Conversation, after uint64) string {
	t.Helper()
	log, err := s.LoadTexts(ctx, c, after)
	if err != nil {
		t.Fatal(err)
	}
	if log.Key == nil {
		return "none"
	}
	return fmt.Sprintf("%d %s %d %s %t", log.Key[0], log.Meaning, log.Position, bytes.Join(log.Segments, []byte(" ")), log.Lost)
}

func segments(list ...string) (all [][]byte) {
	for _, s := range list {
		all = append(all, []byte(s))
	}
	return all
}

// Texts runs the suite of the texts of sessions.
func Texts(t *testing.T, open func(t *testing.T) gate.Store) {
	c := flow.Conversation{Principal: "p", Session: "s"}
	start := func(t *testing.T) flow.Store {
		s := open(t).Capabilities().Texts
		if s == nil {
			t.Fatal("the store keeps no texts")
		}
		return s
	}
	t.Run("Log", func(t *testing.T) {
		s := start(t)
		for i, step := range []struct {
			change flow.Change
			err    error
			want   string
		}{
			{flow.Change{Key: textKey(1), Meaning: "m", After: 1, Segments: segments("a")}, flow.ErrMoved, "none"},
			{flow.Change{Key: textKey(1), Meaning: "m", Segments: segments("a", "b")}, nil, "1 m 2 a b false"},
			{flow.Change{Key: textKey(1), Meaning: "m", Segments: segments("a", "b")}, flow.ErrMoved, "1 m 2 a b false"},
			{flow.Change{Key: textKey(2), Meaning: "m", After: 2, Segments: segments("x")}, flow.ErrMoved, "1 m 2 a b false"},
			{flow.Change{Key: textKey(1), Meaning: "m", After: 2, Segments: segments("c")}, nil, "1 m 3 a b c false"},
			{flow.Change{Key: textKey(9), Meaning: "n", Lost: true}, nil, "1 m 3 a b c true"},
			{flow.Change{Key: textKey(1), Meaning: "m", After: 3, Segments: segments("")}, nil, "1 m 4 a b c  true"},
			{flow.Change{Key: textKey(3), Meaning: "n", Segments: segments("d"), Replace: true}, nil, "3 n 1 d false"},
			{flow.Change{Key: textKey(1), Meaning: "m", After: 4, Segments: segments("e")}, flow.ErrMoved, "3 n 1 d false"},
			{flow.Change{Key: textKey(4), Meaning: "n", Replace: true, Lost: true}, nil, "4 n 0  true"},
		} {
			if err := s.AppendTexts(ctx, c, step.change); !errors.Is(err, step.err) || err != nil && step.err == nil {
				t.Errorf("step %d: %v, want %v", i, err, step.err)
			}
			if got := textsOf(t, s, c, 0); got != step.want {
				t.Errorf("step %d: %s, want %s", i, got, step.want)
			}
		}
		marked := flow.Conversation{Principal: "p", Session: "marked"}
		if err := s.AppendTexts(ctx, marked, flow.Change{Key: textKey(1), Lost: true, After: 7}); err != nil || textsOf(t, s, marked, 0) != "1  0  true" {
			t.Error(err, textsOf(t, s, marked, 0))
		}
	})
	t.Run("After", func(t *testing.T) {
		s := start(t)
		if err := s.AppendTexts(ctx, c, flow.Change{Key: textKey(1), Segments: segments("a", "b", "c")}); err != nil {
			t.Fatal(err)
		}
		for after, want := range map[uint64]string{0: "a b c", 2: "c", 3: "", 9: ""} {
			if got := textsOf(t, s, c, after); got != "1  3 "+want+" false" {
				t.Errorf("after %d: %s", after, got)
			}
		}
	})
	t.Run("Apart", func(t *testing.T) {
		s := start(t)
		all := conversationsOf()
		for i, c := range all {
			if err := s.AppendTexts(ctx, c, flow.Change{Key: textKey(byte(i)), Segments: segments(fmt.Sprint("t", i))}); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range all {
			if got, want := textsOf(t, s, c, 0), fmt.Sprintf("%d  1 t%d false", i, i); got != want {
				t.Errorf("%q: %s, want %s", c, got, want)
			}
		}
	})
	t.Run("Full", func(t *testing.T) {
		s := start(t)
		// In pieces: a statement with all of it would take longer than a store waits on a busy machine.
		const all, piece = 64 << 20, 4<<20 - 1
		big := bytes.Repeat([]byte("x"), piece)
		for n := range uint64(all / piece) {
			if err := s.AppendTexts(ctx, c, flow.Change{Key: textKey(1), After: n, Segments: [][]byte{big}}); err != nil {
				t.Fatal(n, err)
			}
		}
		if err := s.AppendTexts(ctx, c, flow.Change{Key: textKey(1), After: all / piece, Segments: [][]byte{big}}); !errors.Is(err, flow.ErrFull) {
			t.Error(err)
		}
		if log, err := s.LoadTexts(ctx, c, all/piece-1); err != nil || log.Position != all/piece || len(log.Segments) != 1 {
			t.Error(log.Position, len(log.Segments), err)
		}
	})
	t.Run("Joined", func(t *testing.T) { joinedTexts(t, open(t), c) })
	t.Run("Kept", func(t *testing.T) { keptTexts(t, start(t), c) })
	t.Run("Concurrent", func(t *testing.T) { race(t, []flow.Store{start(t)}, c) })
}

// joinedTexts are written with facts, or neither is.
func joinedTexts(t *testing.T, s gate.Store, c flow.Conversation) {
	if !s.Capabilities().JoinsTexts {
		return
	}
	logs, owner := s.Capabilities().Texts, session.Owner{Principal: c.Principal, Session: c.Session}
	update := func(fails error, change flow.Change) error {
		fact := note(own, "a", 1)
		return s.Update(ctx, owner, fact.Keys(), func(session.State) (gate.Change, error) {
			return gate.Change{Facts: []session.Fact{fact}, Texts: &change, TextsOf: c}, fails
		})
	}
	failed := errors.New("failed")
	for i, step := range []struct {
		change flow.Change
		fails  error
		want   error
		log    string
		facts  int
	}{
		{flow.Change{Key: textKey(1), Segments: segments("a")}, nil, nil, "1  1 a false", 1},
		{flow.Change{Key: textKey(1), After: 1, Segments: segments("b", "c")}, nil, nil, "1  3 a b c false", 2},
		{flow.Change{Key: textKey(1), After: 1, Segments: segments("x")}, nil, flow.ErrMoved, "1  3 a b c false", 2},
		{flow.Change{Key: textKey(2), After: 3, Segments: segments("x")}, nil, flow.ErrMoved, "1  3 a b c false", 2},
		{flow.Change{Key: textKey(1), After: 3, Segments: segments("x")}, failed, failed, "1  3 a b c false", 2},
		{flow.Change{Key: textKey(1), After: 3, Segments: [][]byte{make([]byte, 65<<20)}}, nil, flow.ErrFull, "1  3 a b c false", 2},
		{flow.Change{Key: textKey(1), After: 3, Segments: segments("d")}, nil, nil, "1  4 a b c d false", 3},
	} {
		if err := update(step.fails, step.change); !errors.Is(err, step.want) || err != nil && step.want == nil {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
		facts, err := s.Facts(ctx, owner, 0, 9)
		if got := textsOf(t, logs, c, 0); got != step.log || len(facts) != step.facts || err != nil {
			t.Errorf("step %d: %s and %d facts, want %s and %d (%v)", i, got, len(facts), step.log, step.facts, err)
		}
	}
	// A log that was begun and replaced while changes wait for one transaction.
	var together sync.WaitGroup
	for n := range 32 {
		together.Go(func() {
			of := flow.Conversation{Principal: "p", Session: stopgate.SessionID(fmt.Sprint("t", n))}
			for i := range uint64(4) {
				if err := logs.AppendTexts(ctx, of, flow.Change{Key: textKey(byte(n)), After: i, Segments: segments(fmt.Sprint(n, i))}); err != nil {
					t.Error(err)
				}
			}
			if err := logs.AppendTexts(ctx, of, flow.Change{Key: textKey(99), Segments: segments("z"), Replace: true}); err != nil || textsOf(t, logs, of, 0) != "99  1 z false" {
				t.Error(textsOf(t, logs, of, 0), err)
			}
		})
	}
	together.Wait()
}

// keptOf describes the kept texts of a log.
func keptOf(t *testing.T, s flow.Store, key []byte) string {
	t.Helper()
	list, err := s.KeptTexts(ctx, kept.LogID(key))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, one := range list {
		a, err := kept.Parse(one.Text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d:%s ", one.Number, a.Message.Text)
	}
	return strings.TrimSpace(b.String())
}

// stored returns the stored forms of messages; "" is one that is not kept.
func stored(list ...string) (all [][]byte) {
	for _, text := range list {
		if text == "" {
			all = append(all, nil)
			continue
		}
		all = append(all, (&kept.Addition{Message: &flow.Message{Source: flow.User, Text: []byte(text)}}).Append(nil))
	}
	return all
}

// keptTexts have the numbers of their segments, belong to one log, and outlast it.
func keptTexts(t *testing.T, s flow.Store, c flow.Conversation) {
	append := func(want error, change flow.Change) {
		t.Helper()
		if err := s.AppendTexts(ctx, c, change); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	append(nil, flow.Change{Key: textKey(1), Segments: segments("a", "b", "c"), Texts: stored("one", "", "three")})
	append(flow.ErrMoved, flow.Change{Key: textKey(1), Segments: segments("x"), Texts: stored("other")})
	append(nil, flow.Change{Key: textKey(1), After: 3, Segments: segments("d")})
	append(nil, flow.Change{Key: textKey(1), After: 4, Segments: segments("e"), Texts: stored("five")})
	log, err := s.LoadTexts(ctx, c, 0)
	if n := len(stored("one")[0]) + len(stored("three")[0]) + len(stored("five")[0]); err != nil || log.Kept != int64(n) {
		t.Errorf("%d bytes are kept, want %d; %v", log.Kept, n, err)
	}
	if got := keptOf(t, s, textKey(1)); got != "1:one 3:three 5:five" {
		t.Error(got)
	}
	append(nil, flow.Change{Key: textKey(2), Segments: segments("f"), Texts: stored("new"), Replace: true})
	if got := keptOf(t, s, textKey(1)) + "; " + keptOf(t, s, textKey(2)); got != "1:one 3:three 5:five; 1:new" {
		t.Error(got)
	}
	if log, err := s.LoadTexts(ctx, c, 0); err != nil || log.Kept != int64(len(stored("new")[0])) {
		t.Errorf("%d bytes are kept of the new log, %v", log.Kept, err)
	}
	if got := keptOf(t, s, textKey(3)); got != "" {
		t.Errorf("an unknown log has %s", got)
	}
}

// race appends from several goroutines; every segment is in the log once.
func race(t *testing.T, stores []flow.Store, c flow.Conversation) {
	var running sync.WaitGroup
	var moved atomic.Int64
	for i := range 4 {
		s := stores[i%len(stores)]
		running.Go(func() {
			for n := range 10 {
				for {
					log, err := s.LoadTexts(ctx, c, 1<<40)
					if err == nil {
						err = s.AppendTexts(ctx, c, flow.Change{Key: textKey(1), After: log.Position, Segments: segments(fmt.Sprint(i, ".", n))})
					}
					if err == nil {
						break
					}
					if !errors.Is(err, flow.ErrMoved) {
						t.Error(err)
						return
					}
					moved.Add(1)
				}
			}
		})
	}
	running.Wait()
	log, err := stores[0].LoadTexts(ctx, c, 0)
	seen := map[string]bool{}
	for _, segment := range log.Segments {
		seen[string(segment)] = true
	}
	if err != nil || len(log.Segments) != 40 || len(seen) != 40 {
		t.Errorf("%d segments, %d different, %v; %d moved", len(log.Segments), len(seen), err, moved.Load())
	}
}

// sharedTexts are seen by every process, survive it, and are deleted with their session.
func sharedTexts(t *testing.T, open func() backend.Store) {
	one, two := open(), open()
	c := flow.Conversation{Principal: "p", Session: "s"}
	race(t, []flow.Store{one.Capabilities().Texts, two.Capabilities().Texts}, c)
	want := textsOf(t, one.Capabilities().Texts, c, 0)
	if got := textsOf(t, open().Capabilities().Texts, c, 0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	now := time.Now()
	owner := session.Owner{Principal: "p", Session: "s"}
	Add(t, one, owner, session.Fact{Kind: session.Spoke, At: now.UnixMilli()})
	if _, err := one.Retain(ctx, backend.Retention{Rows: now.Add(-time.Hour)}, now); err != nil || textsOf(t, two.Capabilities().Texts, c, 0) != want {
		t.Error("texts of a session that was not pruned were deleted", err)
	}
	pruned, err := one.Retain(ctx, backend.Retention{Rows: now.Add(time.Hour)}, now.Add(time.Hour))
	if err != nil || pruned.Texts != 1 || textsOf(t, two.Capabilities().Texts, c, 0) != "none" {
		t.Errorf("%+v, %v", pruned, err)
	}
	keptByAge(t, open)
}

// keptByAge: kept texts are seen by every process, and are deleted by the age of arguments.
func keptByAge(t *testing.T, open func() backend.Store) {
	one, two := open(), open()
	c := flow.Conversation{Principal: "p", Session: "kept"}
	change := flow.Change{Key: textKey(7), Segments: segments("a"), Texts: stored("text")}
	if err := one.Capabilities().Texts.AppendTexts(ctx, c, change); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, step := range []struct {
		keep backend.Retention
		want string
		gone int64
	}{
		{backend.Retention{}, "1:text", 0},
		{backend.Retention{Arguments: now.Add(-time.Hour), Rows: now.Add(-2 * time.Hour)}, "1:text", 0},
		{backend.Retention{Arguments: now.Add(time.Hour)}, "", 1},
	} {
		pruned, err := one.Retain(ctx, step.keep, now)
		if got := keptOf(t, two.Capabilities().Texts, textKey(7)); err != nil || got != step.want || pruned.KeptTexts != step.gone {
			t.Errorf("%+v: %q, %d pruned, %v", step.keep, got, pruned.KeptTexts, err)
		}
	}
	if log, err := two.Capabilities().Texts.LoadTexts(ctx, c, 0); err != nil || log.Position != 1 {
		t.Errorf("the hashes went with the text: %+v, %v", log, err)
	}
}
