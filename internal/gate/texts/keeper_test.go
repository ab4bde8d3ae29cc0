package texts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/gate/texts"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// logs is a store in memory that can fail.
type logs struct {
	mu    sync.Mutex
	all   map[flow.Conversation]*flow.Log
	fail  error // of every call
	lose  error // of appends that are made all the same
	full  int
	loads int
	kept  map[string]map[uint64]string
}

func (l *logs) LoadTexts(_ context.Context, c flow.Conversation, after uint64) (flow.Log, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loads++
	if l.fail != nil {
		return flow.Log{}, l.fail
	}
	log := l.all[c]
	if log == nil {
		return flow.Log{}, nil
	}
	out := *log
	out.Segments = append([][]byte(nil), out.Segments[min(after, out.Position):]...)
	return out, nil
}

func (l *logs) AppendTexts(_ context.Context, c flow.Conversation, change flow.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	log := l.all[c]
	onlyLost := change.Lost && len(change.Segments) == 0 && !change.Replace
	switch {
	case log == nil || change.Replace:
		if !change.Replace && change.After != 0 {
			return flow.ErrMoved
		}
		log = &flow.Log{Key: change.Key, Meaning: change.Meaning}
	case onlyLost:
	case !bytes.Equal(log.Key, change.Key) || change.After != log.Position:
		return flow.ErrMoved
	}
	if l.full > 0 && int(log.Position)+len(change.Segments) > l.full {
		return flow.ErrFull
	}
	next := *log
	next.Segments = append(next.Segments[:len(next.Segments):len(next.Segments)], change.Segments...)
	next.Position += uint64(len(change.Segments))
	next.Lost = next.Lost || change.Lost
	l.all[c] = &next
	if change.Texts != nil {
		if l.kept == nil {
			l.kept = map[string]map[uint64]string{}
		}
		id := kept.LogID(change.Key)
		if l.kept[id] == nil {
			l.kept[id] = map[uint64]string{}
		}
		for i, text := range change.Texts {
			next.Kept += int64(len(text))
			if len(text) > 0 {
				l.kept[id][change.After+uint64(i)+1] = string(text)
			}
		}
	}
	return l.lose
}

// process is one process with its keeper.
type process struct {
	*texts.Keeper
	t       *testing.T
	reader  *ports.Texts
	keep    bool
	text    bool
	reports []texts.Reason
}

func newProcess(t *testing.T, l *logs, memory int64) *process {
	p := &process{t: t, reader: &ports.Texts{Version: "1"}, keep: true}
	c := texts.Config{Memory: memory, Report: func(_ flow.Conversation, why texts.Reason, _ error) { p.reports = append(p.reports, why) }}
	if l != nil {
		c.Load, c.Append = l.LoadTexts, l.AppendTexts
	}
	p.Keeper = texts.New(c)
	return p
}

func newLogs() *logs { return &logs{all: map[flow.Conversation]*flow.Log{}} }

func of(session string) flow.Conversation {
	return flow.Conversation{Principal: "p", Session: stopgate.SessionID(session)}
}

func (p *process) access(c flow.Conversation) texts.Access {
	return texts.Access{Of: c, Reader: p.reader, Keep: p.keep, Text: p.text}
}

func (p *process) say(c flow.Conversation, whole bool, list ...string) error {
	var additions []kept.Addition
	for _, text := range list {
		additions = append(additions, kept.Addition{Message: &flow.Message{Source: flow.User, Text: []byte(text)}})
	}
	return p.Add(p.t.Context(), p.access(c), whole, additions)
}

// wants compares the texts of a view; "-" is none.
func (p *process) wants(c flow.Conversation, want string) {
	p.t.Helper()
	got := "-"
	if v, _, err := p.View(p.t.Context(), p.access(c)); err == nil {
		got = strings.ReplaceAll(strings.ReplaceAll(v.(*ports.TextIndex).Entries(), "user: ", ""), "\n", " ")
	}
	if got != want {
		p.t.Errorf("%v: %q, want %q", c, got, want)
	}
}

func (p *process) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Error(err)
	}
}

