package tui_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/chat"
)

// create writes one file with a long content, and ends with text.
const create = `turn
say I write it.
call fs_create_file
  path string src/a.txt
  content repeat 100 line %d
turn
say Done.
`

// asked returns a person with a question about a complete call.
func asked(t *testing.T, change ...settings) *person {
	t.Helper()
	p := sit(t, create, change...)
	p.writes("write it")
	p.sees("y once")
	return p
}

// Proves D26-19: y runs the call once.
func TestYes(t *testing.T) {
	p := asked(t)
	p.presses('y')
	p.sees("approved by anna", "Done.", "1 call: 1 ran, 0 refused; 1 prompt")
	p.loses("wants to run")
	if p.File("src/a.txt") == "" || p.drains != 1 {
		t.Error("it did not run, or what was typed before was not thrown away", p.drains)
	}
}

// Proves D26-19: redrawing leaves no old text on a screen narrower than the minimum.
func TestNarrowScreen(t *testing.T) {
	for _, width := range []int{12, 30, 39, 40} {
		p := asked(t, func(o *tui.Options, _ *chat.Options) { o.Style.Width, o.Style.Color = width, true })
		p.presses('y')
		all := strings.ReplaceAll(p.sees("Done.", "\n>\n"), "\n", "")
		for _, stray := range []string{"wants to run", "is asked", "once", "\u25cc", "\u25b8"} {
			if strings.Contains(all, stray) {
				t.Errorf("%d columns: %q still is on the screen:\n%s", width, stray, p.screen)
			}
		}
	}
}

// Proves D26-20, H2: an early y takes effect when the call is complete.
func TestEarlyYes(t *testing.T) {
	p := sit(t, create)
	p.Hold(60)
	p.writes("write it")
	p.sees(`path     "src/a.txt"`, "content  streaming, ", "unseen   the rest of content", "y yes, when complete", "a rule asks about it [test.toml:3]")
	p.presses('y')
	p.sees(`? fs_create_file(path: "src/a.txt", streaming "content" `, "you said yes: it runs when it is complete")
	p.Go()
	p.sees("approved by anna", "Done.")
}

func TestWhateverFollows(t *testing.T) {
	p := sit(t, create)
	p.Hold(60)
	p.writes("write it")
	p.sees("w yes, whatever follows")
	p.presses('w')
	p.Go()
	p.sees("approved by anna", "Done.")
	p = asked(t)
	p.presses('w')
	p.sees("Everything is there: y, or n.")
	p.presses('n')
}

// Proves D26-22: n ends the call, and the person is next.
func TestNo(t *testing.T) {
	p := sit(t, create)
	p.Hold(60)
	p.writes("write it")
	p.sees("n no")
	p.presses('n')
	p.sees("✗ fs_create_file", "The approver declined this call", "not run: say what to do instead", "the model was stopped once")
	p.Go()
	p.writes("something else")
	p.sees("> something else", "Done.")
}

// Proves Q8: r reads a reason for the model; Escape and an empty line go back.
func TestReason(t *testing.T) {
	p := asked(t)
	p.presses('r')
	p.sees("why not?")
	p.presses('x', tea.KeyEscape)
	p.sees("y once")
	p.presses('r', '\r')
	p.sees("Nothing was answered.")
	p.presses('r')
	p.sees("why not?")
	p.writes("use another name")
	p.sees("refused: use another name", "Done.")
	if body := p.Requests()[1]; !strings.Contains(body, "use another name") {
		t.Error(body)
	}
}

// Proves S52, Q25: a shows the most useful grant, x the next one, y creates it; any other key does not.
func TestAlways(t *testing.T) {
	p := asked(t)
	p.presses('a')
	p.sees("always: in this conversation, until ", "this directory: src", "fs_create_file runs unasked for every path in src, with any /content.", "/path below src", "/content any value", "not asked again: src/another.txt", "x file instead")
	p.presses('q')
	p.sees("Nothing was granted, nothing was answered.", "y once")
	p.presses('a')
	p.sees("x file")
	p.presses('x')
	p.sees("this file: src/a.txt", "fs_create_file runs unasked for src/a.txt, with any /content;", "same.", `/path = "src/a.txt"`, "/content any value", "x exact instead")
	p.presses('x')
	p.sees("exactly this", `/path = "src/a.txt"`, "/content any text", "x directory instead")
	p.presses('x')
	p.sees("/path below src")
	p.presses('y')
	p.sees("stopgate grants revoke takes it back", "approved by anna", "Done.")
}

