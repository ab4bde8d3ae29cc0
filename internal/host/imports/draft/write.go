package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// writer formats a draft and records the line of each rule.
type writer struct {
	d     *Draft
	lines []string
	at    map[int]*Rule // by line, from 1
	lists lists
}

func (w *writer) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// comment writes any text as a comment.
func (w *writer) comment(indent, text string) {
	for _, line := range wrap(text, 96) {
		w.line("%s# %s", indent, line)
	}
}

// wrap breaks a text into lines at blanks, and escapes characters that TOML does not allow in a
// comment.
func wrap(text string, width int) (lines []string) {
	var line strings.Builder
	for word := range strings.FieldsSeq(plain(text)) {
		if line.Len() > 0 && line.Len()+1+len(word) > width {
			lines = append(lines, line.String())
			line.Reset()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return append(lines, line.String())
}

// write returns the text of the policy.
func (d *Draft) write(strict bool) (string, map[int]*Rule) {
	w := &writer{d: d, at: map[int]*Rule{}}
	w.head(strict)
	for _, t := range d.Tables {
		w.table(t)
	}
	for _, g := range d.Guards {
		if !g.dropped {
			w.guard(g)
		}
	}
	if len(w.lists.names) > 0 {
		w.line("")
		w.line("[lists]")
		for _, name := range w.lists.names {
			w.line("%s = %s", name, array(w.lists.values[name]))
		}
	}
	w.leftOut()
	return strings.Join(w.lines, "\n") + "\n", w.at
}

func (w *writer) head(strict bool) {
	d := w.d
	names := make([]string, len(d.Files))
	for i, f := range d.Files {
		names[i] = f.Name
	}
	w.comment("", "Written by `stopgate import "+d.Command+"` from "+d.Source+": "+strings.Join(names, ", ")+".")
	w.comment("", "No call is treated more leniently here than there. Above each rule stands the rule that it comes from, and what is not the same.")
	for _, n := range d.notes {
		w.line("#")
		w.comment("", n)
	}
	w.line("version = 1")
	w.line("")
	denied := d.Closed || len(d.Everything) > 0 && d.Everything[0].Mode == stopgate.Deny && len(d.Everything[0].Conds) == 0
	if strict || denied {
		w.line("[gate]")
	}
	if strict {
		w.line("strict = true # traps are mistakes")
	}
	if denied {
		w.line("unknown_tool = \"deny\"")
	}
	w.line("")
	w.line("# Tools that no table names.")
	switch r := d.Everything; {
	case len(r) == 0:
		w.line(`[tools."*".policy]`)
		w.line("run = %s", w.otherwise())
	case len(r[0].Conds) == 0:
		w.origin("", r[0])
		w.line(`[tools."*".policy]`)
		w.line("run = %s", tomltree.Quote(r[0].Mode.String()))
	default:
		w.line(`[tools."*".policy]`)
		w.list("run", r)
	}
	if len(d.EveryResult) > 0 {
		w.list("result", d.EveryResult)
	}
	if d.Usual {
		w.line("")
		w.line("# These names mean files, commands and addresses in every tool, so that guards see them.")
		w.line(`[tools."*".parameters]`)
		for _, name := range []string{"path", "file_path", "filepath", "filename", "file", "directory", "notebook_path", "source", "destination"} {
			w.line("%s = { type = \"path\" }", name)
		}
		w.line(`command = { type = "command" }`)
		w.line(`url = { type = "url" }`)
	}
}

func (w *writer) table(t *Table) {
	name := tomltree.Key(t.Name)
	w.line("")
	if len(t.Also) > 0 {
		w.line("[tools.%s]", name)
		w.line("also = %s", array(t.Also))
		w.line("")
	}
	if len(t.Params) > 0 {
		w.line("[tools.%s.parameters]", name)
		for _, p := range t.Params {
			w.line("%s = %s", tomltree.Key(p.Name), p.declaration())
		}
		w.line("")
	}
	w.line("[tools.%s.policy]", name)
	w.list("run", t.Rules)
	if len(t.Results) > 0 {
		w.list("result", t.Results)
	}
}

// list writes the rules of a list, and what holds without a match.
func (w *writer) list(key string, rules []*Rule) {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.dropped })
	w.line("%s = [", key)
	closed := false
	for _, r := range rules {
		if !closed {
			w.rule(r)
		}
		closed = closed || len(r.Conds) == 0 && r.When == ""
	}
	if !closed {
		w.line("  { mode = %s },", w.otherwise())
	}
	w.line("]")
}

// otherwise returns the mode of calls without a matching rule.
func (w *writer) otherwise() string {
	if w.d.Closed {
		return `"deny"`
	}
	return `"ask"`
}

func (p Param) declaration() string {
	if strings.HasPrefix(p.Kind, "{") {
		return p.Kind
	}
	switch p.Kind {
	case "paths":
		return `{ type = "array", items = { type = "path" } }`
	}
	if text, ok := strings.CutSuffix(p.Kind, "!"); ok {
		return `{ type = "` + text + `", required = true }`
	}
	return `{ type = "` + p.Kind + `" }`
}

func (w *writer) rule(r *Rule) {
	w.origin("  ", r)
	w.line("  %s,", r.text(&w.lists))
	w.at[len(w.lines)] = r
}

// origin writes the source of a rule as a comment.
func (w *writer) origin(indent string, r *Rule) {
	if r.From != nil {
		w.comment(indent, fmt.Sprintf("%s:%d: %s", r.From.File, r.From.Line, r.From.Label()))
		if r.From.Outcome != Same {
			w.comment(indent, "stricter: "+r.From.Note)
		}
	}
	if r.Comment != "" {
		w.comment(indent, r.Comment)
	}
}

// Label returns the rule with its decision, if its text does not contain it.
func (r *SourceRule) Label() string {
	if strings.Contains(r.Text, r.Decision) {
		return r.Text
	}
	return r.Decision + " " + r.Text
}

func (w *writer) guard(g *Rule) {
	w.line("")
	w.origin("", g)
	w.line("[[guard]]")
	w.at[len(w.lines)] = g
	w.line("on = %s", tomltree.Quote(g.On))
	for i := range g.Conds {
		w.line("%s", g.Conds[i].text(&w.lists, g.On))
		w.at[len(w.lines)] = g
	}
	w.line("mode = %s", tomltree.Quote(g.Mode.String()))
	if g.Reason != "" {
		w.line("reason = %s", tomltree.Quote(g.Reason))
	}
	if len(g.Match)+len(g.NoMatch) > 0 {
		w.line("examples = %s", g.examples())
		w.at[len(w.lines)] = g
	}
}

func (w *writer) leftOut() {
	first := true
	for _, r := range w.d.rules {
		if r.Outcome != LeftOut {
			continue
		}
		if first {
			w.line("")
			w.comment("", "Left out, which makes nothing more lenient:")
			first = false
		}
		w.comment("", fmt.Sprintf("  %s:%d: %s: %s", r.File, r.Line, r.Label(), r.Note))
	}
}

// Permits reports whether the rule is permissive.
func (r *Rule) Permits() bool { return r.Mode == stopgate.Unattended }

// Refuses reports whether a mode refuses without a question.
func Refuses(m stopgate.Mode) bool { return m == stopgate.Deny || m == stopgate.Skip }
