package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
)

// Limits of [Evaluation.Instead].
const (
	maxInstead       = 3   // rules, and values of a condition
	maxInsteadRules  = 200 // examined rules of a list
	maxInsteadLength = 400 // bytes of the text
)

// Instead names calls of the same tool that are permitted, for a model whose call was denied or
// could not be asked about: the conditions of the first unattended rules of the list that decided
// against the call. It is "" if something else decided, if the list has no such rule, or if none
// can be described briefly in plain text. Rules of untrusted files never permit a call, so their
// texts are not repeated (K35).
func (e *decision) Instead() string { return e.instead(&e.verdict) }

func (e *decision) instead(v *stopgate.Verdict) string {
	if v.Layer != stopgate.LayerRules && v.Layer != stopgate.LayerSession || v.Mode == stopgate.Unattended {
		return ""
	}
	for i := range e.plan.lists {
		l := &e.plan.lists[i]
		if l.guard || l.layer != v.Layer || e.lists[i].low != v.Mode {
			continue
		}
		if forms := e.forms(l, e.lists[i].lane); len(forms) > 0 {
			return "The policy has a rule that allows this tool where " + strings.Join(forms, ", or where ") + "."
		}
		return ""
	}
	return ""
}

// forms describes the first unattended rules of a list that do not hold for this call. A rule that
// does was overruled by an earlier one.
func (e *decision) forms(l *list, lane int32) (forms []string) {
	length := 0
	for r := l.first; r < min(l.end, l.first+maxInsteadRules) && len(forms) < maxInstead; r++ {
		if e.plan.rules[r].mode != stopgate.Unattended || e.phaseOf(r, lane) != failed {
			continue
		}
		form, ok := e.form(&e.plan.rules[r])
		if !ok || length+len(form) > maxInsteadLength {
			continue
		}
		length += len(form)
		forms = append(forms, form)
	}
	return forms
}

// form describes the conditions of a rule; each of them is required.
func (e *decision) form(r *rule) (string, bool) {
	var parts []string
	for c := r.first; c < r.end; c++ {
		k := &e.plan.conds[c]
		ast := k.ast
		if r.own < 0 {
			ast = r.sole
		}
		if k.accepts != "" && (k.ast.Every || plain(strings.ReplaceAll(k.expanded, "/*", ""))) {
			parts = append(parts, k.accepts)
			continue
		}
		values, ok := quoted(ast.Spec)
		if verb := ast.Spec.Row().Verb; verb != "" && ok && plain(k.expanded) {
			parts = append(parts, k.expanded+" "+verb+" "+values)
			continue
		}
		return "", false
	}
	return strings.Join(parts, " and "), len(parts) > 0
}

// quoted formats the first values of a matcher.
func quoted(s condition.Spec) (string, bool) {
	var list []string
	for _, v := range s.Values[:min(len(s.Values), maxInstead)] {
		text := v.Text
		if v.Kind != condition.LiteralString {
			text = v.JSON
		}
		if !readable(text) {
			return "", false
		}
		list = append(list, "`"+text+"`")
	}
	if len(s.Values) > maxInstead {
		list[len(list)-1] += " and so on"
	}
	return strings.Join(list, " or "), len(list) > 0
}

// readable reports whether a value of a rule can be part of a sentence: it is short, and cannot be
// mistaken for another part.
func readable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' || text[i] == '`' {
			return false
		}
	}
	return text != "" && len(text) <= 60
}
