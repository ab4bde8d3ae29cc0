package texts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/gate/texts"
	"github.com/stopgate/stopgate/session"
)

func keeping(t *testing.T, l *logs) *process {
	p := newProcess(t, l, 1<<20)
	p.text = true
	return p
}

// rereads compares the view of a conversation with one that is built from the kept texts up to its
// position; with holes, some of them are not kept.
func (p *process) rereads(l *logs, c flow.Conversation, holes bool) {
	p.t.Helper()
	v, at, err := p.View(p.t.Context(), p.access(c))
	if err != nil {
		p.t.Fatal(err)
	}
	x, missing := p.reader.NewIndex(nil), false
	for n := uint64(1); n <= at.Number; n++ {
		text, ok := l.kept[at.Log][n]
		if missing = missing || !ok; !ok {
			continue
		}
		a, err := kept.Parse([]byte(text))
		if err != nil {
			p.t.Fatal(err)
		}
		a.Add(p.reader, x)
	}
	want, got := entriesOf(v), entriesOf(x.View())
	if missing != holes || !holes && got != want {
		p.t.Errorf("%v at %d: kept texts are %q (missing %t), want %q (missing %t)", c, at.Number, got, missing, want, holes)
	}
}

func entriesOf(v flow.View) string { return v.(interface{ Entries() string }).Entries() }

// The kept texts up to the position of a view are those of the view: also after a store that failed,
// after an append that was late, with several processes, and in guessed sessions.
func TestKeptTextsAreThoseOfTheView(t *testing.T) {
	l := newLogs()
	a, b := keeping(t, l), keeping(t, l)
	a.rereads(l, of("s"), false)
	a.must(a.say(of("s"), false, "one", "two", "one"))
	b.must(b.say(of("s"), false, "three"))
	a.must(a.say(of("s"), false, "four"))
	l.fail = errors.New("disk")
	if a.say(of("s"), false, "five") == nil {
		t.Error("no error")
	}
	l.fail = nil
	b.must(b.say(of("s"), false, "six"))
	a.rereads(l, of("s"), false)
	l.lose = errors.New("late")
	if a.say(of("s"), false, "seven") == nil {
		t.Error("no error")
	}
	l.lose = nil
	a.rereads(l, of("s"), false)
	b.rereads(l, of("s"), false)
	a.wants(of("s"), "one two three four six five seven")
	guessed := flow.Conversation{Principal: "p", Session: session.WeakID("x"), ID: "branch"}
	a.must(a.say(guessed, true, "hello"))
	a.must(a.say(guessed, false, "again"))
	a.rereads(l, guessed, false)

	// A log that is replaced has texts of its own, and those of the old one remain.
	_, old, _ := b.View(t.Context(), b.access(of("s")))
	b.reader.Version = "2"
	b.must(b.say(of("s"), true, "one", "eight"))
	b.rereads(l, of("s"), false)
	if len(l.kept[old.Log]) != 7 {
		t.Errorf("the replaced log has %d texts", len(l.kept[old.Log]))
	}
}

// A text that came before texts were kept, one that the log has no room for, and all after it are
// missing: their numbers show it.
func TestMissingTextsLeaveHoles(t *testing.T) {
	l := newLogs()
	plain := newProcess(t, l, 1<<20)
	plain.must(plain.say(of("s"), false, "early"))
	a := keeping(t, l)
	a.must(a.say(of("s"), false, "late"))
	a.rereads(l, of("s"), true)

	long := strings.Repeat("x", kept.MaxLog/2)
	a.must(a.say(of("t"), false, "first", long))
	a.rereads(l, of("t"), false)
	a.must(a.say(of("t"), false, long+"y", "small"))
	a.rereads(l, of("t"), true)
	_, at, _ := a.View(t.Context(), a.access(of("t")))
	if n := len(l.kept[at.Log]); at.Number != 4 || n != 2 {
		t.Errorf("%d of %d texts are kept", n, at.Number)
	}

	none := keeping(t, l)
	none.keep = false // nothing is kept at all
	none.must(none.say(of("u"), false, "text"))
	if _, at, err := none.View(t.Context(), none.access(of("u"))); err != nil || at != (texts.Position{}) {
		t.Error(at, err)
	}
	if got := fmt.Sprint(len(l.kept)); got != "2" {
		t.Errorf("%s logs have kept texts", got)
	}
}
