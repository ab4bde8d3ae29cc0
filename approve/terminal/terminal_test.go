package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/approve/terminal"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// screen stores the output.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// take returns the output since the last call.
func (s *screen) take() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

// fixture is a terminal with a queue.
type fixture struct {
	t     *testing.T
	store *mem.Approvals
	queue *approve.Queue
	out   *screen
	keys  *io.PipeWriter
	ended chan error
	drain int
}

func newDesk(t *testing.T) *fixture {
	t.Helper()
	in, keys := io.Pipe()
	d := &fixture{t: t, store: new(mem.Approvals), out: new(screen), keys: keys, ended: make(chan error, 1)}
	var err error
	if d.queue, err = approve.New(d.store, approve.Options{}); err != nil {
		t.Fatal(err)
	}
	person := &terminal.Terminal{
		In: in, Out: d.out, By: "anna", Drain: func() { d.drain++ },
		Edit: func(_ context.Context, text string) (string, error) {
			if text == "{}" {
				return "", errors.New("the editor is gone")
			}
			return `{"path":"b"}`, nil
		},
	}
	go func() { d.ended <- person.Serve(t.Context(), d.queue) }()
	d.out.take()
	return d
}

func (d *fixture) ask(id string, change func(*approve.Entry)) {
	d.t.Helper()
	e := approvals.Entry(id)
	e.Asked, e.Until, e.Expires = time.Now(), time.Now().Add(time.Minute), time.Now().Add(time.Hour)
	if change != nil {
		change(&e)
	}
	if _, err := d.store.AddEntry(d.t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
		d.t.Fatal(err)
	}
	time.Sleep(time.Second)
}

// types waits for a while, types a line and returns the output after it.
func (d *fixture) types(text string) string {
	d.t.Helper()
	time.Sleep(time.Second)
	if _, err := io.WriteString(d.keys, text+"\n"); err != nil {
		d.t.Fatal(err)
	}
	return d.out.take()
}

func (d *fixture) state(id string) approve.Entry {
	e, _ := d.store.Entry(d.t.Context(), id)
	return e
}

func (d *fixture) leave() {
	d.t.Helper()
	d.keys.Close()
	if err := <-d.ended; err != nil {
		d.t.Error(err)
	}
}

// slowStore takes a minute to record attendance.
type slowStore struct{ *mem.Approvals }

func (s slowStore) Attend(ctx context.Context, until time.Time) error {
	time.Sleep(time.Minute)
	return s.Approvals.Attend(ctx, until)
}

// Proves S5: the terminal prints that it waits when the queue is reachable, not before.
func TestWaitingIsPrintedWhenReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue, err := approve.New(slowStore{new(mem.Approvals)}, approve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in, keys := io.Pipe()
		out, ended := new(screen), make(chan error, 1)
		person := &terminal.Terminal{In: in, Out: out, By: "anna"}
		go func() { ended <- person.Serve(t.Context(), queue) }()
		if got := out.take(); got != "" {
			t.Error(got)
		}
		time.Sleep(time.Minute)
		if got := out.take(); !strings.Contains(got, "Waiting for questions") {
			t.Errorf("%q", got)
		}
		keys.Close()
		time.Sleep(time.Hour)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// Proves H15: every key, and that no other input answers.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		keys  string
		state approve.State
		says  string
		check func(e approve.Entry) bool
	}{
		{"y", approve.Approved, "it runs, this once", nil},
		{"n", approve.Declined, "does not run", func(e approve.Entry) bool { return e.Reason == "" }},
		{"r use the test database", approve.Declined, "does not run", func(e approve.Entry) bool { return e.Reason == "use the test database" }},
		{"e", approve.Edited, "as changed", func(e approve.Entry) bool { return e.Edit == `{"path":"b"}` }},
		{"", approve.Waiting, "Nothing was answered", nil},
		{"yes", approve.Waiting, "Nothing was answered", nil},
		{"Y", approve.Waiting, "Nothing was answered", nil},
		{"y please", approve.Waiting, "Nothing was answered", nil},
		{"r", approve.Waiting, "Type the reason", nil},
		{"?", approve.Waiting, "run it, this once", nil},
		{"p", approve.Waiting, "/path", nil},
		{"a", approve.Waiting, "a 1  exactly this", nil},
		{"a 1", approve.Waiting, "a 1  exactly this", nil}, // the list was not shown before
		{"a 2", approve.Waiting, "a 1  exactly this", nil},
		{"a nonsense", approve.Waiting, "Nothing was answered", nil},
		{"a /nothing=x", approve.Waiting, "Not granted", nil},
		{"a yes", approve.Approved, "takes it back", nil},
	} {
		t.Run(c.keys, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t)
				d.ask("a", func(e *approve.Entry) { e.Floors = nil })
				if frame := d.out.take(); !strings.Contains(frame, "deploy") || !strings.Contains(frame, "look first") || d.drain != 1 {
					t.Fatal(frame, d.drain)
				}
				if got := d.types(c.keys); !strings.Contains(got, c.says) {
					t.Errorf("says %q", got)
				}
				e := d.state("a")
				if e.State != c.state || e.State != approve.Waiting && e.By != "anna" || c.check != nil && !c.check(e) {
					t.Errorf("%+v", e)
				}
				d.leave()
			})
		})
	}
}

