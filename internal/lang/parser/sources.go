package parser

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// MaxSources is the maximum number of [sources.NAME] of a file.
const MaxSources = 64

// sources reads [sources.NAME]. All names are known before the first condition on a source is read.
func (p *parser) sources(e *tomltree.Entry) {
	if e == nil || !p.table(e) {
		return
	}
	var tables []*tomltree.Value
	for _, m := range e.Value.Entries {
		if !p.table(m) {
			continue
		}
		name := flow.Source(m.Key)
		switch {
		case name == flow.User:
		case slices.Contains(syntax.BuiltInSources, m.Key):
			p.report(diag.BadName, m.KeyRange, fmt.Sprintf("the source %q is built in", m.Key), "give this one another name")
			continue
		case !isSourceName(m.Key):
			p.report(diag.BadName, m.KeyRange, "no source can have the name "+tomltree.Quote(m.Key), "names begin with a letter and have up to 64 characters of A-Z a-z 0-9 _ -")
			continue
		}
		p.policy.Sources = append(p.policy.Sources, &syntax.SourceTable{Name: name, Pos: m.KeyRange})
		tables = append(tables, m.Value)
	}
	if len(tables) > MaxSources {
		p.report(diag.TooLarge, e.KeyRange, fmt.Sprintf("%d sources; at most %d are possible", len(tables), MaxSources), "")
		return
	}
	for i, s := range p.policy.Sources {
		p.source(tables[i], s)
	}
	p.cycles()
}

// isSourceName reports whether a source can have a name.
func isSourceName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

func (p *parser) source(t *tomltree.Value, s *syntax.SourceTable) {
	if s.Name == flow.User {
		p.known(t, userSourceKeys)
		if word, _ := p.word(t.Get("only"), "last"); word == "last" {
			s.Last = true
		} else if t.Get("only") == nil {
			p.report(diag.MissingKey, t.Range, "the source \"user\" is built in: `only` is its one setting", "write only = \"last\", or leave the table out")
		}
		return
	}
	if e := t.Get("only"); e != nil {
		p.report(diag.UnknownKey, e.KeyRange, "`only` belongs to `[sources.user]`", "")
	}
	p.known(t, sourceKeys, []string{"only"})
	if e := t.Get("tool"); e == nil {
		p.report(diag.MissingKey, t.Range, "`tool` is missing", "name the tools whose results have the texts")
	} else {
		s.Tools, s.ToolPos = p.toolNames(e), e.Value.Range
	}
	s.Trusted = p.flag(t.Get("trusted"))
	s.Asked = p.sourceConditions(t.Get("asked"), s.Trusted)
	s.Where = p.sourceConditions(t.Get("where"), s.Trusted)
	if e := t.Get("items"); e != nil {
		if _, ok := p.text(e); ok {
			s.Items, _ = p.pointer(e.Value)
		}
		if len(s.Items) > 0 && s.Items[len(s.Items)-1] != "*" {
			p.report(diag.BadPointer, e.Value.Range, "`items` names the items of a list, so it ends with a star", "write `"+tomltree.Quote(e.Value.Text+"/*")+"`")
		}
	}
	s.Field, s.Keys = p.field(t.Get("field"))
	if e := t.Get("label"); e != nil {
		s.Label = p.label(e)
		if s.Keys {
			p.report(diag.BadCondition, e.KeyRange, "`label` looks for a part of a text, and `field` names keys", "write a second source")
		}
	}
	s.Format, _ = p.word(t.Get("format"), sourceFormats...)
	if s.Format == "text" {
		for _, key := range []string{"field", "items", "where"} {
			if e := t.Get(key); e != nil {
				p.report(diag.BadCondition, e.KeyRange, "`"+key+"` looks into a structured result, and `format` is \"text\"", "use `label` for a part of a text")
			}
		}
	}
	s.As, _ = p.word(t.Get("as"), flow.Kinds()...)
}

