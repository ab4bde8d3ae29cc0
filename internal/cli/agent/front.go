package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/tui"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

// front is the interface of the agent to a person or a program.
type front struct {
	agentRun  *agentRun
	watch     agent.Watcher
	questions *agent.QuestionQueue // nil: no one is asked
	terminal  *tty.Terminal
	board     *tui.Board
	gate      *gate.Gate
	style     tui.Style
	quiet     bool
	tools     agent.Runner
	listing   func() []string
	lines     *agentLines // of --format json
}

// maxMessage bounds a message on standard input.
const maxMessage = 4 << 20

// front finds out who is there: a person at a terminal, a program, or both.
func (r *agentRun) front() (*front, error) {
	f := &front{agentRun: r}
	in, inside := r.In.(*os.File)
	out, outside := cli.OutputFile(r.Out)
	if !r.once && (!inside || !tty.Is(in)) {
		text, err := io.ReadAll(io.LimitReader(r.In, maxMessage))
		if err != nil {
			return nil, fmt.Errorf("read the message: %w", err)
		}
		if r.first = strings.TrimSpace(string(text)); r.first == "" && len(r.past) == 0 {
			return nil, cli.Usagef("there is no message: give one, or start the agent at a terminal")
		}
		r.once = true
	}
	f.style = tui.Style{Form: tui.Form(r.style()), Plain: os.Getenv("TERM") == "dumb"}
	f.quiet = r.format == "json" || !outside || !tty.Is(out)
	switch {
	case r.format == "json":
		f.lines = &agentLines{out: r.Out, model: r.model}
		f.watch = f.lines
	case f.quiet:
		f.watch = &tui.Plain{Data: r.Out, Notes: r.Err, Style: f.style}
	}
	if !r.flags.alone {
		if err := f.openTerminal(); err != nil && !errors.Is(err, tty.ErrNone) {
			return nil, err
		}
	}
	if f.watch == nil {
		f.watch = &tui.Plain{Data: r.Out, Notes: r.Err, Style: f.style}
	}
	return f, nil
}

// openTerminal opens the terminal of the process.
func (f *front) openTerminal() error {
	t, err := tty.Open()
	if err != nil {
		return err
	}
	f.terminal = t
	f.style.Width, f.style.Height = t.Size()
	f.style.Live = !f.style.Plain
	f.style.Color = f.style.Live && os.Getenv("NO_COLOR") == ""
	f.board = tui.NewBoard()
	f.questions = agent.NewQuestionQueue(cli.Operator(), f.agentRun.queue, time.Now)
	if f.watch == nil {
		f.watch = f.board
	} else {
		f.watch = tui.Both{f.watch, f.board}
	}
	return nil
}

// approver returns the approver of questions, nil without a terminal.
func (f *front) approver() gate.Approver {
	if f.questions == nil {
		return nil
	}
	return f.questions
}

// close gives the terminal back.
func (f *front) close() {
	if f.terminal != nil {
		if f.style.Live {
			f.terminal.Drain() // replies of the terminal to queries that came too late
		}
		f.terminal.Close()
	}
}

func (f *front) run(ctx context.Context, a *agent.Agent) (err error) {
	r := f.agentRun
	var sum agent.Summary
	began := time.Now()
	if f.questions == nil {
		sum, err = a.Process(ctx, r.first)
	} else {
		o := tui.Options{
			Agent: a, Board: f.board, Questions: f.questions, Tools: f.tools, In: f.terminal.File, Out: f.terminal.File,
			Drain: f.terminal.Drain, Edit: f.terminal.EditFile,
			Style: f.style, Quiet: f.quiet, Rule: f.rule, Listing: f.listing,
		}
		if r.model.script != nil {
			o.Saved = r.model.script.saved
		}
		if !f.quiet {
			o.Greeting = f.greeting(a)
		}
		if r.tour() && len(r.past) == 0 {
			o.Empty = "Show me around."
		}
		sum, err = tui.New(o).Run(ctx, r.first, r.once)
	}
	if f.lines != nil {
		return errors.Join(f.lines.end(a.ID(), sum, err), err)
	}
	if f.quiet || f.questions == nil {
		saved := int64(0)
		if r.model.script != nil {
			saved = r.model.script.saved()
		}
		fmt.Fprintln(r.Err, tui.SummaryLine(sum, 0, saved, time.Since(began)))
	}
	return err
}

// greeting returns the lines at the start: directory, model and conversation.
func (f *front) greeting(a *agent.Agent) []string {
	r := f.agentRun
	who := visible.Text(r.model.endpoint.Model)
	if r.model.script != nil {
		who += ", a script: no model is set up (--model NAME)"
	}
	lines := []string{"stopgate agent in " + visible.Text(r.dir), "model: " + who}
	switch {
	case len(r.past) > 0 && a.Waiting():
		lines = append(lines, fmt.Sprintf("resumed: %d entries. It ended where the model has to speak: Enter goes on, or write something.", len(r.past)))
	case len(r.past) > 0:
		lines = append(lines, fmt.Sprintf("resumed: %d entries. Write what comes next.", len(r.past)))
	case r.tour():
		lines = append(lines, "Press Enter for a tour of two minutes. ? explains, Ctrl-D leaves.")
	default:
		lines = append(lines, "Write what it shall do. ? explains, Ctrl-D leaves.")
	}
	text := cli.Fit(f.terminal.File, strings.Join(append(lines, f.recalled()...), "\n"))
	return append(strings.Split(text, "\n"), "")
}

// recalled returns the last message and response of a resumed conversation.
func (f *front) recalled() (lines []string) {
	var asked, answered string
	for _, e := range f.agentRun.past {
		switch e.Kind {
		case conversation.User:
			asked, answered = e.Text, ""
		case conversation.Reply:
			for _, p := range e.Parts {
				if p.Kind == conversation.Text {
					answered = p.Text
				}
			}
		}
	}
	for _, said := range []string{"> " + asked, answered} {
		if said = strings.TrimSpace(said); len(said) > 1 {
			lines = append(lines, visible.Elide(strings.ReplaceAll(visible.Text(said), `\\`, `\`), 60))
		}
	}
	return lines
}

// tour reports whether the scripted model of newcomers plays.
func (r *agentRun) tour() bool {
	return r.model.script != nil && r.model.endpoint.Model == "stopgate-tour"
}

// style is how calls are shown.
func (r *agentRun) style() string {
	if r.flags.style != "" {
		return r.flags.style
	}
	return r.table.Style
}
