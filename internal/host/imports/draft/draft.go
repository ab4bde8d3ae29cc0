// Package draft has the common part of the conversions of package imports: a policy under
// construction, the report of its rules, and conditions on names, paths and command lines.
//
//	d := draft.Draft{Source: "the rules of X", Command: "x-rules", Files: files, Options: o}
//	from := d.Add("rules.json", 3, "allow ls", "allow")
//	t := d.Shell("bash", "timeout")
//	t.Rules = append(t.Rules, draft.CommandRule(from, stopgate.Unattended, draft.Wild{Text: "ls *"}))
//	result, err := d.Finish()
//
// Finish checks the policy as stopgate check --strict does, and makes every rule that the language
// rejects stricter or leaves it out.
package draft

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Draft is a policy under construction.
type Draft struct {
	Source  string // name of the rules for users
	Command string // name in the command line
	Files   []File
	Options Options
	rules   []*SourceRule
	notes   []string
	Tables  []*Table
	Guards  []*Rule
	// Usual is set if parameters with the usual names are paths and commands in every tool.
	Usual bool
	// Closed is set if calls without a rule are denied instead of asked about.
	Closed bool
	// Everything are the rules for tools without a table.
	Everything []*Rule
	// EveryResult are the rules for their results.
	EveryResult []*Rule
}

// Ranks of rules where a host evaluates deny rules first.
const (
	RankDeny = iota
	RankAsk
	RankAllow
	RankDefault
)

// Table is the table of one tool, or of the tools that match a glob.
type Table struct {
	Name   string
	Also   []string
	Params []Param
	// Rules are in the host's order of precedence: the first that matches decides. Without a match
	// the call is asked about.
	Rules []*Rule
	// Results are the rules for results, which the language has by default if there are none.
	Results []*Rule
}

// Param is a parameter of a tool. Its kind is a type, or a whole declaration in braces.
type Param struct{ Name, Kind string }

// Condition is one condition. Several values are alternatives.
type Condition struct {
	Arg     string
	Matcher string
	Values  []string
	Raw     string // the literal, if it is not a text or several
	Exact   bool   // the host and the policy match the same values
	Array   bool   // the pointer leads through an array
	// Sure is a pattern, without anchors, of texts that both the host's rule and this condition
	// match. "" if there is none.
	Sure string
}

// Rule is a rule of the policy. Without conditions it applies to every call.
type Rule struct {
	From    *SourceRule // nil: a default of the host
	Mode    stopgate.Mode
	On      string // of a guard
	Conds   []Condition
	When    string
	Reason  string
	Ignores []string
	Comment string
	Match   []string // examples
	NoMatch []string
	dropped bool
	Wide    bool // it matches more than the host's rule
	front   bool // it precedes rules that are above it in the host's order
	// Rank orders rules: the matching rule with the smallest one decides.
	Rank int
}

// Add records a rule of the source; the conversion changes its outcome.
func (d *Draft) Add(file string, line int, text, decision string) *SourceRule {
	r := &SourceRule{File: file, Line: line, Text: text, Decision: decision, Outcome: Same}
	d.rules = append(d.rules, r)
	return r
}

// Note adds a note about the complete source, once.
func (d *Draft) Note(text string) {
	if !slices.Contains(d.notes, text) {
		d.notes = append(d.notes, text)
	}
}

// Table returns the table of a tool, and creates it if there is none.
func (d *Draft) Table(name string, params ...Param) *Table {
	for _, t := range d.Tables {
		if t.Name == name {
			for _, p := range params {
				if !slices.ContainsFunc(t.Params, func(q Param) bool { return q.Name == p.Name }) {
					t.Params = append(t.Params, p)
				}
			}
			return t
		}
	}
	t := &Table{Name: name, Params: params}
	d.Tables = append(d.Tables, t)
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
func (c *Condition) text(l *lists, on string) string {
	var b strings.Builder
	if on == "" {
		b.WriteString("arg = " + tomltree.Quote(c.Arg) + ", ")
	}
	switch {
	case c.Raw != "":
		b.WriteString(c.Matcher + " = " + c.Raw)
	case c.Matcher == "present":
		b.WriteString("present = " + c.Values[0])
	case len(c.Values) == 1:
		b.WriteString(c.Matcher + " = " + tomltree.Quote(c.Values[0]))
	default:
		b.WriteString(c.Matcher + "_in = " + tomltree.Quote(l.name(listName(c), c.Values)))
	}
	return b.String()
}

func listName(c *Condition) string {
	switch c.Matcher {
	case "glob", "writes":
		return "files"
	case "host":
		return "hosts"
	}
	return "commands"
}

// text formats a rule as an inline table.
func (r *Rule) text(l *lists) string {
	var parts []string
	if r.When != "" {
		parts = append(parts, "when = "+r.When)
	}
	switch {
	case len(r.Conds) == 1:
		parts = append(parts, r.Conds[0].text(l, ""))
	case len(r.Conds) > 1:
		var all []string
		for i := range r.Conds {
			all = append(all, "{ "+r.Conds[i].text(l, "")+" }")
		}
		parts = append(parts, "all = [ "+strings.Join(all, ", ")+" ]")
	}
	parts = append(parts, "mode = "+tomltree.Quote(r.Mode.String()))
	if r.Reason != "" {
		parts = append(parts, "reason = "+tomltree.Quote(r.Reason))
	}
	if len(r.Ignores) > 0 {
		parts = append(parts, "ignores = "+array(r.Ignores))
	}
	if len(r.Match)+len(r.NoMatch) > 0 {
		parts = append(parts, "examples = "+r.examples())
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (r *Rule) examples() string {
	var parts []string
	if len(r.Match) > 0 {
		parts = append(parts, "match = "+array(r.Match))
	}
	if len(r.NoMatch) > 0 {
		parts = append(parts, "no_match = "+array(r.NoMatch))
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

// Put appends a rule to a table.
func (t *Table) Put(r *Rule) {
	if r != nil {
		r.Rank = RankOf(r.Mode)
		t.Rules = append(t.Rules, r)
	}
}

// ReasonOf converts a justification to a reason: one visible line.
func ReasonOf(text string) string {
	text = strings.Join(strings.Fields(plain(text)), " ")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:199]) + "…"
	}
	return text
}

// OtherPaths returns the parameters that are paths and commands, except one.
func OtherPaths(params []Param, but string) (list []string) {
	for _, p := range params {
		kind := strings.TrimSuffix(p.Kind, "!")
		if name := "/" + p.Name; name != but && (kind == "path" || kind == "command" || kind == "url") {
			list = append(list, name)
		}
	}
	return list
}

// RankOf returns the rank of a mode where a host evaluates deny rules first.
func RankOf(m stopgate.Mode) int {
	switch m {
	case stopgate.Deny:
		return RankDeny
	case stopgate.Ask:
		return RankAsk
	}
	return RankAllow
}
