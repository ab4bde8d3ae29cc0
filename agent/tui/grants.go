package tui

import (
	"fmt"
	"path"
	"strings"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

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
	if o.rule != "" {
		add(dim, "For good, if you want: "+o.where)
		for _, l := range strings.Split(o.rule, "\n") {
			lines = append(lines, bar+"  "+visible.Lines(l))
		}
	}
	return lines
}

// Pretty lays a JSON text out for people to edit: a member or an element on each line,
// everything else as it is.
func Pretty(text string) string {
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{})
	if err != nil {
		return text
	}
	var b strings.Builder
	pretty(&b, v, "")
	b.WriteByte('\n')
	return b.String()
}

func pretty(b *strings.Builder, v jsonstream.Value, indent string) {
	first := true
	next := func() {
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString("\n" + indent + "  ")
	}
	switch {
	case v.Kind() == jsonstream.Object && v.Len() > 0:
		b.WriteByte('{')
		for key, value := range v.Members() {
			next()
			b.Write(key.Raw())
			b.WriteString(": ")
			pretty(b, value, indent+"  ")
		}
		b.WriteString("\n" + indent + "}")
	case v.Kind() == jsonstream.Array && v.Len() > 0:
		b.WriteByte('[')
		for value := range v.Elements() {
			next()
			pretty(b, value, indent+"  ")
		}
		b.WriteString("\n" + indent + "]")
	default:
		b.Write(v.Raw())
	}
}
