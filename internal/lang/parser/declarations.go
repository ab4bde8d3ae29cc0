package parser

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// declarations reads session policies, handoffs, [judge] and external policies.
func (p *parser) declarations(root *tomltree.Value) {
	for _, t := range p.elements(root.Get("session")) {
		p.session(t)
	}
	p.sessionNames()
	for _, t := range p.elements(root.Get("handoffs")) {
		p.handoff(t)
	}
	if e := root.Get("judge"); e != nil && p.table(e) {
		p.judge(e)
	}
	for _, t := range p.elements(root.Get("external")) {
		p.external(t)
	}
}

// handoff reads one [[handoffs]] (G2-03, S9, S41).
func (p *parser) handoff(t *tomltree.Value) {
	p.known(t, handoffKeys)
	h := &syntax.Handoff{Pos: t.Range, Reason: p.sentence(t.Get("reason"))}
	p.policy.Handoffs = append(p.policy.Handoffs, h)
	h.From, h.To = p.agents(t.Get("from")), p.agents(t.Get("to"))
	if t.Get("to") == nil {
		p.report(diag.MissingKey, t.Range, "`to` is missing", "name the agents that may receive, or write to = \"*\"")
	}
	if e := t.Get("mode"); e == nil {
		p.report(diag.MissingKey, t.Range, "`mode` is missing", "write unattended, ask or deny")
	} else if word, ok := p.word(e, "unattended", "ask", "deny"); ok {
		h.Mode, _ = stopgate.ParseMode(word)
	}
	word, _ := p.word(t.Get("kind"), "transfer", "delegate")
	h.Delegate = word == "delegate"
	h.Inherit = p.flag(t.Get("inherit"))
	if e := t.Get("tool"); e != nil {
		if name, ok := p.text(e); ok {
			p.toolName(name, e.Value.Range)
			h.Tool = name
		}
	}
	if e := t.Get("to_arg"); e != nil {
		if _, ok := p.text(e); ok {
			h.ToArg, _ = p.pointer(e.Value)
		}
		if h.Tool == "" {
			p.report(diag.BadValue, e.KeyRange, "`to_arg` names an argument of the tool that hands over, and `tool` is missing", "")
		}
	}
	if h.Tool != "" && len(h.ToArg) == 0 && strings.Count(h.Tool, "*") != 1 {
		p.report(diag.MissingKey, t.Get("tool").Value.Range, "nobody can tell to whom a call of this tool hands over",
			"name the argument: to_arg = \"/agent\", or write one * in the tool's name")
	}
}

// agents reads names and globs of agents.
func (p *parser) agents(e *tomltree.Entry) []string {
	values := p.texts(e)
	for _, v := range values {
		p.factName("agent", v)
	}
	return textsOf(values)
}

// decode decodes a table into a struct and adds the findings.
func (p *reader) decode(t *tomltree.Value, into any) {
	p.diags = append(p.diags, tomltree.Decode(t, into)...)
}

// oneOf checks a word that was decoded as a string.
func (p *reader) oneOf(t *tomltree.Value, key string, words []string) {
	e := t.Get(key)
	if e == nil || e.Value.Kind != tomltree.String || slices.Contains(words, e.Value.Text) {
		return
	}
	p.report(diag.BadValue, e.Value.Range, fmt.Sprintf("`%s` cannot be %q", key, e.Value.Text), diag.DidYouMean(e.Value.Text, words))
}
