package texts_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/gate/texts"
)

// guessed is a conversation that no store has.
var guessed = flow.Conversation{Principal: "p", Session: "weak/1", ID: "a"}

func (p *process) call(c flow.Conversation, args string) error {
	return p.Add(p.t.Context(), p.access(c), false, []kept.Addition{{Call: &kept.Call{Tool: "t", Args: []byte(args)}}})
}

func (p *process) result(c flow.Conversation, text string) error {
	return p.Add(p.t.Context(), p.access(c), false, []kept.Addition{{Result: &flow.Result{Tool: "t", Data: []byte(text)}}})
}

func (p *process) entries(c flow.Conversation) string {
	p.t.Helper()
	v, _, err := p.View(p.t.Context(), p.access(c))
	if err != nil {
		p.t.Fatal(err)
	}
	return entriesOf(v)
}

// A released call waits where no store has the texts, and is in the index before every text that is
// read after it.
func TestCallsWaitForTheNextText(t *testing.T) {
	p := newProcess(t, newLogs(), 1<<20)
	p.must(p.say(guessed, true, "one"))
	p.must(p.call(guessed, `{"a":1}`))
	p.must(p.call(guessed, `{"b":2}`))
	if got := p.entries(guessed); got != "user: one" {
		t.Errorf("a call was read with its release: %q", got)
	}
	p.must(p.result(guessed, "two"))
	p.must(p.call(guessed, `{"c":3}`))
	p.must(p.say(guessed, false, "three"))
	if got, want := p.entries(guessed), "user: one\ncall t: {\"a\":1}\ncall t: {\"b\":2}\nresult t: two\ncall t: {\"c\":3}\nuser: three"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A call of a session that a store has is read and stored with its release: another process may need
// it next.
func TestCallsOfStoredSessionsDoNotWait(t *testing.T) {
	l := newLogs()
	a, b := newProcess(t, l, 1<<20), newProcess(t, l, 1<<20)
	a.must(a.say(of("s"), false, "one"))
	a.must(a.call(of("s"), `{"a":1}`))
	if got := b.entries(of("s")); got != "user: one\ncall t: {\"a\":1}" {
		t.Errorf("another process has %q", got)
	}
}

// Calls that wait are not lost silently: the conversation has no texts after a reader that panics at
// one, under another policy, and after an eviction.
func TestWaitingCallsThatAreLost(t *testing.T) {
	t.Run("panic", func(t *testing.T) {
		p := newProcess(t, nil, 1<<20)
		p.must(p.say(guessed, true, "one"))
		p.must(p.call(guessed, "bad"))
		p.reader.Panic = "bad"
		if err := p.result(guessed, "two"); err == nil {
			t.Error("a text was added after a call that cannot be read")
		}
		p.lost(guessed)
		if len(p.reports) != 1 || p.reports[0] != texts.Panicked {
			t.Errorf("reports: %v", p.reports)
		}
	})
	t.Run("policy", func(t *testing.T) {
		p := newProcess(t, nil, 1<<20)
		p.must(p.say(guessed, true, "one"))
		p.must(p.call(guessed, `{"a":1}`))
		p.reader.Version = "2"
		p.lost(guessed)
	})
	t.Run("eviction", func(t *testing.T) {
		p := newProcess(t, nil, 4<<10)
		p.must(p.say(guessed, true, "one"))
		p.must(p.call(guessed, strings.Repeat("x", 8<<10)))
		p.must(p.say(flow.Conversation{Principal: "p", Session: stopgate.SessionID("weak/2"), ID: "b"}, true, "other"))
		p.lost(guessed)
	})
}

func (p *process) lost(c flow.Conversation) {
	p.t.Helper()
	if _, _, err := p.View(p.t.Context(), p.access(c)); !errors.Is(err, texts.ErrLost) && !errors.Is(err, texts.ErrUnknown) {
		p.t.Errorf("a view without its texts: %v", err)
	}
	if err := p.say(c, false, "more"); !errors.Is(err, texts.ErrLost) {
		p.t.Errorf("texts were added after lost ones: %v", err)
	}
}

// The memory of calls that wait is bounded: long ones wait, and are all read with the release of one
// that they have no room for.
func TestWaitingCallsAreBounded(t *testing.T) {
	p := newProcess(t, nil, 64<<20)
	p.must(p.say(guessed, true, "one"))
	long := strings.Repeat("x", 3<<20)
	read := func() int { return strings.Count(p.entries(guessed), "call t") }
	for _, c := range "ab" {
		p.must(p.call(guessed, string(c)+long))
	}
	if n := read(); n != 0 {
		t.Errorf("%d calls of 6 MiB are read with their release, want none", n)
	}
	p.must(p.call(guessed, "c"+long))
	if n := read(); n != 3 {
		t.Errorf("%d calls of 9 MiB are read, want all 3", n)
	}
}

// Calls that wait count for the memory of all conversations.
func TestWaitingCallsCountForTheMemory(t *testing.T) {
	p := newProcess(t, nil, 4<<20)
	for _, id := range "abcd" {
		c := flow.Conversation{Principal: "p", Session: "weak/1", ID: string(id)}
		p.must(p.say(c, true, "one"))
		p.must(p.call(c, strings.Repeat("x", 3<<20)))
	}
	if n := p.Conversations(); n != 1 {
		t.Errorf("%d conversations with 3 MiB each in a memory of 4 MiB, want 1", n)
	}
}
