package policy

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
)

const (
	maxReason  = 200 // characters (K37)
	maxMembers = 16  // of all = [...] (K28)
	maxRules   = 100_000
)

// listKind tells the three places apart where rules stand.
type listKind uint8

const (
	runRules listKind = iota
	resultRules
	guardRules
)

var modes = []string{"unattended", "ask", "edit", "skip", "deny"}

// mode reads a mode that a list of this kind may have (K0a, K32, K33).
func (p *parser) mode(v *tomltree.Value, key string, kind listKind) (m stopgate.Mode, ok bool) {
	if v.Kind != tomltree.String {
		p.report(diag.WrongType, v.Range, fmt.Sprintf("`%s` must be a mode, not %s", key, v.Kind), "possible: "+quotedModes())
		return m, false
	}
	m, err := stopgate.ParseMode(v.Text)
	switch {
	case err != nil:
		p.report(diag.BadValue, v.Range, fmt.Sprintf("there is no mode %q", v.Text), diag.DidYouMean(v.Text, modes))
	case kind == resultRules && m == stopgate.Deny:
		p.report(diag.ModeNotHere, v.Range, "a result cannot be denied: the call has run", "write `\"skip\"` to withhold it")
	case kind == guardRules && m.Permissive():
		p.report(diag.ModeNotHere, v.Range, "a guard only restricts, so it cannot be unattended", "write a rule in the tool's own list")
	default:
		return m, true
	}
	return m, false
}

func quotedModes() string { return quoted(modes) }

// ruleList reads run or result: a mode, or an ordered array of rules (D25-05).
func (p *parser) ruleList(e *tomltree.Entry, kind listKind) *RuleList {
	if e == nil {
		return nil
	}
	list := &RuleList{Pos: e.Value.Range}
	switch {
	case e.Value.Kind == tomltree.String:
		list.Alias = true
		list.comments = commentsOf(e.Value)
		m, ok := p.mode(e.Value, e.Key, kind)
		if !ok {
			list.broken = true
			return list
		}
		list.Rules = []*Rule{{Mode: m, Pos: e.Value.Range}}
		return list
	case e.Value.Kind != tomltree.Array:
		p.wrongType(e, "a mode or an array of rules")
		list.broken = true
		return list
	}
	list.comments, list.inner = e.Value.Comments, e.Value.Inner
	if e.Value.Trailing != "" {
		list.inner = append(list.inner, e.Value.Trailing)
	}
	tables := p.elements(e)
	list.broken = len(tables) < len(e.Value.Elements)
	if len(tables) > maxRules {
		p.report(diag.TooLarge, e.KeyRange, fmt.Sprintf("more than %d rules", maxRules), "")
		tables, list.broken = nil, true
	}
	for i, t := range tables {
		r, ok := p.rule(t, i, kind)
		if !ok {
			list.broken = true
			continue
		}
		list.Rules = append(list.Rules, r)
	}
	return list
}

// rule reads one rule or guard (D25-07, D25-28, K28).
func (p *parser) rule(t *tomltree.Value, index int, kind listKind) (r *Rule, ok bool) {
	before := len(p.diags)
	r = &Rule{Index: index, Pos: t.Range, comments: commentsOf(t)}
	own := ruleKeys
	if kind == guardRules {
		own = slices.Concat([]string{"on"}, ruleKeys)
	}
	if on := t.Get("on"); on != nil && kind != guardRules {
		own = slices.Concat([]string{"on"}, ruleKeys)
		p.report(diag.UnknownKey, on.KeyRange, "`on` is for guards; a rule looks at one parameter", "write `arg = \"/path\"`")
	}
	p.known(t, own, matcherKeys)
	p.conditions(t, r, kind)
	r.Match = p.quantifier(t.Get("match"))
	r.matchPos = valueOf(t.Get("match"))
	if r.matchPos != nil && len(r.Conditions) == 0 {
		p.report(diag.BadCondition, r.matchPos.Range, "`match` without a condition says nothing", "")
	}
	if e := t.Get("mode"); e == nil {
		p.report(diag.MissingKey, t.Range, "the rule has no `mode`", "possible: "+quotedModes())
	} else {
		r.Mode, _ = p.mode(e.Value, e.Key, kind)
	}
	r.Reason = p.sentence(t.Get("reason"))
	r.Note, _ = p.text(t.Get("note"))
	r.When = p.when(t.Get("when"))
	r.AllowUnsafePrefix = p.flag(t.Get("allow_unsafe_prefix"))
	r.optOut = valueOf(t.Get("allow_unsafe_prefix"))
	r.ignores = p.texts(t.Get("ignores"))
	for _, v := range r.ignores {
		pointer, _ := p.pointer(v)
		r.Ignores = append(r.Ignores, pointer)
	}
	return r, !p.diags[before:].HasErrors()
}

