package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
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

// formatPart is one key of a rule: a value, or an array of items.
type formatPart struct {
	key   string
	value string
	items []string
}

func (p formatPart) String() string {
	if p.items != nil {
		return p.key + " = [" + strings.Join(p.items, ", ") + "]"
	}
	return p.key + " = " + p.value
}

// broken writes an array that is too long an item per line; depth is that of the
// line it stands in.
func (p formatPart) broken(depth int) string {
	line := p.String()
	indent := strings.Repeat("  ", depth)
	if p.items == nil || len(indent)+len(line) <= formatWidth {
		return line
	}
	var b strings.Builder
	b.WriteString(p.key + " = [\n")
	for _, item := range p.items {
		b.WriteString(indent + "  " + item + ",\n")
	}
	return b.String() + indent + "]"
}

func joinParts(parts []formatPart) string {
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}

// ruleParts lists the keys of a rule in canonical order. spelled writes the values
// of named lists out and numbers in canonical form: what a rule means, not how it
// is written.
func ruleParts(r *Rule, spelled bool) []formatPart {
	var parts []formatPart
	if r.Compound {
		all := formatPart{key: "all", items: []string{}}
		for i := range r.Conditions {
			all.items = append(all.items, "{ "+joinParts(conditionParts(&r.Conditions[i], spelled))+" }")
		}
		parts = append(parts, all)
	} else {
		for i := range r.Conditions {
			parts = append(parts, conditionParts(&r.Conditions[i], spelled)...)
		}
	}
	add := func(key, value string) {
		parts = append(parts, formatPart{key: key, value: value})
	}
	if r.Match != QuantifierDefault {
		add("match", tomltree.Quote(r.Match.String()))
	}
	if w := r.When; w != nil {
		var facts []formatPart
		for i, names := range [][]string{w.Agent, w.Surface, w.Server, w.Principal} {
			switch len(names) {
			case 0:
			case 1:
				facts = append(facts, formatPart{key: whenKeys[i], value: tomltree.Quote(names[0])})
			default:
				facts = append(facts, formatPart{key: whenKeys[i], items: strs(names)})
			}
		}
		add("when", "{ "+joinParts(facts)+" }")
	}
	add("mode", tomltree.Quote(r.Mode.String()))
	if r.Reason != "" {
		add("reason", tomltree.Quote(r.Reason))
	}
	if r.Note != "" {
		add("note", tomltree.Quote(r.Note))
	}
	if len(r.Ignores) > 0 {
		var pointers []string
		for _, p := range r.Ignores {
			pointers = append(pointers, p.String())
		}
		parts = append(parts, formatPart{key: "ignores", items: strs(pointers)})
	}
	if r.AllowUnsafePrefix {
		add("allow_unsafe_prefix", "true")
	}
	return parts
}

var quantifiers = [...]string{QuantifierAny: "any", QuantifierAll: "all"}

// String spells the quantifier as the policy file does, "" for the default.
func (q Quantifier) String() string { return quantifiers[min(q, QuantifierAll)] }

func conditionParts(c *Condition, spelled bool) []formatPart {
	parts := []formatPart{{key: "arg", value: tomltree.Quote(c.Arg.String())}}
	if c.On != "" {
		parts[0] = formatPart{key: "on", value: tomltree.Quote(c.On)}
	}
	key := c.Spec.Kind.String()
	switch {
	case spelled:
		var texts []string
		for _, l := range c.Spec.Values {
			texts = append(texts, l.JSON)
		}
		slices.Sort(texts)
		parts = append(parts, formatPart{key: key, items: slices.Compact(texts)})
	case c.Spec.List != "":
		parts = append(parts, formatPart{key: key + "_in", value: tomltree.Quote(c.Spec.List)})
	case c.Spec.Kind == match.Enum:
		parts = append(parts, formatPart{key: key, items: literals(c.Spec.Values)})
	default:
		parts = append(parts, formatPart{key: key, value: literals(c.Spec.Values)[0]})
	}
	if c.Match != QuantifierDefault {
		parts = append(parts, formatPart{key: "match", value: tomltree.Quote(c.Match.String())})
	}
	return parts
}

func strs(texts []string) []string {
	list := []string{}
	for _, t := range texts {
		list = append(list, tomltree.Quote(t))
	}
	return list
}

func literals(values []match.Literal) []string {
	list := []string{}
	for _, l := range values {
		list = append(list, literalText(l))
	}
	return list
}

// literalText writes a literal as TOML.
func literalText(l match.Literal) string {
	switch l.Kind {
	case match.LiteralString:
		return tomltree.Quote(l.Text)
	case match.LiteralNumber:
		return numberText(l.Text)
	case match.LiteralBool:
		return l.Text
	}
	// The literal is canonical JSON that this package wrote.
	v, _ := jsonstream.Parse([]byte(l.JSON), jsonstream.Options{MaxDepth: 512, MaxExponent: jsonstream.AnyExponent})
	return jsonText(v)
}

// numberText writes a number plainly if every TOML reader takes it (K26).
func numberText(text string) string {
	plain := false
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		plain = err == nil && !math.IsInf(f, 0)
	} else {
		_, err := strconv.ParseInt(text, 10, 64)
		plain = err == nil
	}
	if plain {
		return text
	}
	return "{ number = " + tomltree.Quote(text) + " }"
}

// jsonText writes a JSON value that came from TOML as TOML again.
func jsonText(v jsonstream.Value) string {
	var parts []string
	switch v.Kind() {
	case jsonstream.Object:
		for key, member := range v.Members() {
			parts = append(parts, tomltree.Key(key.Text())+" = "+jsonText(member))
		}
		if parts == nil {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case jsonstream.Array:
		for element := range v.Elements() {
			parts = append(parts, jsonText(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonstream.String:
		return tomltree.Quote(v.Text())
	case jsonstream.Number:
		return numberText(string(v.Raw()))
	}
	return string(v.Raw())
}
