package tui

import (
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/visible"
)

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

// offer is the dialog that offers a grant, and then a change of the policy file.
type offer struct {
	grant approve.Grant
	rule  Rule
	list  []approve.Extension
	at    int
	plan  Plan // change of the file that is shown
}

// keys returns the keys that the dialog accepts.
func (o *offer) keys(m mode) string {
	if m == writing {
		return "y write it, and run the call  Esc back"
	}
	keys := "y grant it for this conversation"
	if len(o.list) > 1 {
		keys += "  x " + o.list[(o.at+1)%len(o.list)].Name + " instead"
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
		s.printNote("That needs the complete call: y and n are possible now.")
		return
	}
	s.offer = &offer{list: approve.Extensions(v)}
	if s.propose() {
		s.mode = granting
	}
}

// propose creates the grant of the selected extension. Without one the dialog is closed.
func (s *Session) propose() bool {
	o, v := s.offer, s.shown.View
	var wider []approve.Value
	if len(o.list) > 0 {
		wider = o.list[o.at].Wider
	}
	g, err := s.question.Offer(v, wider) // without an offer it returns the reason
	if err == nil && len(o.list) == 0 {
		err = approve.ErrNoGrant
	}
	if err != nil {
		s.printNote("No grant is possible for this call: %s.", strings.TrimPrefix(plainError(err), "approve: "))
		s.mode, s.offer = answering, nil
		return false
	}
	o.grant = g
	if s.Rule != nil {
		o.rule = s.Rule(v, g)
	}
	return true
}

// grant handles a key in the dialog of a grant.
func (s *Session) grant(key string) {
	o := s.offer
	switch key {
	case "y":
		if err := s.question.AllowAlways(s.ctx, s.shown.View, o.grant); err != nil {
			s.printNote("Not granted: %s", plainError(err))
			break
		}
		s.print(o.render(s.Style)...)
		s.print(s.Style.paint(dim, "stopgate grants list shows all grants; stopgate grants revoke takes it back."))
	case "x":
		o.at = (o.at + 1) % max(len(o.list), 1)
		s.propose()
		return
	case "f":
		if o.rule.Plan == nil {
			s.printNote("There is no rule to write.")
			return
		}
		var err error
		if o.plan, err = o.rule.Plan(); err != nil {
			s.printNote("The rule is not written: %s.", plainError(err))
			return
		}
		s.mode = writing
		return
	default:
		s.printNote("Nothing was granted, nothing was answered.")
	}
	s.mode, s.offer = answering, nil
}

// write handles a key while a change of the policy file is shown.
func (s *Session) write(key string) {
	o := s.offer
	if key != "y" {
		s.mode = granting
		s.printNote("Nothing was written, nothing was answered.")
		return
	}
	s.print(o.renderPlan(s.Style)...)
	kept, err := o.plan.Write()
	if err != nil {
		s.printNote("%s", plainError(err))
		s.mode = granting
		return
	}
	done := "written"
	if kept != "" {
		done += "; the previous version is kept as " + visible.Text(kept)
	}
	s.print(s.Style.paint(dim, done))
	s.question.Allow(s.shown.View, s.shown.Parameters)
	s.mode, s.offer = answering, nil
}

// render renders the grant: its scope, and the equivalent rule.
func (o *offer) render(s Style) []string {
	b := block{Style: s}
	x := o.list[o.at]
	b.add(bold, "always: in this conversation, until "+o.grant.Expires.Local().Format("15:04")+", "+visible.Text(x.Title))
	b.add(normal, visible.Text(x.Sentence)+".")
	if x.Example != "" {
		b.add(dim, "For example, not asked again: "+visible.Text(x.Example))
	}
	for _, w := range o.grant.Values {
		p := "  " + visible.Text(w.Pointer)
		switch w.How {
		case approve.Below:
			p += " below " + visible.Text(w.Text)
		case approve.Like:
			p += " like " + visible.Text(w.Text)
		case approve.Words:
			p += " that begins with the words: " + visible.Text(w.Text)
		case approve.Free:
			p += " any text"
		case approve.Open:
			p += " any value"
		default:
			p += " = " + s.middle(jsonText(w.Text), b.room()-cells(p)-4)
		}
		b.add(normal, p)
	}
	if o.rule.Text != "" {
		b.add(dim, "For good, if you want: "+o.rule.Where)
		for _, l := range strings.Split(o.rule.Text+",", "\n") {
			b.raw("  " + visible.Lines(l))
		}
	}
	return b.lines
}

// renderPlan renders the change of the policy file.
func (o *offer) renderPlan(s Style) []string {
	b := block{Style: s}
	b.add(bold, "for good: this change of "+visible.Text(o.plan.File))
	b.raw(s.diff(o.plan.Diff, 40)...)
	for _, note := range o.plan.Notes {
		b.add(yellow, "note: "+visible.Text(note))
	}
	return b.lines
}
