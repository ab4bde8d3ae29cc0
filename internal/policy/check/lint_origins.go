package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/schema"
)

// origin looks for traps in a permissive condition on where a value comes from.
func (c linter) origin(l *List, r *bind.Rule, k *bind.Condition) {
	if k.Spec.Kind != condition.From {
		return
	}
	name := ""
	for _, segment := range slices.Backward(k.Arg) {
		if segment != "*" {
			name = strings.ToLower(segment)
			break
		}
	}
	plain := k.Reach.As == flow.Text && k.Reach.Annotation == schema.None && k.Reach.Types&schema.String != 0
	if k.Reach.As == flow.ID || plain && isName(name) {
		c.wholeNames(r, k)
	}
	if relation, _ := k.Spec.Option("relation"); relation.Text == "host" {
		hint := "where the tool only reads, leave `relation` out: then the person or the source has named the complete URL"
		if statesEffect(l.Tool.Tables) {
			hint = "if the tool can be given the complete URL by the person, leave `relation` out"
		}
		c.Report(diag.NamedHost, k.Pos, fmt.Sprintf("%s lets the model choose the path and the query of `%s`: data can leave in them", r.Label(), k.Arg), hint)
	}
	switch {
	case !plain:
	case freeText[name]:
		c.Report(diag.FromFreeText, k.Pos, fmt.Sprintf("%s looks for the free text `%s` in other texts: models write such texts themselves, and the rule hardly ever holds", r.Label(), k.Arg),
			"leave it open with `ignores`, and forbid what must not leave with `carries`")
	case !slices.ContainsFunc(k.Reach.Locations, (*schema.Location).StatesAs) && !k.Reach.Unknown:
		c.Report(diag.KindUnknown, k.Pos, fmt.Sprintf("`%s` is compared with texts word by word: nothing states what kind of value it is", k.Arg),
			"write `as` into its parameter: email, url, host, path, id, ... or text")
	}
}

// isName reports whether a parameter is called like one that names a thing.
func isName(parameter string) bool {
	return parameter == "id" || parameter == "name" || strings.HasSuffix(parameter, "_id") || strings.HasSuffix(parameter, "_name")
}

// wholeNames refuses ids and names from complete results: a short value occurs in a long text by
// chance, or because somebody put it there. What a person or an operator wrote is not of others.
func (c linter) wholeNames(r *bind.Rule, k *bind.Condition) {
	var whole []string
	for _, lit := range k.Spec.Values {
		switch name := flow.Source(lit.Text); {
		case name == flow.User, name == flow.System:
		default:
			if s := c.File.SourceNamed(name); s == nil || isWhole(s) {
				whole = append(whole, lit.Text)
			}
		}
	}
	if len(whole) > 0 {
		c.Report(diag.NameFromText, k.Pos, fmt.Sprintf("%s takes the name or id `%s` from complete texts of %s", r.Label(), k.Arg, sourceList(whole)),
			"name the part with such values in the source: `field`, `label`, or the keys with `*~`")
	}
}

// destinations warns about permissive rules of a tool with an effect that leave open where the
// effect goes.
func (c linter) destinations(l *List) {
	if !statesEffect(l.Tool.Tables) || l.Tool.Schema == nil {
		return
	}
	restricted := map[*schema.Location]bool{}
	for _, r := range l.Bound {
		held := map[*schema.Location]bool{}
		for _, k := range r.Bound {
			for _, p := range k.Reach.Locations {
				if !r.Mode.Permissive() {
					restricted[p] = restricted[p] || !slices.ContainsFunc(r.Bound, func(other *bind.Condition) bool { return !slices.Contains(other.Reach.Locations, p) })
				} else if limits(k) {
					held[p] = true
				}
			}
		}
		if !r.Mode.Permissive() {
			continue
		}
		var open []string
		for pointer, p := range l.Tool.Schema.All() {
			if len(pointer) > 0 && isDestination(pointer, p) && !held[p] && !restricted[p] && !ignoresLocation(r, l.Tool.Schema, p) {
				open = append(open, "`"+pointer.String()+"`")
			}
		}
		if len(open) > 0 {
			c.Report(diag.OpenDestination, r.Pos, fmt.Sprintf("%s runs %s, which has an effect, whatever its destination %s is", r.Label(), l.Tool.Label(), strings.Join(open, ", ")),
				"say where it may come from with `from`, or which it may be with enum, const, prefix or host; if it may be anything: `ignores`")
		}
	}
}

