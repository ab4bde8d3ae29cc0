// Package recording runs commands in a terminal and draws their session as an SVG that plays, for
// the documentation.
//
// The commands really run, in a pseudoterminal of 80 columns and 24 lines. What depends on the
// machine is left out: times come from the script, and of lines that a program draws several times
// only the last state is shown. The same programs therefore give the same bytes.
package recording

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Columns and Lines are the size of the terminal.
const (
	Columns = 80
	Lines   = 24
)

// Step is one command of a session.
type Step struct {
	Command string        // run by sh; a line that begins with "#" is a caption
	Pause   time.Duration // after its last line
	Pace    time.Duration // between the lines that it prints
	Still   bool          // its last screen is the one for readers without animation
}

// typing is the time for one key.
const typing = 28 * time.Millisecond

// Session is where the commands run.
type Session struct {
	Dir, Prompt string
	Env         []string
	Replace     map[*regexp.Regexp]string // in what the commands print: ports, for example
}

// Recording is a session that has run.
type Recording struct {
	rows    []row
	scrolls []scroll
	still   int // the first row on the screen for readers without animation
	length  time.Duration
}

// row is a line of the session, wrapped to the terminal.
type row []run

// run is text of a row with one style that appears at one time.
type run struct {
	column int
	text   string
	style  string // classes of the SVG
	at     time.Duration
}

// scroll is a change of the first row on the screen.
type scroll struct {
	top int
	at  time.Duration
}

// Record runs the steps.
func (s Session) Record(steps []Step) (*Recording, error) {
	terminal := vt.NewEmulator(Columns, Lines)
	defer terminal.Close()
	go io.Copy(io.Discard, terminal) // answers to queries
	r := &Recording{}
	for _, step := range steps {
		if err := r.typed(terminal, s.Prompt, step.Command); err != nil {
			return nil, err
		}
		out, err := s.run(step.Command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.Command, err)
		}
		for line := range strings.Lines(out) {
			r.length += step.Pace
			if err := r.printed(terminal, line); err != nil {
				return nil, err
			}
		}
		r.length += step.Pause
		if step.Still {
			r.still = max(0, top(terminal)-1) // not the line of the cursor
		}
	}
	return r, nil
}

// run runs a command in a pseudoterminal and returns what it prints.
func (s Session) run(command string) (string, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = s.Dir, s.Env
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: Lines, Cols: Columns})
	if err != nil {
		return "", err
	}
	defer tty.Close()
	printed, err := io.ReadAll(tty)
	if err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, os.ErrClosed) { // Linux reports the end as EIO
		return "", err
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) { // a refusal has an exit code too
		return "", err
	}
	out := string(printed)
	for pattern, with := range s.Replace {
		out = pattern.ReplaceAllString(out, with)
	}
	return out, nil
}

// typed shows a command as a person types it.
func (r *Recording) typed(terminal *vt.Emulator, prompt, command string) error {
	first := len(r.rows)
	if err := r.printed(terminal, prompt+command+"\r\n"); err != nil {
		return err
	}
	began, n := r.length, 0
	for i := first; i < len(r.rows); i++ {
		var keys row
		for _, part := range r.rows[i] {
			for j, text := range chunks(part.text) {
				at := began
				if n > 0 || i > first { // the prompt is there before the first key
					at += time.Duration(n) * typing
				}
				keys = append(keys, run{part.column + j*chunk, text, styleOf(command), at})
				n += len([]rune(text))
			}
		}
		r.rows[i] = keys
	}
	r.length = began + time.Duration(n)*typing + 300*time.Millisecond
	return nil
}

func styleOf(command string) string {
	if strings.HasPrefix(command, "#") {
		return "d"
	}
	return "b"
}

// chunk is how many keys appear together.
const chunk = 3

func chunks(text string) []string {
	var list []string
	for runes := []rune(text); len(runes) > 0; {
		n := min(chunk, len(runes))
		list = append(list, string(runes[:n]))
		runes = runes[n:]
	}
	return list
}

// printed writes a line to the terminal and keeps the rows that it became.
func (r *Recording) printed(terminal *vt.Emulator, line string) error {
	before := top(terminal)
	if _, err := terminal.WriteString(line); err != nil {
		return err
	}
	for len(r.rows) < top(terminal)+terminal.CursorPosition().Y {
		r.rows = append(r.rows, cells(terminal, len(r.rows), r.length))
	}
	if now := top(terminal); now != before {
		r.scrolls = append(r.scrolls, scroll{now, r.length})
	}
	return nil
}

// top is the first row on the screen, of all rows.
func top(terminal *vt.Emulator) int { return terminal.Scrollback().Len() }

// String returns the session as text.
func (r *Recording) String() string {
	var out strings.Builder
	for _, row := range r.rows {
		line := []rune(strings.Repeat(" ", Columns))
		for _, part := range row {
			copy(line[part.column:], []rune(part.text))
		}
		out.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return out.String()
}