// Proves D26-28, Q8: questions come first in, first out; deferred ones come back; questions
// answered elsewhere disappear.
func TestQueueOfQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, id := range []string{"a", "b", "c"} {
			d.ask(id, func(e *approve.Entry) { e.Tool = stopgate.ToolName("tool_" + id) })
		}
		if got := d.out.take(); !strings.Contains(got, "tool_a") || strings.Contains(got, "tool_b") {
			t.Fatal(got)
		}
		if got := d.types("s"); !strings.Contains(got, "tool_b") {
			t.Fatal(got)
		}
		if _, err := d.queue.Answer(t.Context(), "b", approve.Reply{By: "bob"}); err != nil {
			t.Fatal(err)
		}
		if got := d.out.take(); !strings.Contains(got, "tool_c") {
			t.Fatal(got)
		}
		if got := d.types("y"); !strings.Contains(got, "tool_a") || d.state("c").State != approve.Approved {
			t.Fatal(got)
		}
		d.types("n")
		if got := d.types("y"); !strings.Contains(got, "no question") {
			t.Fatal(got)
		}
		d.leave()
	})
}

// Proves S54, H1: while arguments arrive only no is accepted, and a yes is for the call that was
// shown.
func TestArriving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		whole := approvals.Entry("a")
		d.ask("a", func(e *approve.Entry) { e.Complete, e.Args, e.Leaves, e.Binding = false, "", nil, gate.Binding{} })
		if got := d.out.take(); !strings.Contains(got, "still arriving") {
			t.Fatal(got)
		}
		if got := d.types("y"); !strings.Contains(got, "only a no is possible") {
			t.Fatal(got)
		}
		_, err := d.store.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) {
			e.Complete, e.Args, e.Leaves, e.Binding = true, whole.Args, whole.Leaves, whole.Binding
			return e, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := d.out.take(); !strings.Contains(got, "complete now") || !strings.Contains(got, "/path") {
			t.Fatal(got)
		}
		d.types("y")
		if d.state("a").State != approve.Approved {
			t.Fatal(d.state("a"))
		}
		d.leave()
	})
}

// Proves H14, P23: text of a model cannot control the terminal, and hidden text is named by length
// and hash.
func TestFrame(t *testing.T) {
	e := approvals.Entry("a")
	e.Tool, e.Agent = "evil\x1b[2J", "a\u202eb"
	e.Leaves = []gate.Leaf{
		{Pointer: "/a\nb", JSON: "\"x\u009b1A\u200b\""},
		{Pointer: "/long", Known: true, JSON: `"` + strings.Repeat("A", 5000) + "HIDDEN" + strings.Repeat("A", 5000) + `"`},
	}
	for _, all := range []bool{false, true} {
		got := terminal.Frame(e, e.Asked, all)
		for _, r := range got {
			if r < ' ' && r != '\n' || r == '\u202e' || r == '\u009b' || r == '\u200b' {
				t.Errorf("%q is printed as it is", r)
			}
		}
		if strings.Contains(got, "HIDDEN") != all || strings.Contains(got, "sha256") == all || !strings.Contains(got, `/a\nb`) || !strings.Contains(got, `\u{9b}1A\u{200b}`) {
			t.Error(got)
		}
	}
	e = approvals.Entry("b")
	e.Mode = stopgate.Edit
	if got := terminal.Frame(e, e.Until.Add(time.Second), false); !strings.Contains(got, "in an editor") || !strings.Contains(got, "stopped waiting") {
		t.Error(got)
	}
}

// Proves H3: a failing editor answers nothing, and every answer needs a name.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ask("a", func(e *approve.Entry) { e.Args = "{}" })
		if got := d.types("e"); !strings.Contains(got, "the editor is gone") || d.state("a").State != approve.Waiting {
			t.Error(got)
		}
		d.leave()
		if err := new(terminal.Terminal).Serve(t.Context(), d.queue); !errors.Is(err, approve.ErrNoName) {
			t.Error(err)
		}
	})
}

// Proves H15: input for one question does not answer the next one, and a yes is refused if it comes
// sooner than a person can read; a no is accepted at any time.
func TestTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, id := range []string{"a", "b", "c"} {
			d.ask(id, nil)
		}
		d.types("y\ny\na yes")
		if d.state("a").State != approve.Approved || d.state("b").State != approve.Waiting || d.state("c").State != approve.Waiting {
			t.Fatal("a pasted line answered a question that was not there", d.state("b").State)
		}
		// The question on the screen is answered elsewhere while a y arrives.
		if _, err := d.queue.Answer(t.Context(), "b", approve.Reply{By: "bob"}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(d.keys, "y\n")
		if got := d.out.take(); d.state("c").State != approve.Waiting {
			t.Fatal(got)
		}
		io.WriteString(d.keys, "n\n")
		if got := d.out.take(); d.state("c").State != approve.Declined {
			t.Fatal(got)
		}
		d.leave()
	})
}

