package parser

import (
	"math"
	"path"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// gate reads [gate].
func (p *parser) gate(e *tomltree.Entry) {
	if e == nil || !p.table(e) {
		return
	}
	t, g := e.Value, &p.policy.Gate
	p.known(t, gateKeys)
	g.Written = t
	g.UnknownTool = p.denyOrAsk(t.Get("unknown_tool"))
	g.OnSchemaViolation = p.denyOrAsk(t.Get("on_schema_violation"))
	if action := p.paramAction(t.Get("unknown_params")); action != nil {
		g.UnknownParams = *action
	}
	if action := p.paramAction(t.Get("uncovered")); action != nil {
		g.Uncovered = *action
	}
	g.DenyMode, _ = p.word(t.Get("deny_mode"), "tool_result", "throw")
	g.Enforcement, _ = p.word(t.Get("enforcement"), "enforce", "observe")
	g.Strict = p.flag(t.Get("strict"))
	if word, ok := p.word(t.Get("structured_output"), "rules", "unattended"); ok && word == "unattended" {
		g.StructuredOutput = stopgate.Unattended
	}
	g.DenialLimit = p.integer(t.Get("denial_limit"), math.MaxInt32)
}

func (p *parser) denyOrAsk(e *tomltree.Entry) stopgate.Mode {
	if word, ok := p.word(e, "deny", "ask"); ok && word == "ask" {
		return stopgate.Ask
	}
	return stopgate.Deny
}

func (p *parser) paramAction(e *tomltree.Entry) *syntax.ParamAction {
	word, ok := p.word(e, syntax.ParamActions...)
	for i, name := range syntax.ParamActions {
		if ok && word == name {
			action := syntax.ParamAction(i)
			return &action
		}
	}
	return nil
}

// paths reads [paths]. The directories must be absolute and clean, so that they can be compared as
// text (K19).
func (p *parser) paths(e *tomltree.Entry) {
	if e == nil || !p.table(e) {
		return
	}
	p.known(e.Value, pathKeys)
	p.policy.Paths.Root = p.directory(e.Value.Get("root"))
	p.policy.Paths.Home = p.directory(e.Value.Get("home"))
}

func (p *parser) directory(e *tomltree.Entry) string {
	dir, ok := p.text(e)
	if !ok {
		return ""
	}
	if !strings.HasPrefix(dir, "/") {
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` must be an absolute directory", "")
		return ""
	}
	if clean := path.Clean(dir); clean != strings.TrimRight(dir, "/") && clean != "/" {
		p.report(diag.BadValue, e.Value.Range, "`"+e.Key+"` is not written plainly", "write `"+tomltree.Quote(clean)+"`")
		return ""
	}
	return path.Clean(dir)
}

// namedLists reads [lists] (K60).
func (p *parser) namedLists(e *tomltree.Entry) {
	p.lists = make(map[string]*syntax.NamedList)
	if e == nil || !p.table(e) {
		return
	}
	for _, m := range e.Value.Entries {
		if m.Value.Kind != tomltree.Array {
			p.wrongType(m, "an array of values")
			continue
		}
		if len(m.Value.Elements) == 0 {
			p.report(diag.BadValue, m.Value.Range, "the list `"+m.Key+"` is empty: no condition on it can hold", "")
			continue
		}
		list := &syntax.NamedList{Name: m.Key, Pos: m.KeyRange}
		for _, v := range m.Value.Elements {
			if lit, ok := p.literal(v); ok {
				list.Values = append(list.Values, lit)
				list.ValuesAt = append(list.ValuesAt, v)
			}
		}
		p.policy.Lists = append(p.policy.Lists, list)
		p.lists[m.Key] = list
	}
}
