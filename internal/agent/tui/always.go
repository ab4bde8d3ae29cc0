package tui

import (
	"fmt"
	"path"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
)

// always is a grant that is offered.
type always struct {
	grant  approve.Grant
	rule   Rule
	widths [][]approve.Value // what it can be widened to
	at     int
	plan   Plan // of the rule, while it is shown
}

// Rule is a rule that would answer a question for good. The zero Rule is none.
type Rule struct {
	Text, Where string // what it says, and where it belongs
	// Plan finds out what writing it there takes; an error says why it is not written.
	Plan func() (Plan, error)
}

// Plan is a change of the person's policy file that is not made yet.
type Plan struct {
	File  string
	Diff  string   // what changes in it, as a unified diff
	Notes []string // what there is to know of it
	// Write makes the change and puts it into force; kept is where the old file is, ""
	// if there was none.
	Write func() (kept string, err error)
}

func (o *always) keys() string {
	keys := "y grant it for this conversation"
	if len(o.widths) > 1 {
		keys += "  x wider or narrower"
	}
	if o.rule.Plan != nil {
		keys += "  f write the rule to your policy file"
	}
	return keys + "  Esc back"
}

// always shows what "do not ask again" would mean.
func (s *Session) always() {
	v := s.shown.View
	if !v.Complete || v.OfResult {
		s.tell("That needs the complete call: y and n are possible now.")
		return
	}
	o := &always{widths: widths(v)}
	if !s.propose(o) {
		return
	}
	s.offer, s.mode = o, granting
	if !s.Style.Live {
		s.stay = append(append(s.stay, s.offered()...), o.keys())
	}
}

// propose makes the grant of the width that is chosen.
func (s *Session) propose(o *always) bool {
	v := s.shown.View
	g, err := s.question.Offer(v, o.widths[o.at])
	if err != nil {
		s.tell("No grant can stand for this: %s.", strings.TrimPrefix(plainError(err), "approve: "))
		return false
	}
	o.grant = g
	if s.Rule != nil {
		o.rule = s.Rule(v, g)
	}
	return true
}

// grant takes a key while a grant is shown.
func (s *Session) grant(key Key) {
	o := s.offer
	switch key {
	case 'y':
		if err := s.question.AllowAlways(s.ctx, s.shown.View, o.grant); err != nil {
			s.tell("Not granted: %s", plainError(err))
		} else {
			s.stay = append(s.stay, s.offered()...)
			s.stay = append(s.stay, s.Style.paint(dim, "stopgate grants list shows what is granted, stopgate grants revoke takes it back."))
		}
	case 'x':
		o.at = (o.at + 1) % len(o.widths)
		if s.propose(o) {
			if !s.Style.Live {
				s.stay = append(append(s.stay, s.offered()...), o.keys())
			}
			return
		}
	case 'f':
		if o.rule.Plan != nil {
			s.planned(o)
			return
		}
		s.tell("There is no rule to write.")
		return
	default:
		s.tell("Nothing was granted, nothing was answered.")
	}
	s.mode, s.offer = answering, nil
}

// planned shows what writing the rule changes.
func (s *Session) planned(o *always) {
	plan, err := o.rule.Plan()
	if err != nil {
		s.tell("The rule is not written: %s.", plainError(err))
		if !s.Style.Live {
			s.stay = append(s.stay, o.keys())
		}
		return
	}
	o.plan, s.mode = plan, writing
	if !s.Style.Live {
		s.stay = append(append(s.stay, s.change()...), writeKeys)
	}
}

const writeKeys = "y write it, and run the call  Esc back"

// change shows the change of the file.
func (s *Session) change() (lines []string) {
	bar := s.Style.paint(yellow, s.Style.marks().bar) + " "
	room := s.Style.columns() - 3
	for _, l := range wrap("for good: this change of "+visible.Text(s.offer.plan.File), room) {
		lines = append(lines, bar+s.Style.paint(bold, l))
	}
	for _, l := range s.Style.diff(s.offer.plan.Diff, 40) {
		lines = append(lines, bar+strings.TrimPrefix(l, "    "))
	}
	for _, note := range s.offer.plan.Notes {
		for _, l := range wrap("note: "+visible.Text(note), room) {
			lines = append(lines, bar+s.Style.paint(yellow, l))
		}
	}
	return lines
}

// write takes a key while a change of the file is shown.
func (s *Session) write(key Key) {
	o := s.offer
	if key != 'y' {
		s.mode = granting
		s.tell("Nothing was written, nothing was answered.")
		if !s.Style.Live {
			s.stay = append(append(s.stay, s.offered()...), o.keys())
		}
		return
	}
	s.stay = append(s.stay, s.change()...)
	kept, err := o.plan.Write()
	switch {
	case err != nil:
		s.tell("%s", plainError(err))
		s.mode = granting
		return
	case kept != "":
		s.stay = append(s.stay, s.Style.paint(dim, "written; what was there is kept as "+visible.Text(kept)))
	default:
		s.stay = append(s.stay, s.Style.paint(dim, "written"))
	}
	s.question.Allow(s.shown.View, s.shown.Parameters)
	s.mode, s.offer = answering, nil
}

// widths lists how far a grant for a call can reach: exactly this, then each path's
// directory and each command's first words.
func widths(v gate.View) [][]approve.Value {
	list := [][]approve.Value{nil}
	for _, l := range v.Leaves {
		if l.JSON == "" || l.JSON[0] != '"' {
			continue
		}
		text := unquoted(l.JSON)
		switch l.Type {
		case "path":
			if dir := path.Dir(text); dir != "." && dir != "/" && dir != ".." {
				list = append(list, []approve.Value{{Pointer: l.Pointer, How: approve.Below, Text: dir}})
			}
		case "command":
			words := strings.Fields(text)
			for n := min(2, len(words)-1); n >= 1; n-- {
				list = append(list, []approve.Value{{Pointer: l.Pointer, How: approve.Words, Text: strings.Join(words[:n], " ")}})
			}
		}
	}
	return list
}

// offered shows a grant: its scope, and the rule that would say it for good.
func (s *Session) offered() []string {
	o := s.offer
	bar := s.Style.paint(yellow, s.Style.marks().bar) + " "
	room := s.Style.columns() - 3
	var lines []string
	add := func(colour, text string) {
		for _, l := range wrap(text, room) {
			lines = append(lines, bar+s.Style.paint(colour, l))
		}
	}
	add(bold, fmt.Sprintf("always: in this conversation, until %s, %s runs unasked with", o.grant.Expires.Local().Format("15:04"), visible.Text(string(o.grant.Tool))))
	for _, w := range o.grant.Values {
		p := visible.Text(w.Pointer)
		switch w.How {
		case approve.Below:
			add("", "  "+p+" in the directory "+visible.Text(w.Text))
		case approve.Words:
			add("", "  "+p+" that begins with the words: "+visible.Text(w.Text))
		case approve.Free:
			add("", "  "+p+" any text")
		default:
			add("", "  "+p+" = "+s.Style.middle(jsonText(w.Text), room-cells(p)-6))
		}
	}
	if o.rule.Text != "" {
		add(dim, "For good, if you want: "+o.rule.Where)
		for _, l := range strings.Split(o.rule.Text+",", "\n") {
			lines = append(lines, bar+"  "+visible.Lines(l))
		}
	}
	return lines
}
