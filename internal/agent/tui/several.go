package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// maxOthers bounds the listed questions after the one on the screen.
const maxOthers = 5

// number returns the number of a question: the place of its call among those in progress when the first of
// the questions came. It stays the same while questions wait, so that a key is never for a question that
// took the place of another.
func (s *Session) number(q *agent.Question) int {
	if s.numbers == nil {
		s.numbers, s.first = map[*agent.Question]int{}, s.Board.first()
	}
	if s.numbers[q] == 0 {
		n := len(s.numbers) + 1
		if c, ok := s.Board.call(q.View().Proposal); ok && c.Number >= s.first {
			n = c.Number - s.first + 1
		}
		taken := func(n int) bool {
			for _, other := range s.numbers {
				if other == n {
					return true
				}
			}
			return false
		}
		for taken(n) {
			n++
		}
		s.numbers[q] = n
	}
	return s.numbers[q]
}

// others lists the questions that wait after the one on the screen, each on one line.
func (s *Session) others() (lines []string) {
	list := s.Questions.Waiting()
	slices.SortFunc(list, func(a, b *agent.Question) int { return s.number(a) - s.number(b) })
	for _, q := range list {
		if q == s.question {
			continue
		}
		if len(lines) == maxOthers {
			return append(lines, s.Style.paint(dim, fmt.Sprintf("  and %d more", len(list)-1-maxOthers)))
		}
		v := q.View()
		line := fmt.Sprintf("  %d  %s  ", s.number(q), visible.Text(string(v.Call.Tool)))
		switch {
		case v.OfResult:
			line += "its result"
		case !v.Complete:
			line += "arriving"
		default:
			line += jsonText(v.Args)
		}
		if s.wasSeen(q, v) {
			line += "  (seen)"
		}
		lines = append(lines, s.Style.paint(dim, s.Style.middle(line, s.Style.columns()-2)))
	}
	return lines
}

// choose shows the question of a number. It reports whether the key is a number.
func (s *Session) choose(key string) bool {
	if len(key) != 1 || key < "1" || key > "9" {
		return false
	}
	for _, q := range s.Questions.Waiting() {
		if s.number(q) == int(key[0]-'0') {
			s.chosen = q
			return true
		}
	}
	s.printNote("There is no question %s. Nothing was answered.", key)
	return true
}

// see records that the person pressed a key while a complete question was on the screen: one that was
// replaced before that may not have been read.
func (s *Session) see(q *agent.Question, v gate.View) {
	if !v.Complete || v.OfResult {
		return
	}
	if s.seen == nil {
		s.seen = map[*agent.Question]string{}
	}
	s.seen[q] = v.Binding.Hash()
}

// wasSeen reports whether a question was on the screen as it is now.
func (s *Session) wasSeen(q *agent.Question, v gate.View) bool {
	return v.Complete && !v.OfResult && s.seen[q] == v.Binding.Hash()
}

// allSeen returns the questions that wait and were on the screen as they are now.
func (s *Session) allSeen() []*agent.Question {
	return slices.DeleteFunc(s.Questions.Waiting(), func(q *agent.Question) bool {
		v := q.View()
		return !s.wasSeen(q, v) || v.Verdict.Mode != stopgate.Ask
	})
}

// together answers the question on the screen and all that were on it before with yes.
func (s *Session) together() {
	list := s.allSeen()
	if len(list) < 2 {
		s.printNote("You have seen only this question: y, or n.")
		return
	}
	var names []string
	for _, q := range list {
		names = append(names, fmt.Sprint(s.number(q)))
		q.Allow(q.View(), nil)
	}
	s.print(s.Style.paint(dim, "yes, once, to "+strings.Join(names, ", ")))
}
