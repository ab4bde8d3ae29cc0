package jp

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// jpParam is a declared parameter, or a part of one.
type jpParam struct {
	name   string
	fields map[string]*tomltree.Value
	items  *jpParam
	parts  []*jpParam
}

// jpFields are the keys of a parameter that a policy has too, in the order of its declarations.
// Defaults are not among them: the rules of JP see only arguments that the model writes.
var jpFields = []string{"type", "required", "enum"}

// mergeJPParams merges a table of parameters into earlier ones.
func mergeJPParams(params []*jpParam, v *tomltree.Value) ([]*jpParam, error) {
	if v.Kind != tomltree.Table {
		return nil, errors.New("the parameters are no table")
	}
	for _, e := range v.Entries {
		i := slices.IndexFunc(params, func(p *jpParam) bool { return p.name == e.Key })
		if i < 0 {
			params = append(params, &jpParam{name: e.Key})
			i = len(params) - 1
		}
		if err := params[i].merge(e.Value); err != nil {
			return nil, err
		}
	}
	return params, nil
}

func (p *jpParam) merge(v *tomltree.Value) (err error) {
	if v.Kind != tomltree.Table {
		return errors.New("parameter " + p.name + " is no table")
	}
	if p.fields == nil {
		p.fields = map[string]*tomltree.Value{}
	}
	for _, e := range v.Entries {
		switch e.Key {
		case "summary", "description", "examples", "default":
		case "items":
			if p.items == nil {
				p.items = &jpParam{name: p.name}
			}
			err = p.items.merge(e.Value)
		case "properties":
			p.parts, err = mergeJPParams(p.parts, e.Value)
		default:
			if !slices.Contains(jpFields, e.Key) {
				return errors.New("parameter " + p.name + ": " + e.Key + " is not known")
			}
			p.fields[e.Key] = e.Value
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// jpTypes are the types of parameters.
var jpTypes = []string{"string", "path", "number", "integer", "boolean", "array", "object", "null"}

// untyped returns the name of a part without a type that is known, "" if there is none.
func (p *jpParam) untyped() string {
	types := []*tomltree.Value{}
	if t := p.fields["type"]; t != nil && t.Kind == tomltree.Array {
		types = t.Elements
	} else if t != nil {
		types = append(types, t)
	}
	if len(types) == 0 || slices.ContainsFunc(types, func(t *tomltree.Value) bool { return !slices.Contains(jpTypes, t.Text) }) {
		return p.name
	}
	parts := p.parts
	if p.items != nil {
		parts = append(slices.Clone(parts), p.items)
	}
	for _, part := range parts {
		if name := part.untyped(); name != "" {
			return name
		}
	}
	return ""
}

// kind returns the declared type, "" if there is none or several.
func (p *jpParam) kind() string {
	if t := p.fields["type"]; t != nil && t.Kind == tomltree.String {
		return t.Text
	}
	return ""
}

// declaration formats the parameter as an inline table.
func (p *jpParam) declaration() string {
	var parts []string
	for _, key := range jpFields {
		if v := p.fields[key]; v != nil {
			parts = append(parts, key+" = "+jpLiteral(v))
		}
	}
	if p.items != nil {
		parts = append(parts, "items = "+p.items.declaration())
	}
	if len(p.parts) > 0 {
		var members []string
		for _, m := range p.parts {
			members = append(members, tomltree.Key(m.name)+" = "+m.declaration())
		}
		parts = append(parts, "properties = { "+strings.Join(members, ", ")+" }")
	}
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// jpLiteral formats a value on one line.
func jpLiteral(v *tomltree.Value) string {
	var parts []string
	switch v.Kind {
	case tomltree.String:
		return tomltree.Quote(v.Text)
	case tomltree.Array:
		for _, e := range v.Elements {
			parts = append(parts, jpLiteral(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case tomltree.Table:
		for _, e := range v.Entries {
			parts = append(parts, tomltree.Key(e.Key)+" = "+jpLiteral(e.Value))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	}
	return v.Text
}

// target is the parameter that a pointer names.
type target struct {
	kind  string
	array bool // the pointer leads through an array
	found bool
}

// resolve follows a pointer into the parameters. A segment goes through arrays to their elements.
func (t *jpTool) resolve(pointer string) (to target) {
	members := t.params
	var at *jpParam
	for segment := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		segment = strings.NewReplacer("~1", "/", "~0", "~").Replace(segment)
		i := slices.IndexFunc(members, func(p *jpParam) bool { return p.name == segment })
		if i < 0 {
			return to
		}
		for at = members[i]; at.items != nil; at = at.items {
			to.array = true
		}
		members = at.parts
	}
	to.kind, to.found = at.kind(), true
	return to
}

func (j *converter) translate() error {
	j.Note("JP knows no other tools than those of its configuration: here others are asked about, or refused.")
	j.Note("A path that is written from the root of the file system is a file of the project if it lies there; JP compares it as it is written.")
	for _, name := range j.order {
		t := j.tools[name]
		out := j.Table(name)
		run, err := t.convert(j.listOf(t, "run"))
		if err != nil {
			return err
		}
		if out.Results, err = t.convert(j.listOf(t, "result")); err != nil {
			return err
		}
		out.Rules = run
		if off := j.off(t); off != nil {
			out.Results, out.Rules = nil, []*draft.Rule{{From: off, Mode: stopgate.Deny, Comment: "JP does not offer this tool."}}
			for _, key := range []string{"run", "policy.run", "result", "policy.result"} {
				if l := t.lists[key]; l != nil {
					for _, r := range l.rules {
						r.From.LeftOut("the tool is switched off")
					}
				}
			}
		}
		if err := j.declared(t, out); err != nil {
			return err
		}
	}
	every, _ := j.defaults.convert(j.listOf(j.defaults, "run"))
	j.Everything = restrictive(every)
	j.EveryResult, _ = j.defaults.convert(j.listOf(j.defaults, "result"))
	j.unused()
	return nil
}

// off returns the rule that switches a tool off, nil if it is on.
func (j *converter) off(t *jpTool) *draft.SourceRule {
	for _, t := range []*jpTool{t, j.defaults} {
		if t.off != nil {
			return t.offAt
		}
	}
	return nil
}

// listOf returns the list that decides for a tool, nil if there is none: its policy, its older
// key, and the same of "*".
func (j *converter) listOf(t *jpTool, key string) *jpList {
	for _, t := range []*jpTool{t, j.defaults} {
		l, older := t.lists["policy."+key], t.lists[key]
		if l != nil && older != nil {
			for _, r := range older.rules {
				r.From.LeftOut("policy.%s takes precedence", key)
			}
		}
		if l == nil {
			l = older
		}
		if l != nil {
			return l
		}
	}
	return nil
}

// convert copies rules for a tool, without those on parameters that it does not have.
func (t *jpTool) convert(l *jpList) (out []*draft.Rule, err error) {
	if l == nil {
		return nil, nil
	}
	var above []draft.Condition // of rules that do not refuse
	asks := false               // one of them asks, and matches generously here
	for _, r := range l.rules {
		one := *r
		if len(r.Conds) > 0 {
			c := r.Conds[0]
			to := t.resolve(c.Arg)
			switch {
			case to.found:
			case t.name == "*" || t.remote():
				t.unnamed = true
			case t.lists[l.key] != l: // JP passes over rules of "*" on what a tool does not have
				continue
			default:
				return nil, &draft.Error{File: r.From.File, Line: r.From.Line, Message: t.name + ": it has no parameter " + c.Arg}
			}
			c.Exact = c.Exact || to.kind == "number" || to.kind == "integer" || to.kind == "boolean"
			c.Sure = sureOfJP(c, to.kind)
			one.Conds = []draft.Condition{c}
			if one.Permits() && to.array {
				one.From.Stricter("every element has to match, not only one")
			}
			if one.Permits() && !to.found && t.name != "*" {
				one.From.Stricter("arguments that the configuration does not name are asked about")
			}
			if c.Array = to.array; !draft.Refuses(one.Mode) {
				above = append(above, c)
				asks = asks || !one.Permits() && !c.Exact
			}
		}
		if draft.Refuses(one.Mode) && asks && slices.ContainsFunc(above, func(c draft.Condition) bool {
			return c.Array || c.Sure == "" || c.Arg != above[0].Arg || len(one.Conds) > 0 && one.Conds[0].Arg != c.Arg
		}) {
			one.From.Stricter("also for calls that a rule above decides, if they have other values too")
		}
		out = append(out, &one)
	}
	return out, nil
}

// remote reports whether the schema of a tool is not in the configuration, which has a part of it
// at most.
func (t *jpTool) remote() bool {
	return t.source == "mcp" || t.source == "builtin" || t.source == "" && len(t.params) == 0
}

// declared adds the declarations of a tool's parameters to its table. A part of a schema is left
// out if rules are about more, or if it has no types: a table without a schema is the schema.
func (j *converter) declared(t *jpTool, out *draft.Table) error {
	if t.remote() && (t.unnamed || slices.ContainsFunc(t.params, func(p *jpParam) bool { return p.untyped() != "" })) {
		if len(t.params) > 0 {
			j.Note("The parameters of " + t.name + " are those of its server: what the configuration narrows of them is not in the policy.")
		}
		return nil
	}
	for _, p := range t.params {
		if name := p.untyped(); name != "" {
			return fmt.Errorf("%s: parameter %s has no type that is known", t.name, name)
		}
		out.Params = append(out.Params, draft.Param{Name: p.name, Kind: p.declaration()})
	}
	return nil
}

// sureOfJP returns a pattern of texts that JP and the policy certainly match, "" if there is none.
func sureOfJP(c draft.Condition, kind string) string {
	var list []string
	for _, v := range c.Values {
		p := draft.QuoteMeta(v)
		switch {
		case c.Matcher == "pattern":
			p = "[^]*(?:" + v + ")[^]*"
		case c.Matcher == "prefix" && kind == "string":
			p += "[^]*"
		case c.Matcher == "prefix":
			p = draft.QuoteMeta(path.Clean(v)) + "(?:/[^]*)?"
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return ""
	}
	return draft.Group(list)
}

// restrictive returns the rules that do not permit: tools that JP does not have run in no case.
func restrictive(list []*draft.Rule) (out []*draft.Rule) {
	for _, r := range list {
		if r.Permits() {
			r.From.Stricter("only for the tools that the configuration names")
			continue
		}
		out = append(out, r)
	}
	return out
}

// unused reports the rules of "*" that no list has.
func (j *converter) unused() {
	used := map[*draft.SourceRule]bool{}
	for _, t := range append(slices.Clone(j.Tables), &draft.Table{Rules: j.Everything, Results: j.EveryResult}) {
		for _, r := range slices.Concat(t.Rules, t.Results) {
			used[r.From] = true
		}
	}
	for _, l := range j.defaults.lists {
		for _, r := range l.rules {
			if !used[r.From] && r.From.Outcome == draft.Same {
				r.From.LeftOut("no tool has this parameter")
			}
		}
	}
}
