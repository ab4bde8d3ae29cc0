package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/visible"
)

// drain moves new items from the board to the finished lines.
func (s *Session) drain() (calls []agent.Call) {
	items, calls := s.Board.drain()
	if s.Quiet {
		return nil
	}
	for _, i := range items {
		switch {
		case i.asked:
			s.asking = true
		case i.answered:
			s.asking = false
			s.flush()
		case i.notice:
			s.flush()
			for _, line := range wrap(visible.Text(i.text), s.Style.columns()-2) {
				s.stay = append(s.stay, s.Style.paint(yellow, line))
			}
		case i.call != nil:
			s.asking = false
			s.flush()
			s.stay = append(s.stay, s.Style.Call(*i.call)...)
			s.gap = true
		default:
			s.asking = false
			s.appendText(i.text, i.thinking)
		}
	}
	return calls
}

// appendText appends a chunk of the model's text; complete lines are finished.
func (s *Session) appendText(piece string, thinking bool) {
	if thinking != s.thought {
		s.flush()
		s.thought = thinking
	}
	if s.gap {
		s.stay, s.gap = append(s.stay, ""), false
	}
	s.text += piece
	lines := strings.Split(s.text, "\n")
	for _, l := range lines[:len(lines)-1] {
		s.paragraph(l)
	}
	s.text = lines[len(lines)-1]
	// The first parts of a line longer than the screen are finished, too.
	if parts := wrap(prose(s.text), s.Style.columns()-1); len(parts) > 2 && !strings.ContainsFunc(s.text, visible.Hidden) {
		for _, l := range parts[:len(parts)-1] {
			s.addLine(l)
		}
		s.text = parts[len(parts)-1]
	}
}

// prose makes a line of a model's text safe to print.
func prose(text string) string { return visible.Lines(strings.ReplaceAll(text, "\t", "    ")) }

func (s *Session) paragraph(text string) {
	for _, l := range wrap(prose(text), s.Style.columns()-1) {
		s.addLine(l)
	}
}

func (s *Session) addLine(line string) {
	if s.thought {
		line = s.Style.paint(dim, line)
	}
	s.stay = append(s.stay, line)
}

// flush ends the current line of the model.
func (s *Session) flush() {
	if s.text != "" {
		s.paragraph(s.text)
		s.text = ""
	}
}

// show redraws the screen.
func (s *Session) show() {
	if s.Size != nil {
		if w, h := s.Size(); w > 0 && h > 0 {
			s.Style.Width, s.Style.Height, s.screen.style.Width, s.screen.style.Height = w, h, w, h
		}
	}
	calls := s.drain()
	var live []string
	back := 0
	if s.text != "" {
		live = append(live, wrap(prose(s.text), s.Style.columns()-1)...)
	}
	for _, c := range calls {
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
		live, back = append(live, lines...), at
	case s.cancel != nil && s.ending:
		live = append(live, s.Style.paint(yellow, "ending it; Ctrl-C again leaves"))
	case s.cancel != nil && len(live) == 0 && s.asking:
		live = append(live, s.Style.paint(dim, "the model is asked "+s.Style.marks().dots+"  (Ctrl-C interrupts)"))
	case s.cancel == nil && s.Keyboard != nil && !s.Quiet:
		line, at := s.entry("> ")
		live, back = append(live, line), at
	}
	s.screen.draw(s.stay, live, back)
	s.stay, s.drawn, s.urgent = nil, time.Now(), false
}

// asked renders the question with its input line.
func (s *Session) asked() (lines []string, back int) {
	lines = s.Style.Question(s.shown)
	if most := s.Style.lines() - 6; len(lines) > most && most > 4 {
		lines = append(lines[:most-1:most-1], s.Style.paint(yellow, fmt.Sprintf("%s %d more lines: p shows everything", s.Style.marks().dots, len(lines)-most+1)))
	}
	switch s.mode {
	case reasoning:
		line, back := s.entry("why not? (the model reads it; Esc goes back) > ")
		return append(lines, line), back
	case granting:
		return s.keyed(append(lines, s.offered()...), s.offer.keys()), 0
	case writing:
		return s.keyed(append(lines, s.change()...), writeKeys), 0
	}
	if s.isGuarded() {
		return append(lines, s.Style.paint(dim, "one moment: you were typing something else")+" "), 0
	}
	keys := s.Style.Keys(s.shown.View, false)
	if s.shown.Behind > 0 {
		keys = fmt.Sprintf("(%s) ", count(s.shown.Behind, "more question")) + keys
	}
	return s.keyed(lines, keys), 0
}

// keyed appends the keys of a question, with the cursor after them.
func (s *Session) keyed(lines []string, keys string) []string {
	for _, l := range wrap(keys, s.Style.columns()-3) {
		lines = append(lines, s.Style.paint(bold, l))
	}
	lines[len(lines)-1] += " "
	return lines
}

// entry renders the input line, with the part of the text around the cursor that fits.
func (s *Session) entry(prompt string) (text string, back int) {
	show := func(r []rune) string { return strings.ReplaceAll(visible.Text(string(r)), `\\`, `\`) }
	before, after := show(s.line.text[:s.line.at]), show(s.line.text[s.line.at:])
	room := s.Style.columns() - cells(prompt) - 2
	if over := cells(before) - room*3/4; over > 0 && cells(before)+cells(after) > room {
		runes := []rune(before)
		for over > 0 && len(runes) > 0 {
			over -= cellsOf(runes[0])
			runes = runes[1:]
		}
		before = string(runes)
	}
	after = s.Style.cut(after, max(room-cells(before), 0))
	return s.Style.paint(bold, prompt) + before + after, cells(after)
}