// field reads the pointer of texts, with a tilde after its last star for the keys.
func (p *parser) field(e *tomltree.Entry) (field jsonstream.Pointer, keys bool) {
	text, ok := p.text(e)
	if !ok {
		return nil, false
	}
	plain, keys := strings.CutSuffix(text, "*~")
	if keys {
		written := *e.Value
		written.Text = plain + "*"
		field, _ = p.pointer(&written)
		return field, true
	}
	field, _ = p.pointer(e.Value)
	return field, false
}

// sourceConditions reads conditions on arguments or on members of a result: a table, or an array of
// tables that must all hold.
func (p *parser) sourceConditions(e *tomltree.Entry, trusted bool) []syntax.SourceCondition {
	if e == nil {
		return nil
	}
	tables := []*tomltree.Value{e.Value}
	if e.Value.Kind == tomltree.Array {
		if tables = p.elements(e); len(e.Value.Elements) == 0 {
			p.report(diag.BadCondition, e.Value.Range, "`"+e.Key+"` is empty", "leave it out")
		}
	} else if !p.table(e) {
		return nil
	}
	var all []syntax.SourceCondition
	for _, t := range tables {
		p.known(t, sourceConditionKeys)
		c := syntax.SourceCondition{Pos: t.Range}
		pointer, constant, from, pattern := t.Get("pointer"), t.Get("const"), t.Get("from"), t.Get("pattern")
		if written := []bool{constant != nil, from != nil, pattern != nil}; pointer == nil || count(written) != 1 {
			p.report(diag.BadCondition, t.Range, "a condition needs `pointer` and one of `const`, `from` and `pattern`", "write { pointer = \"/sender\", from = [\"user\"] }")
			continue
		}
		if pattern != nil {
			c.Pattern = p.searched(pattern)
			if trusted {
				p.report(diag.BadCondition, pattern.KeyRange, "`pattern` is no reason to trust a text: whoever chooses the value chooses one that fits",
					"write `const` or `from`, or a source that is not trusted")
			}
		}
		if _, ok := p.text(pointer); ok {
			c.Pointer, _ = p.pointer(pointer.Value)
		}
		if constant != nil {
			if lit, ok := p.literal(constant.Value); ok && lit.Kind != condition.LiteralArray && lit.Kind != condition.LiteralObject {
				c.Const = &lit
			} else if ok {
				p.wrongType(constant, "a string, a number, true, false or null")
			}
		}
		c.As, _ = p.word(t.Get("as"), flow.Kinds()...)
		c.Relation, _ = p.word(t.Get("relation"), flow.Relations()...)
		if e := t.Get("label"); e != nil {
			c.Label = p.label(e)
		}
		for _, key := range []string{"label", "as", "relation"} {
			if e := t.Get(key); e != nil && from == nil {
				p.report(diag.BadCondition, e.KeyRange, "`"+key+"` belongs to `from`", "leave it out")
			}
		}
		for _, v := range p.texts(from) {
			if p.knownSource(v.Text, v.Range) {
				c.From = append(c.From, flow.Source(v.Text))
			}
		}
		all = append(all, c)
	}
	return all
}

// count returns how many of some facts are true.
func count(facts []bool) (n int) {
	for _, f := range facts {
		if f {
			n++
		}
	}
	return n
}

// cycles reports sources that depend on themselves.
func (p *parser) cycles() {
	const active, done = 1, 2
	state := map[flow.Source]int{}
	var visit func(s *syntax.SourceTable, path []string)
	visit = func(s *syntax.SourceTable, path []string) {
		path = append(path, string(s.Name))
		state[s.Name] = active
		for _, c := range slices.Concat(s.Asked, s.Where) {
			for _, name := range c.From {
				next := p.policy.SourceNamed(name)
				switch {
				case next == nil:
				case state[name] == active:
					loop := append(path[slices.Index(path, string(name)):len(path):len(path)], string(name))
					p.report(diag.SourceCycle, c.Pos, "the source `"+string(name)+"` depends on itself: "+strings.Join(loop, " from "),
						"take one of the conditions out", diag.Related{Range: next.Pos, Message: "the source is here"})
				case state[name] == 0:
					visit(next, path)
				}
			}
		}
		state[s.Name] = done
	}
	for _, s := range p.policy.Sources {
		if state[s.Name] == 0 {
			visit(s, nil)
		}
	}
}
