package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

const help = `y  run it, this once. While it is still being written: run it when it is complete;
   you are asked again if something comes that you have not seen
w  run it, whatever still comes
a  run it, and do not ask again for this: shows first what "this" is, x something else
2  show question 2 of those that wait; t  run all that you have seen, this once
n  do not run it; then say what to do instead
r  do not run it, and tell the model why
e  change the arguments in an editor ($EDITOR), then run that; it is judged again
p  print everything in full
Ctrl-C  end what is under way; twice: leave`

// idleTime is the time without a key before a key can answer a question that appears while the person
// types (H15).
const idleTime = 600 * time.Millisecond

// key handles a key.
func (s *Session) key(k tea.KeyPressMsg) {
	now, read := s.Now(), s.read.Load()
	first := read != s.handled // of the keys of one read only the first can answer
	s.typed, s.handled = now, read
	switch {
	case k.String() == "ctrl+c":
		s.interrupt()
	case s.question != nil && s.mode == reasoning:
		s.reason(k)
	case s.isGuarded():
		s.guarded = now.Add(idleTime / 2)
	case s.question != nil && first && read > s.displayed.UnixNano():
		s.answer(k.String(), "")
	case s.question != nil || s.cancel != nil:
		// Keys before a question was shown do not count.
	case k.String() == "ctrl+d" && len(s.line.text) == 0:
		s.leave(nil)
	case s.line.key(k):
		s.typed = time.Time{} // the line was complete
		s.enter(s.line.clear())
	}
}

// paste handles a pasted text, which never answers a question.
func (s *Session) paste(text string) {
	s.typed = s.Now()
	if s.question == nil || s.mode == reasoning {
		s.line.insert(text)
	}
}

// command handles a line, typed at a terminal without cursor control.
func (s *Session) command(text string) {
	if s.question == nil {
		if s.cancel == nil {
			s.enter(text)
		}
		return
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case s.isGuarded():
		s.printNote("That was typed before the question was shown; nothing was answered.")
	case len([]rune(word)) != 1 || rest != "" && word != "r":
		s.printNote("Nothing was answered: type one letter and Enter. ? explains them.")
	default:
		s.answer(word, strings.TrimSpace(rest))
	}
}

// enter handles a complete line as a message, or as a command.
func (s *Session) enter(text string) {
	text = strings.TrimSpace(text)
	switch text {
	case "":
		if s.Agent.Waiting() {
			s.start("")
		} else if s.Empty != "" {
			text, s.Empty = s.Empty, ""
			s.start(text)
		}
	case "/quit", "/exit", "/q":
		s.leave(nil)
	case "/tools":
		if s.Listing != nil {
			for _, l := range s.Listing() {
				s.print(s.Style.cut(l, s.Style.columns()-1))
			}
		}
	case "/help", "?":
		s.print("Write a task for the agent. When the policy asks, answer with one key:")
		s.print(strings.Split(help, "\n")...)
		s.print("/tools lists the tools. /quit, or Ctrl-D, leaves; stopgate agent --resume goes on later.")
	default:
		if s.Style.Live {
			for i, l := range wrap(prose(strings.ReplaceAll(text, "\n", " ")), s.Style.columns()-3) {
				s.print(s.Style.paint(bold, []string{"> ", "  "}[min(i, 1)]+l))
			}
		}
		s.start(text)
	}
}

// interrupt cancels the current operation; without one, or when repeated, it leaves.
func (s *Session) interrupt() {
	switch {
	case s.cancel != nil && !s.ending:
		s.ending = true
		s.cancel(agent.Interrupted())
	case s.cancel == nil && len(s.line.text) > 0:
		s.line.clear()
	case s.cancel == nil && !s.warned:
		s.warned = true
		s.print(s.Style.paint(dim, "Ctrl-C again leaves"))
	default:
		s.leave(nil)
	}
}

// answer handles one key as the answer to the displayed question.
func (s *Session) answer(key, rest string) {
	switch s.mode {
	case granting:
		s.grant(key)
		return
	case writing:
		s.write(key)
		return
	}
	v, q := s.shown.View, s.question
	s.see(q, v)
	edit := v.Verdict.Mode == stopgate.Edit
	switch key {
	case "y":
		if edit {
			s.printNote("The policy wants you to look at it in an editor: e.")
			return
		}
		q.Allow(v, s.shown.Parameters)
	case "w":
		if v.Complete || edit {
			s.printNote("Everything is there: y, or n.")
			return
		}
		q.AllowRest(v)
	case "a":
		s.always()
	case "n":
		q.Decline(v, "")
	case "r":
		switch {
		case rest != "":
			q.Decline(v, rest)
		case s.Style.Live:
			s.mode = reasoning
		default:
			s.printNote("Write the reason after the r, on the same line.")
		}
	case "e":
		s.edit()
	case "p":
		all := s.shown
		all.All = true
		s.print(s.Style.Question(all)...)
	case "t":
		s.together()
	case "?":
		s.print(strings.Split(help, "\n")...)
	default:
		if s.choose(key) {
			return
		}
		s.printNote("Nothing was answered: one of y w a n r e p, or ?.")
	}
}

// reason handles a key while the reason of a refusal is typed.
func (s *Session) reason(k tea.KeyPressMsg) {
	if k.String() == "esc" {
		s.line.clear()
		s.mode = answering
		return
	}
	if !s.line.key(k) {
		return
	}
	why := strings.TrimSpace(s.line.clear())
	s.mode = answering
	if why == "" {
		s.printNote("Nothing was answered.")
		return
	}
	s.question.Decline(s.shown.View, why)
}

// edit opens the arguments, or a result, in an editor.
func (s *Session) edit() {
	v, q := s.shown.View, s.question
	if !v.Complete {
		s.printNote("It can be edited when it is complete.")
		return
	}
	before, file := v.Result, "result.txt"
	if !v.OfResult {
		before, file = formatJSON(v.Args), "arguments.json"
	}
	text := before
	if s.draft != "" {
		text = s.draft
	}
	e := &editing{}
	e.run = func() error { // outside of the event loop's state
		var err error
		text, err = s.Edit(s.ctx, file, text)
		return err
	}
	e.done = func(err error) {
		if err != nil {
			s.printNote("Not edited: %s", plainError(err))
		} else {
			s.edited(q, v, before, text)
		}
	}
	s.editor = e
}

// edited validates the text of the editor and answers with it.
func (s *Session) edited(q *agent.Question, v gate.View, before, after string) {
	if v.OfResult {
		q.Edit(v, after)
		return
	}
	if _, err := jsonstream.Parse([]byte(after), jsonstream.Options{ObjectRoot: true}); err != nil {
		s.draft = after
		s.printNote("That is no valid object: %s. e opens it again as you left it.", plainError(err))
		return
	}
	switch {
	case after != before:
		line := strings.Join(strings.Fields(visible.Lines(strings.ReplaceAll(after, "\n", " "))), " ")
		s.print(s.Style.paint(dim, "changed to "+s.Style.middle(line, s.Style.columns()-13)))
		q.Edit(v, after)
	case v.Verdict.Mode == stopgate.Edit:
		q.Allow(v, nil) // the policy requires no more (K31)
	default:
		s.printNote("Nothing was changed, nothing was answered.")
	}
}

func (s *Session) printNote(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), s.Style.columns()-2) {
		s.print(s.Style.paint(yellow, l))
	}
}
