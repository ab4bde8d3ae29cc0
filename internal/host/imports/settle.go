package imports

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/visible"
)

// plain escapes the invisible characters of a text.
func plain(text string) string { return visible.Text(text) }

// decided is the reason why a rule is not needed.
const decided = "rules above decide every such call"

// maxRounds limits how often the policy is checked: every round changes a rule.
const maxRounds = 10_000

// finish formats the policy and removes rules that the language rejects.
func (d *draft) finish() (*Result, error) {
	for _, list := range d.lists() {
		*list = precede(*list)
		d.cut(*list)
	}
	d.asWritten()
	var text string
	var left diag.List
	for range maxRounds {
		var at map[int]*rule
		text, at = d.write(true)
		left = d.proofread(text)
		changed := false
		for _, problem := range left.Errors() {
			if r := at[problem.Start.Line]; r != nil && !r.dropped {
				d.mend(r, problem)
				changed = true
				break // later findings may have the same cause
			}
		}
		if !changed {
			break
		}
	}
	result := &Result{Notes: d.notes}
	if errs := left.Errors(); len(errs) > 0 {
		// Traps that only a strict check rejects stay, and are reported.
		text, _ = d.write(false)
		result.Remarks = diag.Text(errs, func(string) []byte { return []byte(text) })
	}
	out, mistakes := syntax.Format(kinds.Table(), "stopgate.toml", []byte(text))
	if _, compiled := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: out, Trusted: true}}, d.policyOptions()); compiled.HasErrors() || mistakes.HasErrors() {
		return nil, errors.Join(errors.New("the rules cannot be converted to a policy"), mistakes.Err(), compiled.Err())
	}
	result.Policy = out
	for _, f := range d.files {
		result.Files = append(result.Files, f.Name)
	}
	for _, r := range d.rules {
		result.Rules = append(result.Rules, *r)
	}
	return result, nil
}

func (d *draft) policyOptions() policy.Options {
	return policy.Options{Root: d.options.Root, UnknownTool: stopgate.Ask}
}

// proofread returns the findings of a strict check.
func (d *draft) proofread(text string) diag.List {
	p, list := syntax.Parse(kinds.Table(), "stopgate.toml", []byte(text))
	if p != nil {
		list = append(list, prove.Check(p, d.policyOptions())...)
	}
	list.Strict()
	return list
}

// lists returns the lists of all tables.
func (d *draft) lists() (all []*[]*rule) {
	for _, t := range d.tables {
		all = append(all, &t.rules, &t.results)
	}
	return append(all, &d.everything, &d.everyResult)
}

// mend changes a rule that the language rejects, so that the policy does not become weaker.
func (d *draft) mend(r *rule, problem diag.Diagnostic) {
	reason := ofTheSource(problem)
	switch {
	case problem.Code == diag.WrongExample:
		r.match, r.noMatch = nil, nil
	case slices.Contains([]diag.Code{diag.Unreachable, diag.ShadowedMostly, diag.ShadowedPlain}, problem.Code):
		d.drop(r, decided)
	case r.permits():
		d.drop(r, "asked instead: "+reason)
	case problem.Code == diag.Duplicate:
		d.drop(r, decided)
	case problem.Code == diag.NeverHolds && r.front:
		r.dropped = true // earlier rules decide all its calls
	case len(r.conds) > 0:
		r.conds, r.match, r.noMatch, r.wide = nil, nil, nil, true
		if m, found := d.refusal(r); found {
			r.mode = m
		}
		if r.on != "" {
			r.conds = []cond{{matcher: "pattern", values: []string{"^"}}}
		}
		if r.from != nil {
			r.from.stricter("every call, because %s", reason)
		}
	default:
		d.drop(r, reason)
	}
}

// ruleLabel is the name of a rule in diagnostics about the new policy, which the user has not seen.
var ruleLabel = regexp.MustCompile(`^(rule|guard) \d+(, ` + "`[^`]*`" + `)?(:|) `)

// ofTheSource converts a finding to the reason why a rule of the source is changed.
func ofTheSource(problem diag.Diagnostic) string {
	message := strings.TrimSpace(problem.Message)
	switch problem.Code {
	case diag.NeverHolds:
		if strings.Contains(message, `"~`) {
			return "it is not certain where `~` leads"
		}
		return "no call certainly means what it names"
	case diag.PathLiteral, diag.BadGlob, diag.BadPattern, diag.MatcherType, diag.LiteralType:
		message = ruleLabel.ReplaceAllString(message, "")
		if _, rest, ok := strings.Cut(message, "` "); ok && strings.HasPrefix(message, "`") {
			return "it " + rest // the matcher is one of the policy language
		}
		return message
	}
	return ruleLabel.ReplaceAllString(message, "it ")
}

