package parser

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// MaxMembers is the maximum number of conditions in `all = [...]` (K28).
const MaxMembers = 16

const (
	maxReason = 200 // characters (K37)
	maxRules  = 100_000
)

var modes = []string{"unattended", "ask", "edit", "skip", "deny"}

// foreignModes maps modes of other programs to ours.
func foreignModes() map[string]string {
	return map[string]string{
		"allow": "unattended", "allowed": "unattended", "permit": "unattended", "accept": "unattended", "auto": "unattended", "approve": "unattended", "yes": "unattended",
		"confirm": "ask", "prompt": "ask", "review": "ask", "block": "deny", "reject": "deny", "forbid": "deny", "refuse": "deny", "never": "deny", "no": "deny",
	}
}

// didYouMean is [diag.DidYouMean] with a table of terms of other programs.
func didYouMean(word string, translations map[string]string, candidates []string) string {
	if known := translations[strings.ToLower(word)]; slices.Contains(candidates, known) {
		return "did you mean `" + known + "`?"
	}
	return diag.DidYouMean(word, candidates)
}

// mode reads a mode and checks that a list of this kind may have it (K0a, K32, K33).
func (p *reader) mode(v *tomltree.Value, key string, kind syntax.ListKind) (m stopgate.Mode, ok bool) {
	if v.Kind != tomltree.String {
		p.report(diag.WrongType, v.Range, fmt.Sprintf("`%s` must be a mode, not %s", key, v.Kind), "possible: "+quotedModes())
		return m, false
	}
	m, err := stopgate.ParseMode(v.Text)
	switch {
	case err != nil:
		p.report(diag.BadValue, v.Range, fmt.Sprintf("there is no mode %q", v.Text), didYouMean(v.Text, foreignModes(), modes))
	case kind == syntax.ResultList && m == stopgate.Deny:
		p.report(diag.ModeNotHere, v.Range, "a result cannot be denied: the call has run", "write `\"skip\"` to withhold it")
	case kind == syntax.GuardList && m.Permissive():
		p.report(diag.ModeNotHere, v.Range, "a guard only restricts, so it cannot be unattended", "write a rule in the tool's own list")
	default:
		return m, true
	}
	return m, false
}

func quotedModes() string { return diag.Words(modes) }

// ruleList reads run or result: a mode, or an ordered array of rules (D25-05).
func (p *ruleParser) ruleList(e *tomltree.Entry, kind syntax.ListKind) *syntax.RuleList {
	if e == nil {
		return nil
	}
	list := &syntax.RuleList{Pos: e.Value.Range}
	switch {
	case e.Value.Kind == tomltree.String:
		list.Alias = true
		m, ok := p.mode(e.Value, e.Key, kind)
		if !ok {
			list.Incomplete = true
			return list
		}
		list.Rules = []*syntax.Rule{{Mode: m, Pos: e.Value.Range, Pack: p.packOf(e.Value.Range), RuleKeys: p.noKeys}}
		return list
	case e.Value.Kind != tomltree.Array:
		p.wrongType(e, "a mode or an array of rules")
		list.Incomplete = true
		return list
	}
	tables := p.elements(e)
	list.Incomplete = len(tables) < len(e.Value.Elements)
	if len(tables) > maxRules {
		p.report(diag.TooLarge, e.KeyRange, fmt.Sprintf("more than %d rules", maxRules), "")
		tables, list.Incomplete = nil, true
	}
	for i, t := range tables {
		r, ok := p.rule(t, i, kind)
		if !ok {
			list.Incomplete = true
			continue
		}
		list.Rules = append(list.Rules, r)
	}
	return list
}

