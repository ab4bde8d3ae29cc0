package parser

import (
	"errors"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

var surfaces = []string{
	string(stopgate.SurfaceLibrary), string(stopgate.SurfaceGateway), string(stopgate.SurfaceMCP),
	string(stopgate.SurfaceHook), string(stopgate.SurfaceAgent), string(stopgate.SurfaceDecide),
}

// guards reads [[guard]]: restrictive rules for every tool (K0a, K57).
func (p *ruleParser) guards(e *tomltree.Entry) {
	first := make(map[stopgate.RuleID]*syntax.Rule)
	for i, t := range p.elements(e) {
		r, ok := p.rule(t, i, syntax.GuardList)
		if !ok {
			continue
		}
		r.Identify(syntax.EveryTool, "guard")
		if before := first[r.ID]; before != nil {
			p.report(diag.Duplicate, r.Pos, "the guard is already written", "keep one of the two",
				diag.Related{Range: before.Pos, Message: "the first one is here"})
			continue
		}
		first[r.ID] = r
		p.policy.Guards = append(p.policy.Guards, r)
	}
}

// below reads the setting of a guard on paths for files that a command reads without naming them.
func (p *ruleParser) below(e *tomltree.Entry, r *syntax.Rule) {
	if e == nil {
		return
	}
	word, ok := p.word(e, "ask", "ignore")
	switch {
	case !ok || len(r.Conditions) == 0:
	case r.Conditions[0].On != "path":
		p.report(diag.BadCondition, e.KeyRange, "`below` is for guards with `on = \"path\"`", "leave it out")
	default:
		r.Conditions[0].IgnoreBelow = word == "ignore"
	}
}

// when reads the facts of a call that a rule is limited to (K60).
func (p *ruleParser) when(e *tomltree.Entry) *syntax.When {
	if e == nil || !p.table(e) {
		return nil
	}
	if e.Value.Get("session") != nil {
		p.known(e.Value, syntax.WhenKeys, p.matchers)
	} else {
		p.known(e.Value, syntax.WhenKeys)
	}
	if len(e.Value.Entries) == 0 {
		p.report(diag.BadValue, e.Value.Range, "`when` is empty", "leave it out")
	}
	names := func(key string) []string { return p.factNames(e.Value, key) }
	w := &syntax.When{
		Agent: names("agent"), Surface: names("surface"), Server: names("server"), Principal: names("principal"), Group: names("group"),
		Pos: e.Value.Range,
	}
	if e.Value.Get("session") != nil {
		if c, ok := p.dataCondition(e.Value, "session"); ok {
			w.Session = &c
		}
	}
	w.Says = p.says(e.Value)
	if effect := e.Value.Get("effect"); effect != nil {
		set := p.flag(effect)
		w.Effect = &set
	}
	return w
}

// factNames reads the names and globs of one fact.
func (p *ruleParser) factNames(t *tomltree.Value, key string) []string {
	values := p.texts(t.Get(key))
	for _, v := range values {
		p.factName(key, v)
	}
	return textsOf(values)
}

// factName checks a name or glob of when; surfaces are a closed list.
func (p *ruleParser) factName(key string, v *tomltree.Value) {
	if _, err := glob.ParseName(v.Text); err != nil {
		at, message, hint := v.Range, err.Error(), ""
		var wrong *glob.Error
		if errors.As(err, &wrong) {
			message, hint = wrong.Message, wrong.Hint
			at = v.OffsetRange(wrong.Offset)
		}
		p.report(diag.BadGlob, at, message, hint)
		return
	}
	if key == "surface" && !syntax.IsGlob(v.Text) {
		for _, s := range surfaces {
			if s == v.Text {
				return
			}
		}
		p.report(diag.BadValue, v.Range, "there is no surface "+tomltree.Quote(v.Text), diag.DidYouMean(v.Text, surfaces))
	}
}
