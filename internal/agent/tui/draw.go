package tui

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// collect moves new events from the board to the finished lines.
func (s *Session) collect() {
	var items []item
	items, s.calls = s.Board.drain()
	if s.Quiet {
		s.calls = nil
		return
	}
	for _, i := range items {
		if !i.notice {
			s.asking = i.asked
		}
		switch {
		case i.asked:
		case i.answered:
			s.flush()
		case i.notice:
			s.flush()
			s.printNote("%s", visible.Text(i.text))
		case i.call != nil:
			s.flush()
			s.print(s.Style.Call(*i.call)...)
			s.gap = true
		default:
			s.appendText(i.text, i.thinking)
		}
	}
}

// appendText appends a chunk of the model's text; complete lines are finished.
func (s *Session) appendText(piece string, thinking bool) {
	if thinking != s.inReasoning {
		s.flush()
		s.inReasoning = thinking
	}
	if s.gap {
		s.print("")
		s.gap = false
	}
	s.text += piece
	lines := strings.Split(s.text, "\n")
	for _, l := range lines[:len(lines)-1] {
		s.paragraph(wrap(prose(l), s.Style.columns()-1))
	}
	s.text = lines[len(lines)-1]
	// The first parts of a line longer than the screen are finished, too.
	if parts := wrap(prose(s.text), s.Style.columns()-1); len(parts) > 2 && !strings.ContainsFunc(s.text, visible.Hidden) {
		s.paragraph(parts[:len(parts)-1])
		s.text = parts[len(parts)-1]
	}
}

func (s *Session) paragraph(lines []string) {
	for _, l := range lines {
		if s.inReasoning {
			l = s.Style.paint(dim, l)
		}
		s.print(l)
	}
}

// flush ends the current line of the model.
func (s *Session) flush() {
	if s.text != "" {
		s.paragraph(wrap(prose(s.text), s.Style.columns()-1))
		s.text = ""
	}
}

// live renders the output in progress; the cursor is back columns before the end of the last line.
func (s *Session) live() (live []string, back int) {
	if s.text != "" {
		live = append(live, wrap(prose(s.text), s.Style.columns()-1)...)
	}
	for _, c := range s.calls {
		if s.question != nil && c.Proposal == s.shown.View.Proposal && !s.shown.View.OfResult {
			continue // shown in the question
		}
		live = append(live, s.Style.Call(c)...)
		if c.State <= agent.Complete && s.Questions.Armed(c.Proposal) {
			live = append(live, "    "+s.Style.paint(green, "you said yes: it runs when it is complete"))
		}
	}
	switch {
	case s.question != nil:
		lines, at := s.asked()
		return append(live, lines...), at
	case s.cancel != nil && s.ending:
		live = append(live, s.Style.paint(yellow, "ending it; Ctrl-C again leaves"))
	case s.cancel != nil && len(live) == 0 && s.asking:
		live = append(live, s.Style.paint(dim, "the model is asked "+s.Style.marks().dots+"  (Ctrl-C interrupts)"))
	case s.cancel == nil && !s.Quiet:
		line, at := s.line.render(s.Style, "> ")
		return append(live, line), at
	}
	return live, 0
}

// asked renders the question with its input line.
func (s *Session) asked() (lines []string, back int) {
	lines = s.Style.Question(s.shown)
	if most := s.Style.lines() - 6; s.Style.Live && len(lines) > most && most > 4 {
		lines = append(lines[:most-1:most-1], s.Style.paint(yellow, fmt.Sprintf("%s %d more lines: p shows everything", s.Style.marks().dots, len(lines)-most+1)))
	}
	keys := s.Style.Keys(s.shown.View)
	switch {
	case s.mode == reasoning:
		line, back := s.line.render(s.Style, "why not? (the model reads it; Esc goes back) > ")
		return append(lines, line), back
	case s.mode == granting:
		lines, keys = append(lines, s.offer.render(s.Style)...), s.offer.keys(s.mode)
	case s.mode == writing:
		lines, keys = append(lines, s.offer.renderPlan(s.Style)...), s.offer.keys(s.mode)
	case s.isGuarded():
		return append(lines, s.Style.paint(dim, "one moment: you were typing something else")+" "), 0
	case s.shown.Behind > 0:
		lines = append(lines, s.others()...)
		if len(s.allSeen()) > 1 {
			keys += "  t yes to all seen"
		}
		keys = fmt.Sprintf("(%s) ", count(s.shown.Behind, "more question")) + keys
	}
	// A line breaks between keys, not after a key.
	keys = strings.NewReplacer("  ", "  ", " ", "\u00a0").Replace(keys)
	for _, l := range wrap(keys, s.Style.columns()-3) {
		lines = append(lines, s.Style.paint(bold, strings.ReplaceAll(l, "\u00a0", " ")))
	}
	lines[len(lines)-1] += " "
	return lines, 0
}