// effects warns, in a file with sources, about permissive rules of a tool with an effect that run some
// call whatever it has: without a condition on a value, on the person's words or on what was read, or
// with conditions that hold for a call without the values that they are about.
func (c linter) effects(l *List) {
	if len(c.File.Sources) == 0 || !statesEffect(l.Tool.Tables) {
		return
	}
	if slices.ContainsFunc(c.File.Sessions, func(s *syntax.SessionPolicy) bool {
		return s.Type == syntax.SessionFlow && !s.Off && len(s.Where) == 0 && selectsTool(s, l.Tool)
	}) {
		return
	}
	for _, r := range l.Bound {
		if !r.Mode.Permissive() || r.When != nil && r.When.Says != nil {
			continue
		}
		var absent []string
		limited := false
		for _, k := range r.Bound {
			switch {
			case !limits(k):
			case k.Spec.Kind == condition.From && mayLack(l.Tool.Schema, k):
				absent = append(absent, "`"+k.Arg.String()+"`")
			default:
				limited = true
			}
		}
		const hint = "add a condition on a value that every call has, `when = { says = PATTERN }` for the person's words, or a session policy of type \"flow\" that covers the tool; if it changes nothing that matters: `effect = false`"
		switch {
		case limited:
		case len(absent) > 0:
			c.Report(diag.OpenEffect, r.Pos, fmt.Sprintf("%s runs %s, which has an effect, for every call without %s: an absent value satisfies `from`", r.Label(), l.Tool.Label(), strings.Join(absent, ", ")), hint)
		default:
			c.Report(diag.OpenEffect, r.Pos, fmt.Sprintf("%s runs %s, which has an effect, whatever its arguments are and whoever asked for it", r.Label(), l.Tool.Label()), hint)
		}
	}
}

// mayLack reports whether a call may lack the parameter of a condition. An empty list in place of a
// required one comes from nowhere.
func mayLack(s *schema.Schema, k *bind.Condition) bool {
	if s == nil || len(k.Arg) != 1 {
		return k.Reach.Optional
	}
	return !slices.ContainsFunc(s.Location().Properties(), func(d schema.Declared) bool { return d.Name == k.Arg[0] && d.Required })
}

// limits reports whether a condition limits a destination to values that somebody named.
func limits(k *bind.Condition) bool {
	switch k.Spec.Kind {
	case condition.Present, condition.MaxLength, condition.MinItems, condition.MaxItems, condition.Scheme, condition.NotFrom:
		return false
	}
	return true
}

// isDestination reports whether the value at a location is where an effect goes.
func isDestination(pointer []string, p *schema.Location) bool {
	if p.Types()&schema.String == 0 {
		return false
	}
	switch p.As() {
	case flow.Email, flow.URL, flow.Host, flow.Phone, flow.IBAN:
		return true
	}
	if p.Annotation() != schema.None {
		return false // paths and commands have a finding of their own
	}
	for _, segment := range slices.Backward(pointer) {
		if segment != "*" {
			return destinationNames[strings.ToLower(segment)]
		}
	}
	return false
}

var destinationNames = map[string]bool{
	"to": true, "cc": true, "bcc": true, "recipient": true, "recipients": true, "email": true, "emails": true, "address": true, "addresses": true, "destination": true,
	"channel": true, "iban": true, "payee": true, "url": true, "uri": true, "host": true, "phone": true, "webhook": true, "participants": true, "attendees": true,
}