// Texts of a session never reach another one.
func TestSessionsDoNotMix(t *testing.T) {
	for _, l := range []*logs{nil, newLogs()} {
		p := newProcess(t, l, 1<<20)
		p.must(p.say(of("a"), false, "one"))
		p.must(p.say(of("b"), false, "two"))
		p.must(p.say(flow.Conversation{Principal: "q", Session: "a"}, false, "three"))
		p.must(p.say(flow.Conversation{Principal: "p", Session: "a", ID: "x"}, false, "four"))
		p.wants(of("a"), "one")
		p.wants(of("b"), "two")
		p.wants(flow.Conversation{Principal: "q", Session: "a"}, "three")
		p.wants(flow.Conversation{Principal: "p", Session: "a", ID: "x"}, "four")
	}
	p := newProcess(t, nil, 1<<20)
	p.wants(of("c"), "-") // no texts are not the same as texts that are empty
}

// Processes see each other's texts in one order, and a restart keeps them.
func TestSharedByProcesses(t *testing.T) {
	l := newLogs()
	a, b := newProcess(t, l, 1<<20), newProcess(t, l, 1<<20)
	b.wants(of("s"), "") // b has an index with a key of its own
	a.must(a.say(of("s"), false, "one"))
	b.must(b.say(of("s"), false, "two", "one"))
	a.must(a.say(of("s"), false, "three"))
	for _, p := range []*process{a, b, newProcess(t, l, 1<<20)} {
		p.wants(of("s"), "one two three")
	}
	b.reader.Version = "2" // segments of another reader are not restored
	b.wants(of("s"), "-")
	if b.say(of("s"), false, "four") == nil {
		t.Error("no error")
	}
	b.must(b.say(of("s"), true, "one", "four"))
	b.wants(of("s"), "one four")
	a.wants(of("s"), "-")
	if len(a.reports)+len(b.reports) > 0 {
		t.Error(a.reports, b.reports)
	}
}

// Two processes begin the texts of a session at the same moment.
func TestConcurrentProcesses(t *testing.T) {
	l := newLogs()
	var all []*process
	var running sync.WaitGroup
	for i := range 4 {
		p := newProcess(t, l, 1<<20)
		all = append(all, p)
		running.Go(func() {
			for n := range 20 {
				p.must(p.say(of("s"), false, fmt.Sprint(i, ".", n)))
				p.View(t.Context(), p.access(of("s")))
			}
		})
	}
	running.Wait()
	v, _, err := newProcess(t, l, 1<<20).View(t.Context(), all[0].access(of("s")))
	if err != nil || len(strings.Split(v.(*ports.TextIndex).Entries(), "\n")) != 80 {
		t.Fatal(v, err)
	}
	want := strings.ReplaceAll(strings.ReplaceAll(v.(*ports.TextIndex).Entries(), "user: ", ""), "\n", " ")
	for _, p := range all {
		p.wants(of("s"), want)
	}
}

// While the store fails, nothing is known; afterwards nothing is missing that memory has.
func TestStoreFails(t *testing.T) {
	l := newLogs()
	a, b := newProcess(t, l, 1<<20), newProcess(t, l, 1<<20)
	a.must(a.say(of("s"), false, "one"))
	b.wants(of("s"), "one")
	l.fail = errors.New("disk")
	if a.say(of("s"), false, "two") == nil {
		t.Error("no error")
	}
	a.wants(of("s"), "-")
	b.wants(of("s"), "-")
	l.fail = nil
	b.must(b.say(of("s"), false, "three"))
	a.wants(of("s"), "one three two")
	b.wants(of("s"), "one three two")

	l.lose = errors.New("written, but late")
	if a.say(of("s"), false, "four") == nil {
		t.Error("no error")
	}
	l.lose = nil
	a.wants(of("s"), "one three two four")
	b.wants(of("s"), "one three two four")

	// A text that came when nothing of the session could be read is lost for all processes.
	c := newProcess(t, l, 1<<20)
	l.fail = errors.New("disk")
	if c.say(of("s"), false, "five") == nil {
		t.Error("no error")
	}
	l.fail = nil
	b.wants(of("s"), "one three two four") // until the process that lost it reaches the store
	c.wants(of("s"), "-")
	b.wants(of("s"), "-")
	newProcess(t, l, 1<<20).wants(of("s"), "-")
	if fmt.Sprint(c.reports) != "[the store did not take texts]" || c.Missing() != 1 {
		t.Error(c.reports, c.Missing())
	}
	b.must(b.say(of("s"), true, "all"))
	for _, p := range []*process{a, b, c} {
		p.wants(of("s"), "all")
	}
}

