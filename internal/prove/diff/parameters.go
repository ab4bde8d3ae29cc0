package diff

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Calls without a parameter that two files declare differently are decided alike, if no rule
// looks at it. The directions in which other calls can move are bounded by the guards and floors
// that look at it on each side; each direction is shown by a call.

// declared are the parameters that the tables of a file declare for a tool.
type declared struct {
	own    *schema.Schema
	tables []*syntax.ToolTable
}

func (s *sidePolicy) declared(tool *comparedTool) declared {
	var base *schema.Schema
	if tool.definition != nil && len(tool.definition.Schema) > 0 {
		base, _, _ = schema.ParseJSON(tool.definition.Schema)
	}
	return declared{own: syntax.DeclaredSchema(s.Tables, string(tool.name), base), tables: s.Tables}
}

// node is the declaration of a top-level parameter, nil if there is none.
func (d declared) node(name string) *schema.Node {
	if d.own == nil {
		return nil
	}
	for _, p := range d.own.Root.Properties {
		if p.Name == name {
			return p.Node
		}
	}
	return nil
}

// hashes are those of all top-level parameters by name, with their aliases and whether they
// are required, and of the schema without any parameter.
func (d declared) hashes() (byName map[string]string, rest string) {
	byName = make(map[string]string)
	if d.own == nil {
		return byName, "none"
	}
	plain := *d.own.Root
	plain.Properties, plain.Required = nil, nil
	for _, p := range d.own.Root.Properties {
		one := &schema.Node{Types: schema.Object, HasProperties: true, Properties: []schema.Property{p}}
		if slices.Contains(d.own.Root.Required, p.Name) {
			one.Required = []string{p.Name}
		}
		byName[p.Name] = hashOf(one)
	}
	return byName, hashOf(&plain)
}

func hashOf(root *schema.Node) string {
	return (&schema.Schema{Root: root, Source: schema.FromFile}).Hash()
}

// same reports that two files declare a parameter alike, or neither does.
func (d declared) same(other declared, name string) bool {
	mine, _ := d.hashes()
	theirs, _ := other.hashes()
	return mine[name] == theirs[name]
}

// covers reports whether a table of a file declares a parameter, for a tool that has it.
func (d declared) covers(name string) bool {
	return slices.ContainsFunc(d.tables, func(t *syntax.ToolTable) bool {
		return t.Schema != nil && t.Schema.Location().Member([]byte(name)).Kind == schema.DeclaredName
	})
}

// line is where a parameter is declared: the table that does it.
func (d declared) line(name string) int {
	for _, t := range d.tables {
		if t.Schema != nil && t.Schema.Location().Member([]byte(name)).Kind == schema.DeclaredName {
			return t.Pos.Start.Line
		}
	}
	return 0
}

