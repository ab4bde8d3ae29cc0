package source

import (
	"regexp"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
)

// definition is a compiled [sources.NAME].
type definition struct {
	name   flow.Source
	tools  []stopgate.ToolName
	globs  []*glob.Name
	asked  []requirement
	where  []requirement
	items  jsonstream.Pointer // nil for the result itself
	field  jsonstream.Pointer
	keys   bool
	label  *regexp.Regexp // nil for whole texts
	format string
	kind   flow.Kind // of the values, flow.Text for any
	leans  []flow.Source
	// level is 0 for a definition that leans on built-in sources only, else one more than the
	// highest that it leans on.
	level int
	// leaned is set if another definition leans on the source.
	leaned bool
}

// requirement is a compiled condition of asked or where.
type requirement struct {
	pointer jsonstream.Pointer
	literal string // canonical JSON of the constant; "" if the value must come from sources
	from    []flow.Source
	label   *regexp.Regexp
	// as is the kind of the value if the condition states one, and relation how closely it agrees
	// with the text.
	as       flow.Kind
	stated   bool
	relation flow.Relation
	// pattern is nil unless some text of the value must match it.
	pattern *regexp.Regexp
}

// definitions compiles the sources of all files, in the order in which they can be evaluated. A
// definition that leans on itself, or that has a mistake, is left out: it covers nothing.
func definitions(c *Config) []*definition {
	var all []*definition
	for _, f := range c.Files {
		for _, t := range f.Sources {
			if builtIn(t.Name) {
				continue
			}
			if d := define(t, f.Scope, c.Tool); d != nil {
				all = append(all, d)
			}
		}
	}
	return levels(all)
}

func define(t *syntax.SourceTable, scope string, facts func(stopgate.ToolName) Facts) *definition {
	d := &definition{
		name: Scoped(t.Name, scope), items: t.Items, field: t.Field, keys: t.Keys, format: t.Format,
	}
	for _, name := range t.Tools {
		if syntax.IsGlob(name) {
			g, err := glob.ParseName(name)
			if err != nil {
				return nil
			}
			d.globs = append(d.globs, g)
			continue
		}
		d.tools = append(d.tools, canonical(stopgate.ToolName(name), facts))
	}
	var ok [4]bool
	d.asked, ok[0] = requirements(t.Asked, scope)
	d.where, ok[1] = requirements(t.Where, scope)
	d.label, ok[2] = group(t.Label)
	ok[3] = true
	if t.As != "" {
		kind, err := flow.ParseKind(t.As)
		d.kind, ok[3] = kind, err == nil
	}
	if slices.Contains(ok[:], false) {
		return nil
	}
	for _, q := range slices.Concat(d.asked, d.where) {
		d.leans = append(d.leans, q.from...)
	}
	return d
}

func requirements(conditions []syntax.SourceCondition, scope string) (out []requirement, ok bool) {
	for _, c := range conditions {
		q := requirement{pointer: c.Pointer}
		if c.Pattern != "" {
			re, err := regexp.Compile(c.Pattern)
			if err != nil || c.Const != nil || len(c.From) > 0 {
				return nil, false
			}
			q.pattern = re
			out = append(out, q)
			continue
		}
		if c.Const != nil {
			q.literal = c.Const.JSON
		}
		for _, name := range c.From {
			q.from = append(q.from, Scoped(name, scope))
		}
		var ok bool
		if q.label, ok = group(c.Label); !ok || (q.literal == "") == (len(q.from) == 0) {
			return nil, false
		}
		if !q.compare(&c) {
			return nil, false
		}
		out = append(out, q)
	}
	return out, true
}

// compare reads how the value and the text are compared.
func (q *requirement) compare(c *syntax.SourceCondition) bool {
	if c.As != "" {
		kind, err := flow.ParseKind(c.As)
		if err != nil {
			return false
		}
		q.as, q.stated = kind, true
	}
	if c.Relation == "" {
		return true
	}
	i := slices.Index(flow.Relations(), c.Relation)
	q.relation = flow.Relation(max(i, 0))
	return i >= 0
}

// levels orders definitions by what they lean on and drops those that lean on themselves, through
// whichever others.
func levels(all []*definition) []*definition {
	declared := map[flow.Source]bool{}
	for _, d := range all {
		declared[d.name] = true
		d.leaned = slices.ContainsFunc(all, func(o *definition) bool { return slices.Contains(o.leans, d.name) })
	}
	level := map[flow.Source]int{}
	var sorted []*definition
	for n := 0; len(all) > 0; n++ {
		ready := func(d *definition) bool {
			for _, name := range d.leans {
				if _, done := level[name]; declared[name] && !done {
					return false
				}
			}
			return true
		}
		var open []*definition
		names := map[flow.Source]bool{} // a source is ready if all its definitions are
		for _, d := range all {
			names[d.name] = names[d.name] || !ready(d)
		}
		for _, d := range all {
			if names[d.name] {
				open = append(open, d)
				continue
			}
			d.level = n
			sorted = append(sorted, d)
		}
		if len(open) == len(all) {
			break // the rest leans on itself
		}
		for _, d := range sorted {
			level[d.name] = d.level
		}
		all = open
	}
	return sorted
}

// structured reports whether the definition is about parts of a structured result.
func (d *definition) structured() bool {
	return len(d.items) > 0 || len(d.field) > 0 || d.keys || len(d.where) > 0 || d.format == formatJSON || d.format == formatYAML || d.format == formatPython
}

// named reports whether the definition names a tool, literally or by a glob.
func (d *definition) named(tool stopgate.ToolName) (literally, covered bool) {
	literally = slices.Contains(d.tools, tool)
	return literally, literally || slices.ContainsFunc(d.globs, func(g *glob.Name) bool { return g.Match(string(tool)) })
}

func canonical(name stopgate.ToolName, facts func(stopgate.ToolName) Facts) stopgate.ToolName {
	if f := facts(name); f.Name != "" {
		return f.Name
	}
	return name
}

// group compiles a pattern with one group; nil for "".
func group(pattern string) (*regexp.Regexp, bool) {
	if pattern == "" {
		return nil, true
	}
	re, err := regexp.Compile(pattern)
	return re, err == nil && re.NumSubexp() == 1
}