// A session that is longer than the store keeps, and one whose stored texts are damaged.
func TestFullAndDamaged(t *testing.T) {
	l := newLogs()
	l.full = 2
	a := newProcess(t, l, 1<<20)
	a.must(a.say(of("s"), false, "one", "two"))
	if err := a.say(of("s"), false, "three"); !errors.Is(err, flow.ErrFull) {
		t.Error(err)
	}
	a.wants(of("s"), "-")
	newProcess(t, l, 1<<20).wants(of("s"), "-")

	a.must(a.say(of("d"), false, "one"))
	l.all[of("d")].Segments[0] = []byte("?")
	b := newProcess(t, l, 1<<20)
	b.wants(of("d"), "-")
	b.wants(of("d"), "-")
	l.all[of("d")].Segments = nil
	newProcess(t, l, 1<<20).wants(of("d"), "-")
	if fmt.Sprint(b.reports) != "[stored texts cannot be read]" {
		t.Error(b.reports)
	}
}

// A store that keeps no texts has that there were some: after a restart they are missing.
func TestNotKept(t *testing.T) {
	l := newLogs()
	open := func() *process {
		p := newProcess(t, l, 1<<20)
		p.keep = false
		return p
	}
	a := open()
	a.wants(of("s"), "")
	a.must(a.say(of("s"), false, "one"))
	a.must(a.say(of("s"), false, "two"))
	a.wants(of("s"), "one two")
	if log := l.all[of("s")]; len(log.Segments) != 0 || !log.Lost {
		t.Errorf("%+v", log)
	}
	b := open()
	b.wants(of("s"), "-")
	b.must(b.say(of("s"), true, "one", "two", "three"))
	b.wants(of("s"), "one two three")
	b.keep = true
	b.wants(of("s"), "-")
}

// A panic of the reader loses the conversation, and no other one.
func TestPanic(t *testing.T) {
	p := newProcess(t, nil, 1<<20)
	p.reader.Panic = "bad"
	p.must(p.say(of("s"), false, "one"))
	p.must(p.say(of("t"), false, "one"))
	if p.say(of("s"), false, "bad") == nil {
		t.Error("no error")
	}
	p.wants(of("s"), "-")
	p.wants(of("t"), "one")
	if fmt.Sprint(p.reports) != "[the reader of texts panicked]" {
		t.Error(p.reports)
	}
}

// Memory is bounded. A conversation that was evicted is read from the store, or is missing, but is
// never empty.
func TestEviction(t *testing.T) {
	for _, l := range []*logs{nil, newLogs()} {
		p := newProcess(t, l, 64<<10)
		for i := range 1000 {
			p.must(p.say(of(fmt.Sprint(i)), false, "text"))
		}
		if n := p.Conversations(); n > 64 {
			t.Errorf("%d conversations in memory", n)
		}
		want := "-"
		if l != nil {
			want = "text"
		}
		p.wants(of("0"), want)
		p.wants(of("999"), "text")
		if err := p.say(of("1"), false, "more"); (err == nil) != (l != nil) {
			t.Error(err)
		}
		p.must(p.say(of("2"), true, "text", "more"))
		p.wants(of("2"), "text more")
	}
}

// The store no longer has a session: it begins again.
func TestDeleted(t *testing.T) {
	l := newLogs()
	p := newProcess(t, l, 1<<20)
	p.must(p.say(of("s"), false, "one"))
	delete(l.all, of("s"))
	p.wants(of("s"), "")
	p.must(p.say(of("s"), false, "two"))
	p.wants(of("s"), "two")
}

// A part of a session that was guessed is known to one process only: no store has its texts, and
// they are lost when they are evicted.
func TestPartsOfGuessedSessions(t *testing.T) {
	l := newLogs()
	p := newProcess(t, l, 1<<20)
	guessed := flow.Conversation{Principal: "p", Session: session.WeakID("x"), ID: "branch"}
	p.must(p.say(guessed, true, "hello"))
	p.wants(guessed, "hello")
	if len(l.all) > 0 {
		t.Errorf("the store has %d logs", len(l.all))
	}
	small := newProcess(t, l, 1)
	small.must(small.say(guessed, true, "hello"))
	small.must(small.say(of("other"), false, "x"))
	if err := small.say(guessed, false, "more"); !errors.Is(err, texts.ErrLost) {
		t.Errorf("after an eviction: %v", err)
	}
}