// Proves H3: edited arguments are validated before they are an answer, and judged.
func TestEdit(t *testing.T) {
	p := asked(t)
	texts := []string{"{", `{"path":".env","content":""}`}
	var given []string
	p.edit = func(text string) (string, error) {
		given = append(given, text)
		if len(given) == 1 {
			return "", errors.New("the editor is gone")
		}
		if len(given) == 2 {
			return text, nil
		}
		return texts[len(given)-3], nil
	}
	p.presses('e')
	p.sees("Not edited: the editor is gone")
	p.presses('e')
	p.sees("Nothing was changed, nothing was answered.")
	p.presses('e')
	p.sees("That is no valid object", "e opens it again as you left it")
	p.presses('e')
	p.sees("refused: secrets stay out of reach")
	if len(given) != 4 || !strings.HasPrefix(given[0], "{\n  \"path\": \"src/a.txt\",\n  \"content\": \"line 1\\n") || given[3] != "{" {
		t.Errorf("%q", given)
	}
	if p.File(".env") != "" || p.File("src/a.txt") != "" {
		t.Error("it ran")
	}
}

// Proves D26-27: if the policy requires edit, only the editor approves.
func TestEditMode(t *testing.T) {
	p := sit(t, create, func(_ *tui.Options, c *chat.Options) {
		c.Policy = "version = 1\n[tools.fs_create_file.policy]\nrun = \"edit\"\n"
	})
	p.edit = func(text string) (string, error) { return text, nil }
	p.Hold(60)
	p.writes("write it")
	p.sees("the policy wants you to look at it in an editor", "the editor opens when it is complete")
	p.presses('e')
	p.sees("It can be edited when it is complete.")
	p.Go()
	p.sees("e open the editor")
	p.presses('y')
	p.sees("The policy wants you to look at it in an editor: e.")
	p.presses('e')
	p.sees("approved by anna", "Done.")
}

// Proves H15: only the documented keys mean yes; p and ? show text and answer nothing.
func TestKeysThatAnswerNothing(t *testing.T) {
	p := asked(t)
	for _, k := range []rune{'\r', '\n', ' ', 'Y', 'N', 'j', '1', tea.KeyUp, tea.KeyEscape, tea.KeyF5, 0x04} {
		p.presses(k)
	}
	p.session.Send(tea.PasteMsg{Content: "y"})
	p.presses('p')
	p.sees("line 77")
	p.presses('?')
	p.sees("do not ask again for this: shows first what")
	if q, _ := p.Questions.Next(); q == nil || p.File("src/a.txt") != "" {
		t.Fatal("something answered")
	}
	p.presses('n')
	p.sees("not run: say what to do instead")
}

// Proves H15: keys typed when the question appears answer nothing until the person has stopped
// typing; of one read only the first key counts.
func TestTypedAhead(t *testing.T) {
	p := sit(t, create)
	p.Hold(0)
	p.writes("write it")
	p.later(1000)
	p.presses('y', 'e', 's') // while the request runs
	p.Go()
	p.sees("one moment: you were typing something else")
	p.presses('y')
	p.later(100)
	p.presses('y')
	if q, _ := p.Questions.Next(); q == nil {
		t.Fatal("answered by a key that was typed for something else")
	}
	p.later(1000)
	p.types("?yy")
	p.sees("do not ask again for this")
	if q, _ := p.Questions.Next(); q == nil {
		t.Fatal("answered by the rest of what was typed")
	}
	p.later(1000)
	p.presses('y')
	p.sees("Done.")
}