// Proves H14: a person who has not seen all targets of a call cannot say yes.
func TestYesToHiddenTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ask("a", func(e *approve.Entry) {
			e.Floors = nil
			e.Leaves = []gate.Leaf{{Pointer: "/command", Type: "command", Known: true, JSON: `"echo ` + strings.Repeat("a", 3000) + `; evil; ` + strings.Repeat("b", 3000) + `"`}}
		})
		for _, key := range []string{"y", "a yes"} {
			if got := d.types(key); d.state("a").State != approve.Waiting || !strings.Contains(got, "p prints it in full") {
				t.Fatal(got)
			}
		}
		if got := d.types("p"); !strings.Contains(got, "evil") {
			t.Fatal(got)
		}
		d.types("y")
		if d.state("a").State != approve.Approved {
			t.Fatal(d.state("a").State)
		}
		d.leave()
	})
}

// Proves Q25, S34: a lists the grants, the useful one first, and a number chooses one of the list that
// was shown.
func TestOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.ask("a", func(e *approve.Entry) {
			e.Floors, e.Leaves = nil, []gate.Leaf{{Pointer: "/path", Type: "path", Known: true, JSON: `"src/api/a.ts"`}}
		})
		if got := d.types("a"); !strings.Contains(got, "a 1  this directory: src/api\n       deploy runs unasked for every path in src/api\n       for example src/api/another.ts\n  a 2  exactly this") {
			t.Fatal(got)
		}
		if got := d.types("a 3"); d.state("a").State != approve.Waiting || !strings.Contains(got, "no 3") {
			t.Fatal(got)
		}
		d.types("a 1")
		grants, err := d.queue.Grants(t.Context(), approve.GrantFilter{})
		if err != nil || d.state("a").State != approve.Approved || len(grants) != 1 || grants[0].Values[0] != (approve.Value{Pointer: "/path", How: approve.Below, Text: "src/api"}) {
			t.Fatalf("%+v %v", grants, err)
		}
		d.ask("b", func(e *approve.Entry) { e.Missing = []string{"README was not read"} })
		if got := d.types("a"); !strings.Contains(got, "No grant is possible") || !strings.Contains(got, "session policy") {
			t.Fatal(got)
		}
		d.leave()
	})
}

// Proves Q8, H15: the questions that wait are one list with numbers that do not change; several are
// answered together only if each was shown as it is now.
func TestSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for _, id := range []string{"a", "b", "c", "d"} {
			d.ask(id, func(e *approve.Entry) { e.Tool = stopgate.ToolName("tool_" + id) })
		}
		d.out.take()
		if got := d.types("p"); !strings.Contains(got, "3 more questions wait:\n  2  tool_b  ") || !strings.Contains(got, "This is 1.") {
			t.Fatal(got)
		}
		if got := d.types("y 1 3"); !strings.Contains(got, "Question 3 was not shown in full yet") || d.state("a").State != approve.Waiting {
			t.Fatal(got)
		}
		if got := d.types("3"); !strings.Contains(got, "wants to run  tool_c") || !strings.Contains(got, "  1  tool_a  {}  (seen)") && !strings.Contains(got, "(seen)") {
			t.Fatal(got)
		}
		if _, err := d.queue.Answer(t.Context(), "b", approve.Reply{By: "bob"}); err != nil {
			t.Fatal(err)
		}
		d.out.take()
		if got := d.types("y 1 2"); !strings.Contains(got, "no question 2 now") || d.state("a").State != approve.Waiting {
			t.Fatal(got)
		}
		// What was seen is not what is there now.
		if _, err := d.store.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) {
			e.Binding.Args = "other"
			return e, nil
		}); err != nil {
			t.Fatal(err)
		}
		d.queue.Answer(t.Context(), "none", approve.Reply{})
		time.Sleep(time.Second)
		d.ask("e", nil)
		if got := d.types("y 1 3"); !strings.Contains(got, "Question 1 was not shown") || d.state("c").State != approve.Waiting {
			t.Fatal(got)
		}
		d.types("1")
		if got := d.types("y 1 3"); d.state("a").State != approve.Approved || d.state("c").State != approve.Approved || d.state("d").State != approve.Waiting || !strings.Contains(got, "tool_d") {
			t.Fatal(got)
		}
		d.types("n 4 5")
		if d.state("d").State != approve.Declined || d.state("e").State != approve.Declined {
			t.Fatal(d.state("d").State, d.state("e").State)
		}
		d.leave()
	})
}