// refusal returns the mode of a later rule that refuses, the strictest of them.
func (d *draft) refusal(r *rule) (m stopgate.Mode, found bool) {
	m = stopgate.Skip
	for _, list := range d.lists() {
		i := slices.Index(*list, r)
		if i < 0 {
			continue
		}
		for _, o := range (*list)[i:] {
			if refuses(o.mode) && !o.dropped {
				m, found = stopgate.Strictest(m, o.mode), true
			}
		}
	}
	return m, found
}

// drop removes a rule. A rule of the source that is also in another table is not reported as left
// out.
func (d *draft) drop(r *rule, why string) {
	r.dropped = true
	if r.from == nil {
		return
	}
	for _, list := range append(d.lists(), &d.guards) {
		if slices.ContainsFunc(*list, func(o *rule) bool { return o.from == r.from && !o.dropped }) {
			if why != decided {
				r.from.stricter("%s", why)
			}
			return
		}
	}
	r.from.leftOut("%s", why)
}

// cut removes the rules after one that matches every call.
func (d *draft) cut(list []*rule) {
	closed := false
	for _, r := range list {
		if r.dropped {
			continue
		}
		if closed {
			d.drop(r, decided)
		}
		closed = closed || len(r.conds) == 0 && r.when == ""
	}
}

// precede makes a list at least as strict as that of a host with another order of rules. A rule
// that asks matches generously here: a call that it may match would be asked about, although a
// later rule refuses it. So calls that such a later rule refuses are refused first, except those
// that the earlier rules certainly match.
func precede(list []*rule) []*rule {
	first := slices.IndexFunc(list, func(r *rule) bool { return r.mode == stopgate.Ask || r.mode == stopgate.Edit })
	if first < 0 {
		return list
	}
	var before []*rule
	for i := first; i < len(list); i++ {
		r := list[i]
		if !refuses(r.mode) {
			if len(r.conds) == 0 && r.when == "" && !r.wide {
				break // later rules are never reached there either
			}
			continue
		}
		if front := r.without(list[:i]); front != nil {
			before = append(before, front)
			if len(r.conds) > 0 {
				r.dropped = true
			}
		}
	}
	return slices.Insert(list, 0, before...)
}

// without returns the rule on every call that it may match, except those that earlier rules
// certainly decide.
func (r *rule) without(above []*rule) *rule {
	arg := ""
	if len(r.conds) == 1 {
		arg = r.conds[0].arg
	}
	var sure []string
	asks := false
	for _, a := range above {
		if refuses(a.mode) || r.apart(a) || len(a.conds) == 1 && a.conds[0].exact {
			continue
		}
		asks = asks || !a.permits()
		if len(a.conds) == 1 && a.conds[0].sure != "" && a.when == "" && (arg == "" || arg == a.conds[0].arg) {
			arg = a.conds[0].arg
			sure = append(sure, a.conds[0].sure)
		}
	}
	if !asks {
		return nil
	}
	front := *r
	front.front = true
	front.match, front.noMatch = nil, nil
	switch {
	case len(r.conds) == 0 && arg == "":
	case len(r.conds) == 0:
		front.conds = []cond{{arg: arg, matcher: "pattern", values: []string{"^(?!(?:" + strings.Join(sure, "|") + ")$)"}}}
	case len(r.conds) == 1 && len(sure) > 0 && r.conds[0].arg == arg && r.conds[0].sure != "":
		front.conds = []cond{{arg: arg, matcher: "pattern", values: []string{
			fmt.Sprintf("^(?!(?:%s)$)(?:%s)$", strings.Join(sure, "|"), r.conds[0].sure)}}}
	}
	return &front
}

// apart reports whether no text satisfies both conditions: two prefixes that differ.
func (r *rule) apart(a *rule) bool {
	if len(r.conds) != 1 || len(a.conds) != 1 || r.conds[0].arg != a.conds[0].arg {
		return false
	}
	x, y := r.conds[0], a.conds[0]
	if !x.words() || !y.words() {
		return false
	}
	for _, v := range x.values {
		for _, u := range y.values {
			v, u = v+" ", u+" "
			if strings.HasPrefix(v, u) || strings.HasPrefix(u, v) {
				return false
			}
		}
	}
	return true
}

func (c cond) words() bool { return c.matcher == "prefix" || c.matcher == "const" }
