package tui

import (
	"fmt"
	"path"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
)

// always is the dialog that offers a grant.
type always struct {
	grant  approve.Grant
	rule   Rule
	widths [][]approve.Value // possible extensions
	at     int
	plan   Plan // plan of the rule, while it is shown
}

// Rule is a policy rule that would answer a question permanently. The zero Rule is none.
type Rule struct {
	Text, Where string // its text, and the file and table it belongs to
	// Plan prepares the change of the policy file; it fails if the rule cannot be written.
	Plan func() (Plan, error)
}

// Plan is a prepared change of the person's policy file.
type Plan struct {
	File  string
	Diff  string   // as a unified diff
	Notes []string // remarks on the change
	// Write writes and applies the change; kept is the path of the backup, "" if there was no file.
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

// always opens the dialog of a grant.
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

// propose creates the grant of the selected extension.
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

// grant handles a key in the dialog of a grant.
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

// planned shows the prepared change of the policy file.
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

// change renders the change of the file.
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

// write handles a key while a change of the file is shown.
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

// widths lists the possible extensions of a grant for a call: none, then the directory of each path
// and the first words of each command.
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

// offered renders a grant: its scope, and the equivalent rule.
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
