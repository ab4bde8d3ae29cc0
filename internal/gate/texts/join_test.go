package texts_test

import (
	"errors"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
)

// join releases a call with write, and adds it afterwards if it did not join the release, as the gate does.
func (p *process) join(c flow.Conversation, args string, write func(*flow.Change) error) (joined bool) {
	call := []kept.Addition{{Call: &kept.Call{Tool: "t", Args: []byte(args)}}}
	released := false
	joined = p.Join(p.access(c), call, func(change *flow.Change) error {
		err := write(change)
		released = err == nil
		return err
	})
	if released && !joined {
		if err := p.Add(p.t.Context(), p.access(c), false, call); err != nil && !errors.Is(err, flow.ErrFull) {
			p.t.Error(err)
		}
	}
	return joined
}

// release is a release that the store accepts.
func (p *process) release(l *logs, c flow.Conversation) func(*flow.Change) error {
	return func(change *flow.Change) error {
		if change == nil {
			return nil
		}
		return l.AppendTexts(p.t.Context(), c, *change)
	}
}

// A call joins its release: one change has it, no read of the store comes before, and others see it.
func TestJoin(t *testing.T) {
	l, c := newLogs(), of("s")
	p := newProcess(t, l, 1<<20)
	p.must(p.say(c, false, "one"))
	p.wants(c, "one")
	before := l.loads
	if !p.join(c, "1", p.release(l, c)) || !p.join(c, "2", p.release(l, c)) || l.loads != before {
		t.Errorf("a call did not join its release, or %d reads", l.loads-before)
	}
	p.must(p.result(c, "two"))
	for _, p := range []*process{p, newProcess(t, l, 1<<20)} {
		p.wants(c, "one call t: 1 call t: 2 result t: two")
	}
}

// The first text of a conversation can be a call.
func TestJoinFirst(t *testing.T) {
	l, c := newLogs(), of("s")
	p := newProcess(t, l, 1<<20)
	p.wants(c, "")
	if !p.join(c, "1", p.release(l, c)) {
		t.Error("a call did not join its release")
	}
	newProcess(t, l, 1<<20).wants(c, "call t: 1")
}

// Where memory does not have the log as it is, the call is released without it and added afterwards.
func TestJoinNotCurrent(t *testing.T) {
	l, c := newLogs(), of("s")
	a, b := newProcess(t, l, 1<<20), newProcess(t, l, 1<<20)
	if a.join(c, "1", a.release(l, c)) {
		t.Error("a conversation that is not in memory")
	}
	a.wants(c, "call t: 1")
	b.must(b.say(c, false, "one"))
	if a.join(c, "2", a.release(l, c)) {
		t.Error("a log that another process changed")
	}
	a.wants(c, "call t: 1 one call t: 2")
	l.full = 3
	if a.join(c, "3", a.release(l, c)) {
		t.Error("a log that is full")
	}
	a.wants(c, "-")
	if !l.all[c].Lost {
		t.Error("a call is missing and the store does not have that")
	}
	a.keep = false
	other := of("o")
	a.wants(other, "")
	if a.join(other, "1", a.release(l, other)) {
		t.Error("texts that the store does not keep")
	}
	if log := l.all[other]; log == nil || !log.Lost || len(log.Segments) > 0 {
		t.Errorf("the store has %+v", log)
	}
}

// A release that fails leaves no call in memory that the store does not have, and one that was made all
// the same leaves it.
func TestJoinRefused(t *testing.T) {
	l, c := newLogs(), of("s")
	p := newProcess(t, l, 1<<20)
	p.must(p.say(c, false, "one"))
	refused := errors.New("refused")
	if p.join(c, "1", func(*flow.Change) error { return refused }) {
		t.Error("a release that was refused has the call")
	}
	p.wants(c, "one")
	l.lose = refused
	if p.join(c, "2", p.release(l, c)) {
		t.Error("a release with an error has the call")
	}
	l.lose = nil
	p.wants(c, "one call t: 2")
	if !p.join(c, "3", p.release(l, c)) {
		t.Error("a call did not join its release")
	}
	p.wants(c, "one call t: 2 call t: 3")
}

// A reader that panics does not keep a call from its release; the texts are lost.
func TestJoinPanic(t *testing.T) {
	l, c := newLogs(), of("s")
	p := newProcess(t, l, 1<<20)
	p.must(p.say(c, false, "one"))
	p.reader.Panic = "1"
	wrote := 0
	p.Join(p.access(c), []kept.Addition{{Call: &kept.Call{Tool: "t", Args: []byte("1")}}}, func(change *flow.Change) error {
		if change != nil {
			t.Error("a change of texts that are lost")
		}
		wrote++
		return nil
	})
	if wrote != 1 {
		t.Errorf("released %d times", wrote)
	}
	p.wants(c, "-")
}