func valueOf(e *tomltree.Entry) *tomltree.Value {
	if e == nil {
		return nil
	}
	return e.Value
}

func (p *parser) quantifier(e *tomltree.Entry) Quantifier {
	switch word, _ := p.word(e, "any", "all"); word {
	case "any":
		return QuantifierAny
	case "all":
		return QuantifierAll
	}
	return QuantifierDefault
}

// sentence reads a public text (K37).
func (p *parser) sentence(e *tomltree.Entry) string {
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
			p.report(diag.BadValue, e.Value.Place(i), fmt.Sprintf("`reason` is one line of visible text, U+%04X is not", r), "")
			break
		}
	}
	return text
}

// conditions reads arg and matcher, or all = [...], into the rule.
func (p *parser) conditions(t *tomltree.Value, r *Rule, kind listKind) {
	all := t.Get("all")
	if all == nil {
		if c, ok := p.condition(t, kind == guardRules); ok {
			c.Pos = t.Range
			r.Conditions = []Condition{c}
		}
		return
	}
	r.Compound = true
	for _, e := range t.Entries {
		if _, _, matcher := matcherKey(e.Key); matcher || e.Key == "arg" || e.Key == "on" {
			p.report(diag.BadCondition, e.KeyRange, "`all` and `"+e.Key+"` exclude each other", "move it into a member of `all`")
		}
	}
	members := p.elements(all)
	switch n := len(members); {
	case all.Value.Kind == tomltree.Array && len(all.Value.Elements) == 0:
		p.report(diag.BadCondition, all.Value.Range, "`all` is empty", "leave it out: a rule without a condition always matches")
	case n > maxMembers:
		p.report(diag.TooLarge, all.KeyRange, fmt.Sprintf("`all` has %d members; at most %d are possible", n, maxMembers), "")
	}
	for _, m := range members {
		p.known(m, memberKeys, matcherKeys)
		c, ok := p.condition(m, false)
		if !ok {
			if len(m.Entries) == 0 {
				p.report(diag.BadCondition, m.Range, "a member of `all` needs `arg` and a matcher", "")
			}
			continue
		}
		c.Pos = m.Range
		c.Match = p.quantifier(m.Get("match"))
		r.Conditions = append(r.Conditions, c)
	}
}

