package terminal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/visible"
)

// maxOthers bounds the listed questions after the one on the screen.
const maxOthers = 9

// number returns the number of a question at this terminal. It stays the same while the terminal runs, so
// that an answer by number is never for a question that took the place of another.
func (s *session) number(id string) int {
	if s.numbers[id] == 0 {
		s.numbers[id] = len(s.numbers) + 1
	}
	return s.numbers[id]
}

// byNumber returns a waiting question.
func (s *session) byNumber(text string) (approve.Entry, bool) {
	n, err := strconv.Atoi(text)
	if err == nil && n > 0 {
		for _, e := range s.waiting {
			if s.numbers[e.ID] == n {
				return e, true
			}
		}
	}
	return approve.Entry{}, false
}

// others lists the questions that wait besides one, oldest first, each on one line.
func (s *session) others(shown approve.Entry) string {
	var b strings.Builder
	n := 0
	for i := len(s.waiting) - 1; i >= 0; i-- {
		e := s.waiting[i]
		number := s.number(e.ID)
		if e.ID == shown.ID {
			continue
		}
		if n++; n > maxOthers {
			continue
		}
		args, seen := "(arriving)", ""
		if e.Complete {
			args = visible.Elide(strings.ReplaceAll(visible.Text(e.Args), `\\`, `\`), 60)
		}
		if s.seen[e.ID] == e.Binding.Hash() && e.Complete {
			seen = "  (seen)"
		}
		fmt.Fprintf(&b, "  %d  %s  %s%s\n", number, visible.Elide(visible.Text(string(e.Tool)), 40), args, seen)
	}
	if n == 0 {
		return ""
	}
	head := "One more question waits:\n"
	if n > 1 {
		head = fmt.Sprintf("%d more questions wait:\n", n)
	}
	if n > maxOthers {
		fmt.Fprintf(&b, "  and %d more\n", n-maxOthers)
	}
	return head + b.String() + fmt.Sprintf("This is %d. A number shows that question; \"y 1 2\" or \"n 1 2\" answers those you have seen.\n", s.number(shown.ID))
}

// several answers questions by their numbers with the same answer: all of them, or none if one was
// not shown in full as it is now.
func (s *session) several(ctx context.Context, kind approve.Kind, numbers []string) {
	var list []approve.Entry
	for _, text := range numbers {
		e, ok := s.byNumber(text)
		switch {
		case !ok:
			s.say("There is no question %s now. Nothing was answered.", visible.Text(text))
			return
		case kind != approve.No && (!e.Complete || s.seen[e.ID] != e.Binding.Hash()):
			s.say("Question %s was not shown in full yet: type %s. Nothing was answered.", text, text)
			return
		}
		list = append(list, e)
	}
	for _, e := range list {
		got, err := s.queue.Answer(ctx, e.ID, approve.Reply{Kind: kind, By: s.By, Via: approve.ViaTerminal, Seen: e.Binding.Hash()})
		if err != nil {
			fmt.Fprintf(s.Out, "%d  Not answered: %s.\n", s.number(e.ID), message(err))
			continue
		}
		fmt.Fprintf(s.Out, "%d  %s\n", s.number(e.ID), confirmations[got.State])
		s.forget(e.ID)
		if got.State == approve.Waiting { // for others
			s.deferred[e.ID] = true
		}
	}
}
