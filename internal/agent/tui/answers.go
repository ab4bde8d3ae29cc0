package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

const help = `y  run it, this once. While it is still being written: run it when it is complete;
   you are asked again if something comes that you have not seen
w  run it, whatever still comes
a  run it, and do not ask again for this: shows first what "this" is
n  do not run it; then say what to do instead
r  do not run it, and tell the model why
e  change the arguments in an editor ($EDITOR), then run that; it is judged again
p  print everything in full
Ctrl-C  end what is under way; twice: leave`

// keys handles input. It reports whether the person leaves.
func (s *Session) keys(k Keys) (leave bool, err error) {
	if k.Err != nil {
		return true, nil // the terminal was closed
	}
	now := s.Now()
	s.typed = now
	if k.Paste != "" {
		if s.question == nil || s.mode == reasoning {
			s.line.insert(k.Paste)
		}
		return false, nil
	}
	for i, key := range k.Keys {
		if key == ctrlC {
			if s.interrupt() {
				return true, nil
			}
			continue
		}
		switch {
		case s.question != nil && s.mode == reasoning:
			s.reason(key)
		case s.question != nil:
			if s.isGuarded() {
				s.guarded = now.Add(idleTime / 2)
				return false, nil
			}
			if i > 0 && !s.Keyboard.Lines() {
				return false, nil // one key per read can answer
			}
			if s.Keyboard.Lines() {
				s.command(k.Keys)
			} else {
				s.answer(key, "")
			}
			return false, nil
		case s.cancel != nil:
			// Input before the question was shown does not count.
		case key == ctrlD && len(s.line.text) == 0:
			return true, nil
		case s.line.key(key):
			if s.enter() {
				return true, nil
			}
		}
	}
	return false, nil
}

// enter handles a complete line as a message, or as a command to leave.
func (s *Session) enter() (leave bool) {
	text := strings.TrimSpace(s.line.clear())
	s.typed = time.Time{} // the line was complete
	switch text {
	case "":
		if s.Agent.Waiting() {
			s.start("")
		} else if s.Empty != "" {
			text, s.Empty = s.Empty, ""
			s.start(text)
		}
		return false
	case "/quit", "/exit", "/q":
		return true
	case "/tools":
		if s.Listing != nil {
			for _, l := range s.Listing() {
				s.stay = append(s.stay, s.Style.cut(l, s.Style.columns()-1))
			}
		}
		return false
	case "/help", "?":
		s.stay = append(s.stay, "Write what the agent shall do. When the policy asks, answer with one key:")
		s.stay = append(s.stay, strings.Split(help, "\n")...)
		s.stay = append(s.stay, "/tools lists the tools. /quit, or Ctrl-D, leaves; stopgate agent --resume goes on later.")
		return false
	}
	if !s.Keyboard.Lines() {
		for i, l := range wrap(prose(strings.ReplaceAll(text, "\n", " ")), s.Style.columns()-3) {
			s.stay = append(s.stay, s.Style.paint(bold, []string{"> ", "  "}[min(i, 1)]+l))
		}
	}
	s.start(text)
	return false
}

// interrupt cancels the current operation; without one, or when repeated, it leaves.
func (s *Session) interrupt() (leave bool) {
	switch {
	case s.cancel != nil && !s.ending:
		s.ending = true
		s.cancel(agent.Interrupted())
		return false
	case s.cancel != nil:
		return true
	case len(s.line.text) > 0:
		s.line.clear()
		return false
	case !s.leaving:
		s.leaving = true
		s.stay = append(s.stay, s.Style.paint(dim, "Ctrl-C again leaves"))
		return false
	}
	return true
}

// command handles an answer that was typed as a line.
func (s *Session) command(keys []Key) {
	var b strings.Builder
	for _, k := range keys {
		if k >= ' ' {
			b.WriteRune(rune(k))
		}
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(b.String()), " ")
	if len([]rune(word)) != 1 || rest != "" && word != "r" {
		s.tell("Nothing was answered: type one letter and Enter. ? explains them.")
		return
	}
	s.answer(Key([]rune(word)[0]), strings.TrimSpace(rest))
}

func (s *Session) tell(format string, args ...any) {
	for _, l := range wrap(fmt.Sprintf(format, args...), s.Style.columns()-2) {
		s.stay = append(s.stay, s.Style.paint(yellow, l))
	}
}

// answer handles one key as the answer to the displayed question.
func (s *Session) answer(key Key, rest string) {
	switch s.mode {
	case granting:
		s.grant(key)
		return
	case writing:
		s.write(key)
		return
	}
	v, q := s.shown.View, s.question
	edit := v.Verdict.Mode == stopgate.Edit
	switch key {
	case 'y':
		if edit {
			s.tell("The policy wants you to look at it in an editor: e.")
			return
		}
		q.Allow(v, s.shown.Parameters)
	case 'w':
		if v.Complete || edit {
			s.tell("Everything is there: y, or n.")
			return
		}
		q.AllowRest(v)
	case 'a':
		s.always()
	case 'n':
		q.Decline(v, "")
	case 'r':
		if rest != "" {
			q.Decline(v, rest)
			return
		}
		if s.Keyboard.Lines() {
			s.tell("Write the reason behind the r.")
			return
		}
		s.mode = reasoning
	case 'e':
		s.edit()
	case 'p':
		all := s.shown
		all.All = true
		s.stay = append(s.stay, s.Style.Question(all)...)
	case '?':
		s.stay = append(s.stay, strings.Split(help, "\n")...)
	case enter, newline, ' ', KeyEscape, KeyOther:
		s.tell("Nothing was answered. ? explains the keys.")
	default:
		s.tell("Nothing was answered: one of y w a n r e p, or ?.")
	}
}

// reason handles a key while the reason of a refusal is typed.
func (s *Session) reason(key Key) {
	if key == KeyEscape {
		s.line.clear()
		s.mode = answering
		return
	}
	if !s.line.key(key) {
		return
	}
	why := strings.TrimSpace(s.line.clear())
	s.mode = answering
	if why == "" {
		s.tell("Nothing was answered.")
		return
	}
	s.question.Decline(s.shown.View, why)
}

// edit opens the arguments, or a result, in an editor. It validates the text before it answers.
func (s *Session) edit() {
	v := s.shown.View
	if !v.Complete {
		s.tell("It can be edited when it is complete.")
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
	s.screen.draw(s.stay, nil, 0)
	s.stay = nil
	after, err := s.Keyboard.Edit(s.ctx, file, text)
	if err != nil {
		s.tell("Not edited: %s", plainError(err))
		return
	}
	if v.OfResult {
		s.question.Edit(v, after)
		return
	}
	if _, err := jsonstream.Parse([]byte(after), jsonstream.Options{ObjectRoot: true}); err != nil {
		s.draft = after
		s.tell("That is no valid object: %s. e opens it again as you left it.", plainError(err))
		return
	}
	switch {
	case after != before:
		line := strings.Join(strings.Fields(visible.Lines(strings.ReplaceAll(after, "\n", " "))), " ")
		s.stay = append(s.stay, s.Style.paint(dim, "changed to "+s.Style.middle(line, s.Style.columns()-13)))
		s.question.Edit(v, after)
	case v.Verdict.Mode == stopgate.Edit:
		s.question.Allow(v, nil) // the policy requires no more (K31)
	default:
		s.tell("Nothing was changed, nothing was answered.")
	}
}
