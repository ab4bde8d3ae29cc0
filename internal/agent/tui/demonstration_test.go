package tui_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/testkit/chat"
)

// scene is a part of the demonstration: the screen, in steps.
type scene struct {
	*person
	text strings.Builder
}

// shows adds the current screen, from a line on.
func (s *scene) shows(caption, from string) {
	screen := s.sees(from)
	at := strings.LastIndex(screen, from)
	screen = screen[strings.LastIndexByte(screen[:at], '\n')+1:]
	fmt.Fprintf(&s.text, "%s\n\n```text\n%s```\n\n", caption, screen)
}

// Proves D26-16, D26-22, D26-23, H3: the demonstration in docs/agent.md is the real output; -update
// rewrites it.
func TestDemonstration(t *testing.T) {
	var text strings.Builder
	for _, play := range []func(t *testing.T) string{early, stopped, editedAway, oneOfTwo} {
		text.WriteString(play(t))
	}
	const page, begin, end = "../../../docs/agent.md", "<!-- demonstration: generated -->\n", "<!-- demonstration: end -->"
	now, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(now), begin)
	got, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the page has no place for the demonstration")
	}
	if want := "\n" + text.String(); got != want && *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("docs/agent.md is out of date; run the test with -update. It is:\n%s", want)
	}
}

// play runs a script with a person.
func play(t *testing.T, script string, files map[string]string) *scene {
	return &scene{person: sit(t, script, func(o *tui.Options, c *chat.Options) { c.Files = files })}
}

func early(t *testing.T) string {
	s := play(t, `turn
say I put the greeting into a file of its own.
call fs_create_file
  path string src/greet.go
  content text
    // Package greet says hello.
    package greet

    // Hello greets somebody.
    func Hello(name string) string {
    	if name == "" {
    		name = "world"
    	}
    	return "Hello, " + name
    }
turn
say Done.
`, nil)
	s.Hold(60)
	s.writes("give the greeting a file of its own")
	s.Held()
	s.sees("func Hello(", fmt.Sprintf("streaming, %d B", s.Call(1).Parameters[1].Bytes))
	s.shows("**A question while the content is still being written.** The rule is certain at the path; what is not there yet is named as unseen.", "> give the greeting")
	s.presses('y')
	s.sees("you said yes")
	s.shows("`y`: the stream continues, and the call runs when it is complete.", "? fs_create_file")
	s.Go()
	s.sees("Done.", "1 call: 1 ran", "0.0 s", "\n>\n")
	s.shows("", "✓ fs_create_file")
	return strings.ReplaceAll(s.text.String(), "\n\n\n```text", "\n\n```text")
}

func stopped(t *testing.T) string {
	s := play(t, `turn
say The test needs a token, so I write one into .env.
call fs_create_file
  path string .env
  content repeat 300 OPTION_%d=on
turn
say Then the test has to do without it: please set the token yourself.
`, nil)
	s.writes("make the test pass")
	s.sees("set the token yourself", "0.0 s", "\n>\n")
	s.shows("**A refusal that stops the model.** The guard is certain at byte 14 of the arguments; the rest is never written, and the agent goes on by itself.", "> make the test")
	return s.text.String()
}

func editedAway(t *testing.T) string {
	s := play(t, `turn
call fs_create_file
  path string settings.txt
  content string TOKEN=abc
turn
say I leave it.
`, nil)
	s.edit = func(string) (string, error) { return `{"path": ".env", "content": "TOKEN=abc\n"}`, nil }
	s.writes("write the token into a file")
	s.sees("y once")
	s.shows("**An edit is judged like everything else.** Here a person presses `e` and changes the path to `.env`.", "│ fs_create_file")
	s.presses('e')
	s.sees("I leave it.", "0.0 s", "\n>\n")
	s.shows("", "changed to")
	return strings.ReplaceAll(s.text.String(), "```\n\n\n\n```text", "```\n\n```text")
}

func oneOfTwo(t *testing.T) string {
	s := play(t, `turn
say I delete what nobody needs.
call fs_delete_file
  path string build/old.o
call fs_delete_file
  path string notes.md
turn
say The notes stay.
`, map[string]string{"build/old.o": "x\n", "notes.md": "# Notes\nCall Ada.\n"})
	s.writes("clean up")
	s.sees("build/old.o", "1 more question")
	s.shows("**Two calls, one declined.** Questions come one after the other; a no takes only its own call.", "> clean up")
	s.presses('y')
	s.sees("-Call Ada.")
	s.later(1000)
	s.presses('r')
	s.sees("why not?")
	s.writes("keep the notes")
	s.sees("The notes stay.", "1.0 s", "\n>\n")
	s.shows("", "✓ fs_delete_file")
	return strings.ReplaceAll(s.text.String(), "```\n\n\n\n```text", "```\n\n```text")
}