// redeclared lists the top-level parameters that two files declare differently. It reports false if
// their schemas differ in more than these.
func redeclared(tool *comparedTool, before, after *sidePolicy) (names []string, alone bool) {
	sides := [2]declared{before.declared(tool), after.declared(tool)}
	old, restOld := sides[0].hashes()
	new, restNew := sides[1].hashes()
	for name := range old {
		if old[name] != new[name] {
			names = append(names, name)
		}
	}
	for name := range new {
		if _, both := old[name]; !both {
			names = append(names, name)
		}
	}
	for i, d := range sides { // parameters that a table only covers
		for _, t := range d.tables {
			if t.Schema == nil {
				continue
			}
			for _, p := range t.Schema.Location().Properties() {
				if !slices.Contains(names, p.Name) && !sides[1-i].covers(p.Name) && uncoverable(before, p.Name) {
					names = append(names, p.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return names, restOld == restNew
}

// uncoverable reports whether calls may have a parameter that only a table for many tools covers.
func uncoverable(s *sidePolicy, name string) bool {
	m := s.Schema.Location().Member([]byte(name))
	return !m.Location.Tabled() && (m.Kind != schema.Undeclared || s.Params == syntax.ParamAllow)
}

// parameters compares the verdicts on calls with parameters that are declared differently.
func (c *comparer) parameters(tool *comparedTool, kind syntax.ListKind, before, after *sidePolicy, bound [2]*boundPolicy, e *toolEdits) {
	names, alone := redeclared(tool, before, after)
	if !alone {
		c.open(tool, "the parameters are declared differently")
		return
	}
	for _, name := range names {
		switch {
		case kind == syntax.ResultList && slices.ContainsFunc(bound[:], (*boundPolicy).looksAtResults):
			c.open(tool, fmt.Sprintf("whether the edit of parameters.%s changes what becomes of results was not decided", name))
		case kind == syntax.ResultList:
		case len(e.numbers) > 0 || bound[0].end != bound[1].end:
			c.open(tool, fmt.Sprintf("parameters.%s and rules for the tool are edited, which are compared only one after the other", name))
		case bound[0].looksAt(name) || bound[1].looksAt(name):
			c.open(tool, fmt.Sprintf("the edit of parameters.%s changes what rules that look at it see", name))
		default:
			c.parameter(tool, name, before, after, bound)
		}
	}
}

// looksAtResults reports a list with conditions.
func (b *boundPolicy) looksAtResults() bool {
	return slices.ContainsFunc(b.rules, func(r *symbolic.Rule) bool { return len(r.Bound) > 0 })
}

// looksAt reports whether the list, a guard or a session policy names a parameter.
func (b *boundPolicy) looksAt(name string) bool {
	names := func(p jsonstream.Pointer) bool { return len(p) > 0 && (p[0] == name || p[0] == "*") }
	looks := func(r *syntax.Rule) bool {
		return slices.ContainsFunc(r.Conditions, func(k syntax.Condition) bool { return names(k.Arg) }) || slices.ContainsFunc(r.Ignores, names)
	}
	return b.list != nil && slices.ContainsFunc(b.list.Rules, looks) || slices.ContainsFunc(b.written, looks) ||
		slices.ContainsFunc(b.sessions, func(s *syntax.SessionPolicy) bool {
			return slices.ContainsFunc(s.Key, names) || names(s.ContentHash) || names(s.Sum) ||
				slices.ContainsFunc(s.When, func(k syntax.SessionCondition) bool { return names(k.Pointer) })
		})
}

// parameter compares the verdicts on calls with one parameter that is declared differently.
func (c *comparer) parameter(tool *comparedTool, name string, before, after *sidePolicy, bound [2]*boundPolicy) {
	sides := [2]*sidePolicy{before, after}
	var places [2]*RulePlace
	for i, s := range sides {
		if d := s.declared(tool); d.line(name) > 0 {
			places[i] = &RulePlace{File: s.File.Name, Line: d.line(name), Index: unpaired}
		}
	}
	n := c.parameterEdit("parameters."+name, places)
	may := directions{loosened: true, tightened: true}
	if was, is := before.declared(tool), after.declared(tool); was.same(is, name) { // one covers it and the other does not
		may = directions{loosened: is.covers(name), tightened: was.covers(name)}
	}
	back := [2]*boundPolicy{bound[1], bound[0]}
	if neverLoosens(tool, name, before, after, bound) || neverTightens(tool, name, after, before, back) {
		may.loosened = false
	}
	if neverLoosens(tool, name, after, before, back) || neverTightens(tool, name, before, after, bound) {
		may.tightened = false
	}
	shown := directions{}
	for _, args := range withParameter(name, before, bound) {
		if (!may.loosened || shown.loosened) && (!may.tightened || shown.tightened) {
			return
		}
		change, verdicts, differs := c.judge(stopgate.Call{Tool: tool.name, Definition: tool.definition, Args: args}, noTexts, syntax.RunList)
		if !differs || change.Direction == Loosened && shown.loosened || change.Direction == Tightened && shown.tightened {
			continue
		}
		shown.allow(change.From, change.To)
		change.Edit = n
		change.decidedBy(bound, verdicts)
		c.add(change)
	}
	switch {
	case may.loosened && !shown.loosened && may.tightened && !shown.tightened:
		c.open(tool, fmt.Sprintf("whether the edit of parameters.%s changes anything was not decided", name))
	case may.loosened && !shown.loosened:
		c.open(tool, fmt.Sprintf("whether the edit of parameters.%s loosens anything was not decided", name))
	case may.tightened && !shown.tightened:
		c.open(tool, fmt.Sprintf("whether the edit of parameters.%s tightens anything was not decided", name))
	}
}

// parameterEdit finds or adds the edit of a parameter.
func (c *comparer) parameterEdit(name string, places [2]*RulePlace) int {
	same := func(a, b *RulePlace) bool { return a == b || a != nil && b != nil && *a == *b }
	at := slices.IndexFunc(c.edits.list, func(e *Edit) bool { return e.Name == name && same(e.Old, places[0]) && same(e.New, places[1]) })
	if at < 0 {
		at = len(c.edits.list)
		c.edits.list = append(c.edits.list, &Edit{Name: name, Old: places[0], New: places[1], Bounded: true})
	}
	return at
}

// withParameter writes arguments with a parameter: values that guards look for, and others.
func withParameter(name string, before *sidePolicy, bound [2]*boundPolicy) [][]byte {
	t := symbolic.New(before.Env, before.Schema)
	bases := permitted(t, bound[0])
	var values []string
	quoted := func(text string) { values = append(values, string(jsonstream.AppendQuote(nil, text))) }
	quoted("x")
	others := []string{"[]", "[[]]", "{}", "5", "true"}
	for _, b := range bound {
		for _, g := range b.written {
			for _, k := range g.Conditions {
				for i, lit := range k.Spec.Values {
					if lit.Kind != condition.LiteralString {
						continue
					}
					if i == 1 { // values that do not fit its type, after those that do
						values, others = append(values, others...), nil
					}
					for _, text := range symbolic.Guesses(&k.Spec, lit.Text, 1) {
						// As it is, and where only one of two readings finds it: in an
						// address, a setting, a comment, a command.
						for _, written := range []string{text, "https:/x/" + text, "q7=" + text, "# /" + text, "cat " + text, "q7/" + text + " x"} {
							quoted(written)
						}
						values = append(values, "["+string(jsonstream.AppendQuote(nil, text))+"]")
					}
				}
			}
		}
	}
	for _, text := range []string{"cat *", "$X", "ls -R", "/q7/w9", "~/q7"} {
		quoted(text)
	}
	values = append(values, others...)
	var list [][]byte
	seen := make(map[string]bool)
	for _, value := range values {
		for _, base := range bases {
			if args, ok := withMember(base, name, value); ok && !seen[string(args)] {
				seen[string(args)] = true
				list = append(list, args)
			}
		}
	}
	return list
}

// maxBases is how many calls are tried for each rule that permits.
const maxBases = 3

// permitted writes arguments without any that are not required, and some that rules permit.
func permitted(t *symbolic.Translation, b *boundPolicy) (list [][]byte) {
	if args, ok := t.Document(nil); ok {
		list = append(list, args)
	}
	for _, r := range b.rules {
		if !r.Mode.Permissive() || len(r.Bound) == 0 {
			continue
		}
		tries := t.Tries(r, func(k *symbolic.Condition) []condition.Literal { return k.Spec.Values[:min(2, len(k.Spec.Values))] })
		tried := 0
		for witness := range tries {
			if args, ok := t.Document(witness); ok {
				list = append(list, args)
			}
			if tried++; tried == maxBases {
				break
			}
		}
	}
	return list
}

// withMember writes an object with a member set.
func withMember(object []byte, name, value string) ([]byte, bool) {
	root, err := jsonstream.Parse(object, jsonstream.Options{})
	if err != nil {
		return nil, false
	}
	out := []byte{'{'}
	for key, member := range root.Members() {
		if key.Text() != name {
			out = append(append(append(append(out, key.Raw()...), ':'), member.Raw()...), ',')
		}
	}
	return append(append(append(jsonstream.AppendQuote(out, name), ':'), value...), '}'), true
}