// Proves D26-28: questions are shown one at a time.
func TestTwoQuestions(t *testing.T) {
	p := sit(t, "turn\ncall fs_delete_file\n  path string a\ncall fs_delete_file\n  path string b\nturn\nsay Done.\n", func(_ *tui.Options, c *chat.Options) {
		c.Files = map[string]string{"a": "one\n", "b": "two\n"}
	})
	p.writes("delete them")
	p.sees(`path  "a"`, "(1 more question)", "-one")
	p.presses('n')
	p.sees(`path  "b"`, "-two")
	p.later(1000)
	p.presses('y')
	p.sees("2 calls: 1 ran, 1 refused; 2 prompts")
	if p.File("a") == "" || p.File("b") != "" {
		t.Error("the wrong one is gone")
	}
}

// Proves Q8, H15: questions that wait are listed with numbers; a number shows one, and t answers those
// that were on the screen, no others.
func TestSeveralQuestions(t *testing.T) {
	p := sit(t, "turn\ncall fs_delete_file\n  path string a\ncall fs_delete_file\n  path string b\ncall fs_delete_file\n  path string c\nturn\nsay Done.\n", func(_ *tui.Options, c *chat.Options) {
		c.Files = map[string]string{"a": "one\n", "b": "two\n", "c": "three\n"}
	})
	p.writes("delete them")
	p.sees(`path  "a"`, "(2 more questions)", `2  fs_delete_file  {"path":"b"}`, `3  fs_delete_file  {"path":"c"}`)
	p.presses('t')
	p.sees("You have seen only this question")
	p.presses('7')
	p.sees("There is no question 7")
	p.later(1000)
	p.presses('3')
	p.sees(`path  "c"`)
	p.later(1000)
	p.presses('8')
	p.sees("There is no question 8", `1  fs_delete_file  {"path":"a"}  (seen)`, "t yes to all seen")
	p.presses('t')
	p.sees("yes, once, to ", `path  "b"`)
	p.later(1000)
	p.presses('n')
	p.sees("3 calls: 2 ran, 1 refused")
	if p.File("a") != "" || p.File("b") == "" || p.File("c") != "" {
		t.Error("the wrong one is gone")
	}
}

// Proves Q8, S34: a grant also answers the questions that wait already.
func TestGrantForWaiting(t *testing.T) {
	p := sit(t, "turn\ncall fs_delete_file\n  path string src/a\ncall fs_delete_file\n  path string src/b\nturn\nsay Done.\n", func(_ *tui.Options, c *chat.Options) {
		c.Files = map[string]string{"src/a": "one\n", "src/b": "two\n"}
	})
	p.writes("delete them")
	p.sees("(1 more question)")
	p.presses('a')
	p.sees("this directory: src")
	p.presses('y')
	p.sees("2 calls: 2 ran", "granted earlier by anna")
}

// Proves K32: the person decides what the model receives of a result.
func TestResultQuestions(t *testing.T) {
	for _, test := range []struct {
		key        rune
		mode, want string
	}{{'y', "ask", "top secret"}, {'n', "ask", "result_withheld"}, {'e', "ask", "nothing"}, {'e', "edit", "nothing"}} {
		p := sit(t, "turn\ncall fs_read_file\n  path string a\nturn\nsay Done.\n", func(_ *tui.Options, c *chat.Options) {
			c.Files = map[string]string{"a": "top secret"}
			c.Policy = "version = 1\n[tools.fs_read_file.policy]\nrun = \"unattended\"\nresult = \"" + test.mode + "\"\n"
		})
		p.edit = func(string) (string, error) { return "nothing", nil }
		p.writes("read it")
		p.sees("fs_read_file ran; ", "top secret")
		p.presses(test.key)
		p.sees("Done.")
		if body := p.Requests()[1]; !strings.Contains(body, test.want) {
			t.Errorf("%c: %s", test.key, body)
		}
	}
}

// Proves D26-24: Ctrl-C cancels the current operation, twice it leaves; input in between is kept.
func TestCtrlC(t *testing.T) {
	p := sit(t, create)
	p.Hold(60)
	p.writes("write it")
	p.sees("streaming")
	p.presses(0x03)
	p.sees("interrupted: say what to do instead")
	p.Go()
	for _, r := range "half a line" {
		p.presses(r)
	}
	p.sees("> half a line")
	p.presses(0x03)
	p.presses(0x03)
	p.sees("Ctrl-C again leaves")
	p.presses(0x03)
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
	p.ended <- nil
}