// condition reads arg, or on in a guard, and exactly one matcher (D25-28).
func (p *parser) condition(t *tomltree.Value, guard bool) (c Condition, ok bool) {
	arg, on := t.Get("arg"), t.Get("on")
	var matcher *tomltree.Entry
	single := true
	for _, e := range t.Entries {
		if _, _, is := matcherKey(e.Key); !is {
			continue
		}
		if matcher != nil {
			p.report(diag.BadCondition, e.KeyRange, fmt.Sprintf("`%s` and `%s` in one condition: exactly one matcher is possible", matcher.Key, e.Key),
				"write `all = [ { arg = ..., "+matcher.Key+" = ... }, { arg = ..., "+e.Key+" = ... } ]`",
				diag.Related{Range: matcher.KeyRange, Message: "the first matcher is here"})
			single = false
			continue
		}
		matcher = e
	}
	if !guard {
		on = nil // reported as an unknown key
	}
	switch {
	case arg == nil && on == nil && (matcher == nil || t.Get("on") != nil):
		return c, false
	case arg != nil && on != nil:
		p.report(diag.BadCondition, on.KeyRange, "`arg` and `on` exclude each other", "")
		return c, false
	case matcher == nil:
		e := arg
		if e == nil {
			e = on
		}
		p.report(diag.BadCondition, e.KeyRange, "`"+e.Key+"` without a matcher", "add one of "+quoted(matcherKeys[:10]))
		return c, false
	case arg == nil && on == nil:
		p.report(diag.BadCondition, matcher.KeyRange, "`"+matcher.Key+"` without `arg`", "say which parameter it looks at: `arg = \"/path\"`")
		return c, false
	}
	ok = single
	if on != nil {
		c.On, _ = p.word(on, "path", "command", "url", "string")
		c.ArgPos = on.Value.Range
		ok = ok && c.On != ""
	} else {
		_, isText := p.text(arg)
		c.arg, c.ArgPos = arg.Value, arg.Value.Range
		if isText {
			var good bool
			c.Arg, good = p.pointer(arg.Value)
			ok = ok && good
		}
		ok = ok && isText
	}
	return c, p.matcher(matcher, &c) && ok
}

// pointer reads a JSON Pointer that names a parameter (D25-12, K22).
func (p *parser) pointer(v *tomltree.Value) (jsonstream.Pointer, bool) {
	pointer, err := jsonstream.ParsePointer(v.Text)
	if err != nil {
		at, message := v.Range, err.Error()
		if e, ok := err.(*jsonstream.PointerError); ok {
			at, message = v.Place(e.Offset), e.Message
		}
		hint := ""
		if len(v.Text) > 0 && v.Text[0] != '/' {
			hint = "write `" + tomltree.Quote("/"+v.Text) + "`"
		}
		p.report(diag.BadPointer, at, fmt.Sprintf("%q is not a JSON Pointer: %s", v.Text, message), hint)
		return nil, false
	}
	if len(pointer) == 0 {
		p.report(diag.BadPointer, v.Range, "the empty pointer names all arguments at once", "name a parameter: `\"/path\"`")
		return nil, false
	}
	return pointer, true
}

// matcher reads the value of a matcher key.
func (p *parser) matcher(e *tomltree.Entry, c *Condition) bool {
	kind, inList, _ := matcherKey(e.Key)
	c.Spec.Kind = kind
	c.ValuePos = e.Value.Range
	if inList {
		return p.listValues(e, c)
	}
	values := []*tomltree.Value{e.Value}
	if kind == match.Enum {
		if e.Value.Kind != tomltree.Array {
			p.wrongType(e, "an array of values")
			return false
		}
		if values = e.Value.Elements; len(values) == 0 {
			p.report(diag.BadCondition, e.Value.Range, "`enum` is empty: no value is a member", "")
			return false
		}
	}
	ok := true
	for _, v := range values {
		lit, good := p.literal(v)
		if !good {
			ok = false
			continue
		}
		c.Spec.Values = append(c.Spec.Values, lit)
		c.values = append(c.values, v)
	}
	if kind != match.Enum && kind != match.Const && ok && c.Spec.Values[0].Kind == match.LiteralArray {
		p.report(diag.WrongType, e.Value.Range, "`"+e.Key+"` takes one value",
			"put the values into `[lists]` and write `"+e.Key+"_in = \"NAME\"`")
		return false
	}
	return ok
}

// listValues takes the values of a named list (K60).
func (p *parser) listValues(e *tomltree.Entry, c *Condition) bool {
	name, ok := p.text(e)
	if !ok {
		return false
	}
	list := p.lists[name]
	if list == nil {
		var names []string
		for _, l := range p.policy.Lists {
			names = append(names, l.Name)
		}
		hint := diag.DidYouMean(name, names)
		if hint == "" {
			hint = "add `[lists]` with `" + tomltree.Key(name) + " = [...]`"
		}
		p.report(diag.UnknownList, e.Value.Range, fmt.Sprintf("there is no list %q", name), hint)
		return false
	}
	c.Spec.Values, c.Spec.List, c.values = list.Values, name, list.values
	return true
}
