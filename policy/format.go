package policy

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/tomltree"
)

// formatWidth is how long a rule may get before its arrays are broken into lines.
const formatWidth = 100

// Format writes a policy without mistakes in its canonical form: the tables in one
// order, old spellings replaced by the present ones, a rule per line with its keys
// in one order. Parse reads it back as the same policy, and formatting it again
// changes nothing.
//
// No comment is lost. A comment stays before the table, list, rule or parameter
// that it stood before or inside of; one behind a value moves to the line above,
// except among parameters and operational tables, which keep their layout.
func Format(p *Policy) []byte {
	w := &formatter{}
	w.head(p)
	w.settings(p)
	w.lists(p)
	for _, t := range p.Tools {
		w.tool(t)
	}
	for _, g := range p.Guards {
		w.blank()
		w.lines("", g.comments)
		w.line("[[guard]]")
		for _, part := range ruleParts(g, false) {
			w.line(part.broken(0))
		}
	}
	for _, s := range p.Sessions {
		w.out = tomltree.Append(w.out, "[[session]]", "session", s.Table)
	}
	for _, h := range p.Handoffs {
		w.out = tomltree.Append(w.out, "[[handoffs]]", "handoffs", h.Table)
	}
	if p.Judge != nil {
		w.out = tomltree.Append(w.out, "[judge]", "judge", p.Judge.Table)
	}
	for _, name := range p.order {
		if t := p.Tables[name]; t != nil {
			w.out = tomltree.Append(w.out, "["+name+"]", name, t)
		}
	}
	if len(p.tail) > 0 {
		w.blank()
		w.lines("", p.tail)
	}
	return w.out
}

type formatter struct{ out []byte }

func (w *formatter) line(text string) { w.out = append(append(w.out, text...), '\n') }

func (w *formatter) lines(indent string, texts []string) {
	for _, t := range texts {
		w.line(indent + t)
	}
}

// blank separates what follows from what was written.
func (w *formatter) blank() {
	if len(w.out) > 0 {
		w.out = append(w.out, '\n')
	}
}

func (w *formatter) head(p *Policy) {
	w.lines("", p.headComments)
	w.line("version = " + Version)
}

func (w *formatter) settings(p *Policy) {
	if p.Gate.written != nil {
		w.out = tomltree.Append(w.out, "[gate]", "gate", p.Gate.written)
	} else if text := p.Gate.text(); text != (GateSettings{}).text() {
		w.blank()
		w.line("[gate]")
		w.out = append(w.out, text...)
	}
	if p.Paths.written != nil {
		w.out = tomltree.Append(w.out, "[paths]", "paths", p.Paths.written)
	} else if text := p.Paths.text(); text != "" {
		w.blank()
		w.line("[paths]")
		w.out = append(w.out, text...)
	}
}

// text writes every setting, defaults too.
func (g GateSettings) text() string {
	parts := []string{
		"unknown_tool = " + tomltree.Quote(g.UnknownTool.String()),
		"unknown_params = " + tomltree.Quote(g.UnknownParams.String()),
		"on_schema_violation = " + tomltree.Quote(g.OnSchemaViolation.String()),
	}
	if g.DenyMode != "" {
		parts = append(parts, "deny_mode = "+tomltree.Quote(g.DenyMode))
	}
	if g.Enforcement != "" {
		parts = append(parts, "enforcement = "+tomltree.Quote(g.Enforcement))
	}
	parts = append(parts, "strict = "+strconv.FormatBool(g.Strict))
	return strings.Join(parts, "\n") + "\n"
}

func (s PathSettings) text() string {
	var text string
	if s.Root != "" {
		text += "root = " + tomltree.Quote(s.Root) + "\n"
	}
	if s.Home != "" {
		text += "home = " + tomltree.Quote(s.Home) + "\n"
	}
	return text
}

func (w *formatter) lists(p *Policy) {
	if len(p.Lists) == 0 {
		return
	}
	w.blank()
	w.lines("", p.listComments)
	w.line("[lists]")
	for _, l := range p.Lists {
		w.lines("", l.comments)
		part := formatPart{key: tomltree.Key(l.Name), items: literals(l.Values)}
		w.line(part.broken(0))
	}
}

func (w *formatter) tool(t *ToolTable) {
	path := "tools." + tomltree.Key(t.Name)
	body := w.toolBody(t)
	comments := t.comments
	silent := t.Run == nil && t.Result == nil
	if len(body) > 0 || t.parameters == nil && silent || t.parameters != nil && len(comments) > 0 {
		w.blank()
		w.lines("", comments)
		w.line("[" + path + "]")
		w.lines("", body)
		comments = nil
	}
	if t.parameters != nil {
		w.out = tomltree.Append(w.out, "["+path+".parameters]", path+".parameters", t.parameters)
	}
	if silent {
		return
	}
	w.blank()
	w.lines("", comments)
	w.line("[" + path + ".policy]")
	w.ruleList("run", t.Run)
	w.ruleList("result", t.Result)
}

func (w *formatter) toolBody(t *ToolTable) []string {
	var body []string
	for _, text := range t.texts {
		body = append(body, text.key+" = "+tomltree.Quote(text.text))
	}
	if t.Source != "" {
		body = append(body, "source = "+tomltree.Quote(t.Source))
	}
	if len(t.Also) > 0 {
		body = append(body, formatPart{key: "also", items: strs(t.Also)}.broken(0))
	}
	if t.Unknown != nil {
		body = append(body, "unknown_params = "+tomltree.Quote(t.Unknown.String()))
	}
	if t.OnSchema != nil {
		body = append(body, "on_schema_violation = "+tomltree.Quote(t.OnSchema.String()))
	}
	return body
}

func (w *formatter) ruleList(key string, l *RuleList) {
	if l == nil {
		return
	}
	w.lines("", l.comments)
	if l.Alias {
		w.line(key + " = " + tomltree.Quote(l.Rules[0].Mode.String()))
		return
	}
	if len(l.Rules) == 0 && len(l.inner) == 0 {
		w.line(key + " = []")
		return
	}
	w.line(key + " = [")
	for _, r := range l.Rules {
		w.lines("  ", r.comments)
		parts := ruleParts(r, false)
		text := "{ " + joinParts(parts) + " }"
		if len(text)+len("  ,") > formatWidth {
			var broken []string
			for _, p := range parts {
				broken = append(broken, p.broken(1))
			}
			text = "{ " + strings.Join(broken, ", ") + " }"
		}
		w.line("  " + text + ",")
	}
	w.lines("  ", l.inner)
	w.line("]")
}