func TestLeaving(t *testing.T) {
	for _, input := range [][]tea.Msg{
		{keys(0x04)}, {tea.PasteMsg{Content: "/quit"}, keys('\r')}, {tui.HungUp{}},
	} {
		p := sit(t, create)
		for _, m := range input {
			p.session.Send(m)
		}
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
		p.ended <- nil
	}
}

// Ctrl-C twice during a command leaves and ends the command.
func TestLeaveWhileCommandRuns(t *testing.T) {
	p := sit(t, "turn\ncall run_command\n  command string sleep 1000\nturn\nsay Done.\n", func(_ *tui.Options, c *chat.Options) {
		c.Policy = "version = 1\n[tools.run_command.policy]\nrun = \"unattended\"\n"
	})
	p.writes("wait")
	p.sees("▸ run_command")
	p.types("\x03\x03")
	<-p.ended
	p.ended <- nil
	p.sees("interrupted it")
}

// Proves D26-24: a panic of the screen's own code ends the session with an error, and the terminal is
// as it was.
func TestPanicRestoresTheTerminal(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	defer master.Close()
	before, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	p := sit(t, create, func(o *tui.Options, _ *chat.Options) {
		o.In, o.Listing = slave, func() []string { panic("broken") }
	})
	p.sees(">")
	if raw, _ := term.GetState(slave.Fd()); cmp.Equal(before.Termios, raw.Termios) {
		t.Error("the terminal was not changed")
	}
	io.WriteString(master, "/tools\r")
	if err := <-p.ended; !errors.Is(err, tea.ErrProgramPanic) {
		t.Error(err)
	}
	p.ended <- nil
	if after, _ := term.GetState(slave.Fd()); !cmp.Equal(before.Termios, after.Termios) {
		t.Errorf("the terminal is left as %+v, it was %+v", after, before)
	}
	// After a panic bubbletea does not wait for its reader, which may end only with the next line.
	for end := time.Now().Add(15 * time.Second); isReading() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		io.WriteString(master, "\n")
	}
}

// isReading reports whether a goroutine reads from a terminal.
func isReading() bool {
	stacks := make([]byte, 1<<20)
	return strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "muesli/cancelreader")
}

// On a screen without redrawing every line is written once, and answers are lines.
func TestDumbScreen(t *testing.T) {
	p := sit(t, create, func(o *tui.Options, _ *chat.Options) {
		o.Style.Live, o.Style.Plain = false, true
	})
	p.Hold(60)
	p.answers("write it")
	p.sees("unseen   ", "y yes, when complete")
	p.Go()
	p.sees("y once")
	p.answers("yes")
	p.sees("type one letter and Enter")
	p.answers("r")
	p.sees("Write the reason after the r")
	p.answers("a")
	p.sees("always: in this conversation")
	p.answers("q")
	p.sees("Nothing was granted")
	p.answers("r use another name")
	p.sees("refused: use another name", "Done.")
}

// answers types a line at a terminal without cursor control.
func (p *person) answers(text string) {
	p.session.Send(tui.Line(text + "\n"))
}

// Proves H14, H15: the line shows its text, wherever the cursor is.
func TestLineEditing(t *testing.T) {
	p := sit(t, "turn\nsay Hello.\nturn\nsay Again.\n")
	for _, k := range []rune{'a', 'c', tea.KeyLeft, 'b', tea.KeyEnd, 'd', '\b', tea.KeyHome, '>', 0x05, 'z', 0x17, 'o', 'k', '\r'} {
		p.presses(k)
	}
	p.sees("> ok", "Hello.")
	p.presses(tea.KeyUp)
	p.sees("> ok")
	p.session.Send(tea.PasteMsg{Content: " two\r\nlines \u202e"})
	p.sees(`> ok two\nlines \u{202e}`)
	p.presses('\r')
	p.sees("Again.")
	if body := p.Requests()[1]; !strings.Contains(body, `ok two\nlines`) {
		t.Error(body)
	}
	p.writes("?")
	p.sees("/quit, or Ctrl-D, leaves")
}
