package imports

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// draft is a policy under construction.
type draft struct {
	source  string // name of the rules for users
	command string // name in the command line
	files   []File
	options Options
	rules   []*Rule
	notes   []string
	tables  []*table
	guards  []*rule
	// usual is set if parameters with the usual names are paths and commands in every tool.
	usual bool
	// closed is set if calls without a rule are denied instead of asked about.
	closed bool
	// everything are the rules for tools without a table.
	everything []*rule
	// everyResult are the rules for their results.
	everyResult []*rule
}

// table is the table of one tool, or of the tools that match a glob.
type table struct {
	name   string
	also   []string
	params []param
	// rules are in the host's order of precedence: the first that matches decides. Without a match
	// the call is asked about.
	rules []*rule
	// results are the rules for results, which the language has by default if there are none.
	results []*rule
}

// param is a parameter of a tool. Its kind is a type, or a whole declaration in braces.
type param struct{ name, kind string }

// cond is one condition. Several values are alternatives.
type cond struct {
	arg     string
	matcher string
	values  []string
	raw     string // the literal, if it is not a text or several
	exact   bool   // the host and the policy match the same values
	array   bool   // the pointer leads through an array
	// sure is a pattern, without anchors, of texts that both the host's rule and this condition
	// match. "" if there is none.
	sure string
}

// rule is a rule of the policy. Without conditions it applies to every call.
type rule struct {
	from    *Rule // nil: a default of the host
	mode    stopgate.Mode
	on      string // of a guard
	conds   []cond
	when    string
	reason  string
	ignores []string
	comment string
	match   []string // examples
	noMatch []string
	dropped bool
	wide    bool // it matches more than the host's rule
	front   bool // it precedes rules that are above it in the host's order
	// rank orders rules: the matching rule with the smallest one decides.
	rank int
}

// add records a rule of the source; the conversion changes its outcome.
func (d *draft) add(file string, line int, text, decision string) *Rule {
	r := &Rule{File: file, Line: line, Text: text, Decision: decision, Outcome: Same}
	d.rules = append(d.rules, r)
	return r
}

// note adds a note about the complete source, once.
func (d *draft) note(text string) {
	if !slices.Contains(d.notes, text) {
		d.notes = append(d.notes, text)
	}
}

// table returns the table of a tool, and creates it if there is none.
func (d *draft) table(name string, params ...param) *table {
	for _, t := range d.tables {
		if t.name == name {
			for _, p := range params {
				if !slices.ContainsFunc(t.params, func(q param) bool { return q.name == p.name }) {
					t.params = append(t.params, p)
				}
			}
			return t
		}
	}
	t := &table{name: name, params: params}
	d.tables = append(d.tables, t)
	return t
}

// lists are the named lists of the policy: a condition with several values names one.
type lists struct {
	names  []string
	values map[string][]string
}

func (l *lists) name(base string, values []string) string {
	if l.values == nil {
		l.values = map[string][]string{}
	}
	for _, name := range l.names {
		if slices.Equal(l.values[name], values) {
			return name
		}
	}
	name := base
	for i := 2; l.values[name] != nil; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	l.names = append(l.names, name)
	l.values[name] = values
	return name
}

// text formats a condition.
func (c *cond) text(l *lists, on string) string {
	var b strings.Builder
	if on == "" {
		b.WriteString("arg = " + tomltree.Quote(c.arg) + ", ")
	}
	switch {
	case c.raw != "":
		b.WriteString(c.matcher + " = " + c.raw)
	case c.matcher == "present":
		b.WriteString("present = " + c.values[0])
	case len(c.values) == 1:
		b.WriteString(c.matcher + " = " + tomltree.Quote(c.values[0]))
	default:
		b.WriteString(c.matcher + "_in = " + tomltree.Quote(l.name(listName(c), c.values)))
	}
	return b.String()
}

func listName(c *cond) string {
	switch c.matcher {
	case "glob", "writes":
		return "files"
	case "host":
		return "hosts"
	}
	return "commands"
}

// text formats a rule as an inline table.
func (r *rule) text(l *lists) string {
	var parts []string
	if r.when != "" {
		parts = append(parts, "when = "+r.when)
	}
	switch {
	case len(r.conds) == 1:
		parts = append(parts, r.conds[0].text(l, ""))
	case len(r.conds) > 1:
		var all []string
		for i := range r.conds {
			all = append(all, "{ "+r.conds[i].text(l, "")+" }")
		}
		parts = append(parts, "all = [ "+strings.Join(all, ", ")+" ]")
	}
	parts = append(parts, "mode = "+tomltree.Quote(r.mode.String()))
	if r.reason != "" {
		parts = append(parts, "reason = "+tomltree.Quote(r.reason))
	}
	if len(r.ignores) > 0 {
		parts = append(parts, "ignores = "+array(r.ignores))
	}
	if len(r.match)+len(r.noMatch) > 0 {
		parts = append(parts, "examples = "+r.examples())
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (r *rule) examples() string {
	var parts []string
	if len(r.match) > 0 {
		parts = append(parts, "match = "+array(r.match))
	}
	if len(r.noMatch) > 0 {
		parts = append(parts, "no_match = "+array(r.noMatch))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func array(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = tomltree.Quote(v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// put appends a rule to a table.
func (t *table) put(r *rule) {
	if r != nil {
		r.rank = rankOf(r.mode)
		t.rules = append(t.rules, r)
	}
}

// reasonOf converts a justification to a reason: one visible line.
func reasonOf(text string) string {
	text = strings.Join(strings.Fields(plain(text)), " ")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:199]) + "…"
	}
	return text
}

// otherPaths returns the parameters that are paths and commands, except one.
func otherPaths(params []param, but string) (list []string) {
	for _, p := range params {
		kind := strings.TrimSuffix(p.kind, "!")
		if name := "/" + p.name; name != but && (kind == "path" || kind == "command" || kind == "url") {
			list = append(list, name)
		}
	}
	return list
}

func rankOf(m stopgate.Mode) int {
	switch m {
	case stopgate.Deny:
		return rankDeny
	case stopgate.Ask:
		return rankAsk
	}
	return rankAllow
}
