package parser

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/jsonstream"
)

// conditions reads arg and matcher, or all = [...], into the rule.
func (p *ruleParser) conditions(t *tomltree.Value, r *syntax.Rule, kind syntax.ListKind) {
	all := t.Get("all")
	if all == nil {
		place := inRule
		if kind == syntax.GuardList {
			place = inGuard
		}
		if c, ok := p.condition(t, place); ok {
			c.Pos = t.Range
			r.Conditions = []syntax.Condition{c}
		}
		return
	}
	r.Compound = true
	for _, e := range t.Entries {
		if p.isMatcher(e.Key) || p.isOption(e.Key) || e.Key == "arg" || e.Key == "on" {
			p.report(diag.BadCondition, e.KeyRange, "`all` and `"+e.Key+"` exclude each other", "move it into a member of `all`")
		}
	}
	members := p.elements(all)
	switch n := len(members); {
	case all.Value.Kind == tomltree.Array && len(all.Value.Elements) == 0:
		p.report(diag.BadCondition, all.Value.Range, "`all` is empty", "leave it out: a rule without a condition always matches")
	case n > MaxMembers:
		p.report(diag.TooLarge, all.KeyRange, fmt.Sprintf("`all` has %d members; at most %d are possible", n, MaxMembers), "")
	}
	for _, m := range members {
		p.known(m, memberKeys, p.matchers, p.options)
		c, ok := p.condition(m, inRule)
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

// isMatcher reports whether a key is that of a condition.
func (p *reader) isMatcher(key string) bool { return slices.Contains(p.matchers, key) }

// misspelt reports whether a key of a condition is unknown and resembles one of the given keys.
func (p *reader) misspelt(t *tomltree.Value, keys []string) bool {
	return slices.ContainsFunc(t.Entries, func(e *tomltree.Entry) bool {
		known := slices.Contains(ruleKeys, e.Key) || slices.Contains(guardKeys, e.Key) || slices.Contains(memberKeys, e.Key) || slices.Contains(p.matchers, e.Key) || p.isOption(e.Key)
		return !known && diag.DidYouMean(e.Key, keys) != ""
	})
}

// place is where a condition is written.
type place uint8

const (
	inRule   place = iota // or in a member of all
	inGuard               // with `on` instead of `arg`
	inUnless              // or where of a session policy, with arg = "*"
)

// condition reads arg, or on in a guard, and exactly one matcher (D25-28) with its further keys.
func (p *ruleParser) condition(t *tomltree.Value, at place) (c syntax.Condition, ok bool) {
	c.ConditionKeys = new(syntax.ConditionKeys)
	arg, on := t.Get("arg"), t.Get("on")
	var matcher *tomltree.Entry
	single := true
	for _, e := range t.Entries {
		if !p.isMatcher(e.Key) {
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
	if at != inGuard {
		on = nil // reported as an unknown key
	}
	switch {
	case arg == nil && on == nil && (matcher == nil || t.Get("on") != nil):
		for _, e := range t.Entries {
			if p.isOption(e.Key) && matcher == nil {
				p.report(diag.BadCondition, e.KeyRange, "`"+e.Key+"` without a condition", "write it next to "+diag.Words(p.kindsWith(e.Key)))
			}
		}
		return c, false
	case arg != nil && on != nil:
		p.report(diag.BadCondition, on.KeyRange, "`arg` and `on` exclude each other", "")
		return c, false
	case matcher == nil && p.misspelt(t, p.matchers), arg == nil && on == nil && p.misspelt(t, []string{"arg"}):
		return c, false // the unknown key is reported, with a suggestion
	case matcher == nil:
		e := arg
		if e == nil {
			e = on
		}
		p.report(diag.BadCondition, e.KeyRange, "`"+e.Key+"` without a matcher", matcherHint(e))
		return c, false
	case arg == nil && on == nil:
		hint := "say which parameter it looks at: `arg = \"/path\"`"
		if at == inUnless {
			hint = "write `arg = \"*\"` for every value of the call"
		}
		p.report(diag.BadCondition, matcher.KeyRange, "`"+matcher.Key+"` without `arg`", hint)
		return c, false
	}
	ok = single
	if on != nil {
		c.On, _ = p.word(on, "path", "command", "url", "string")
		c.ArgPos = on.Value.Range
		ok = ok && c.On != ""
	} else {
		text, isText := p.text(arg)
		c.ArgAt, c.ArgPos = arg.Value, arg.Value.Range
		switch {
		case isText && text == "*":
			c.Every = true
			if kind, _ := p.policy.Conditions.ParseKey(matcher.Key); at != inUnless || !kind.Sources {
				p.report(diag.BadPointer, arg.Value.Range, "`arg = \"*\"` is for conditions on sources in `unless` and `where` of a session policy", "name a parameter: `\"/path\"`")
				ok = false
			}
		case isText:
			var good bool
			c.Arg, good = p.pointer(arg.Value)
			ok = ok && good
		}
		ok = ok && isText
	}
	return c, p.matcher(matcher, &c) && p.conditionOptions(t, &c) && ok
}

// matcherHint suggests a matcher for the parameter of a condition.
func matcherHint(e *tomltree.Entry) string {
	hint := map[string]string{
		"path": "`glob = \"**/.env*\"` or `prefix = \"secrets/\"`", "command": "`prefix = \"git push\"`, `usage = \"git push **\"` or `pattern`",
		"url": "`host = \"*.example.com\"` or `scheme`",
	}[e.Value.Text]
	if e.Key == "arg" || hint == "" {
		hint = "`const`, `enum`, `prefix`, `suffix`, `glob`, `pattern`, `minimum`, `maximum`"
	}
	return "add " + hint + "; for every value: `present = true`"
}

// pointer reads a JSON Pointer that names a parameter (D25-12, K22).
func (p *reader) pointer(v *tomltree.Value) (jsonstream.Pointer, bool) {
	if known := p.pointers[v.Text]; known != nil {
		return known, true
	}
	pointer, err := jsonstream.ParsePointer(v.Text)
	if err != nil {
		at, message := v.Range, err.Error()
		var fault *jsonstream.PointerError
		if errors.As(err, &fault) {
			at, message = v.OffsetRange(fault.Offset), fault.Message
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
	if p.pointers == nil {
		p.pointers = make(map[string]jsonstream.Pointer)
	}
	p.pointers[v.Text] = slices.Clip(pointer)
	return pointer, true
}

// matcher reads the value of a matcher key.
func (p *ruleParser) matcher(e *tomltree.Entry, c *syntax.Condition) bool {
	kind, listed := p.policy.Conditions.ParseKey(e.Key)
	c.Spec.Kind, c.Spec.Definition = kind.Kind, kind
	c.ValuePos = e.Value.Range
	if listed {
		return p.listValues(e, c)
	}
	values, arity := []*tomltree.Value{e.Value}, kind.Values
	switch isArray := e.Value.Kind == tomltree.Array; {
	case arity == condition.Many && !isArray:
		p.wrongType(e, "an array of values")
		return false
	case arity != condition.One && isArray:
		if values = e.Value.Elements; len(values) == 0 {
			p.report(diag.BadCondition, e.Value.Range, "`"+e.Key+"` is empty: no value is a member", "")
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
		c.ValuesAt = append(c.ValuesAt, v)
	}
	if arity == condition.One && kind.Kind != condition.Const && ok && c.Spec.Values[0].Kind == condition.LiteralArray {
		p.report(diag.WrongType, e.Value.Range, "`"+e.Key+"` takes one value",
			"put the values into `[lists]` and write `"+e.Key+"_in = \"NAME\"`")
		return false
	}
	if ok && kind.Sources {
		return p.sourceNames(c)
	}
	return ok
}

// listValues takes the values of a named list (K60).
func (p *ruleParser) listValues(e *tomltree.Entry, c *syntax.Condition) bool {
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
	c.Spec.Values, c.Spec.List, c.ValuesAt = list.Values, name, list.ValuesAt
	return true
}