// rule reads one rule or guard (D25-07, D25-28, K28).
func (p *ruleParser) rule(t *tomltree.Value, index int, kind syntax.ListKind) (r *syntax.Rule, ok bool) {
	before := len(p.diags)
	r = &syntax.Rule{Index: index, Pos: t.Range, Pack: p.packOf(t.Range), RuleKeys: p.ruleKeys(t)}
	own := ruleKeys
	if kind == syntax.GuardList {
		own = slices.Concat(guardKeys, ruleKeys)
	}
	if on := t.Get("on"); on != nil && kind != syntax.GuardList {
		own = slices.Concat([]string{"on"}, ruleKeys)
		p.report(diag.UnknownKey, on.KeyRange, "`on` is for guards; a rule looks at one parameter", "write `arg = \"/path\"`")
	}
	p.known(t, own, p.matchers, p.options)
	p.conditions(t, r, kind)
	if kind == syntax.GuardList {
		p.below(t.Get("below"), r)
	}
	r.Match = p.quantifier(t.Get("match"))
	if r.MatchPos.IsValid() && len(r.Conditions) == 0 {
		p.report(diag.BadCondition, r.MatchPos, "`match` without a condition says nothing", "")
	}
	if e := t.Get("mode"); e == nil {
		p.report(diag.MissingKey, t.Range, "the rule has no `mode`", "possible: "+quotedModes())
	} else {
		r.Mode, _ = p.mode(e.Value, e.Key, kind)
	}
	r.Reason = p.sentence(t.Get("reason"))
	r.Note, _ = p.text(t.Get("note"))
	if r.When = p.when(t.Get("when")); r.When != nil {
		if r.When.Session != nil {
			r.When.SessionKey = syntax.DataKey(r.When.Session, r.Mode.Permissive())
		}
		if len(r.When.Group) > 0 {
			r.When.GroupKey = syntax.GroupKey(r.When.Group, r.Mode.Permissive())
		}
	}
	if r.When != nil && r.When.Says != nil && !r.Mode.Permissive() {
		p.report(diag.BadCondition, r.When.Says.Pos, "`says` is for rules that run calls: what a person did not write restricts nothing", "make it an unattended rule above one that asks")
	}
	p.hiddenPermits(r)
	p.mixedLists(r)
	p.sameText(t.Get("same_text"), r)
	r.AllowUnsafePrefix = p.flag(t.Get("allow_unsafe_prefix"))
	for _, v := range p.texts(t.Get("ignores")) {
		pointer, _ := p.pointer(v)
		r.Ignores, r.IgnoresPos = append(r.Ignores, pointer), append(r.IgnoresPos, v.Range)
	}
	p.examples(t.Get("examples"), r)
	return r, !p.diags[before:].HasErrors()
}

// ruleKeys returns where the keys of a rule are written. Most rules have none of them, and share one.
func (p *reader) ruleKeys(t *tomltree.Value) *syntax.RuleKeys {
	match, optOut := t.Get("match"), t.Get("allow_unsafe_prefix")
	if match == nil && optOut == nil && t.Get("ignores") == nil {
		return p.noKeys
	}
	return &syntax.RuleKeys{MatchPos: writtenAt(match), OptOutPos: writtenAt(optOut)}
}

// writtenAt returns the range of the value of a key, zero without the key.
func writtenAt(e *tomltree.Entry) diag.Range {
	if e == nil {
		return diag.Range{}
	}
	return e.Value.Range
}

func (p *ruleParser) quantifier(e *tomltree.Entry) syntax.Quantifier {
	switch word, _ := p.word(e, "any", "all"); word {
	case "any":
		return syntax.QuantifierAny
	case "all":
		return syntax.QuantifierAll
	}
	return syntax.QuantifierDefault
}

// sentence reads a public text (K37).
func (p *reader) sentence(e *tomltree.Entry) string {
	text, ok := p.text(e)
	if !ok {
		return ""
	}
	if n := utf8.RuneCountInString(text); n > maxReason {
		p.report(diag.BadValue, e.Value.Range, fmt.Sprintf("`reason` has %d characters; models and people get at most %d", n, maxReason),
			"move what only operators need to `note`")
	}
	for i, r := range text {
		if !unicode.IsPrint(r) {
			p.report(diag.BadValue, e.Value.OffsetRange(i), fmt.Sprintf("`reason` is one line of visible text, U+%04X is not", r), "")
			break
		}
	}
	return text
}
