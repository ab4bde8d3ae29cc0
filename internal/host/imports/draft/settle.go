package draft

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
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

// Finish formats the policy and removes rules that the language rejects.
func (d *Draft) Finish() (*Result, error) {
	for _, list := range d.lists() {
		*list = precede(*list)
		d.cut(*list)
	}
	d.asWritten()
	var text string
	var left diag.List
	for range maxRounds {
		var at map[int]*Rule
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
	out, mistakes := parser.Format(kinds.Table(), "stopgate.toml", []byte(text))
	if _, compiled := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: out, Trusted: true}}, d.policyOptions()); compiled.HasErrors() || mistakes.HasErrors() {
		return nil, errors.Join(errors.New("the rules cannot be converted to a policy"), mistakes.Err(), compiled.Err())
	}
	result.Policy = out
	for _, f := range d.Files {
		result.Files = append(result.Files, f.Name)
	}
	for _, r := range d.rules {
		result.Rules = append(result.Rules, *r)
	}
	return result, nil
}

func (d *Draft) policyOptions() policy.Options {
	return policy.Options{Root: d.Options.Root, UnknownTool: stopgate.Ask}
}

// proofread returns the findings of a strict check.
func (d *Draft) proofread(text string) diag.List {
	p, list := parser.Parse(kinds.Table(), "stopgate.toml", []byte(text))
	if p != nil {
		list = append(list, prove.Check(p, d.policyOptions())...)
	}
	list.Strict()
	return list
}

// lists returns the lists of all tables.
func (d *Draft) lists() (all []*[]*Rule) {
	for _, t := range d.Tables {
		all = append(all, &t.Rules, &t.Results)
	}
	return append(all, &d.Everything, &d.EveryResult)
}

// mend changes a rule that the language rejects, so that the policy does not become weaker.
func (d *Draft) mend(r *Rule, problem diag.Diagnostic) {
	reason := ofTheSource(problem)
	switch {
	case problem.Code == diag.WrongExample:
		r.Match, r.NoMatch = nil, nil
	case slices.Contains([]diag.Code{diag.Unreachable, diag.ShadowedMostly, diag.ShadowedPlain}, problem.Code):
		d.drop(r, decided)
	case r.Permits():
		d.drop(r, "asked instead: "+reason)
	case problem.Code == diag.Duplicate:
		d.drop(r, decided)
	case problem.Code == diag.NeverHolds && r.front:
		r.dropped = true // earlier rules decide all its calls
	case len(r.Conds) > 0:
		r.Conds, r.Match, r.NoMatch, r.Wide = nil, nil, nil, true
		if m, found := d.refusal(r); found {
			r.Mode = m
		}
		if r.On != "" {
			r.Conds = []Condition{{Matcher: "pattern", Values: []string{"^"}}}
		}
		if r.From != nil {
			r.From.Stricter("every call, because %s", reason)
		}
	default:
		d.drop(r, reason)
	}
}

// ruleLabel is the name of a rule in diagnostics about the new policy, which the user has not seen.
var ruleLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(rule|guard) \d+(, ` + "`[^`]*`" + `)?(:|) `) })

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
		message = ruleLabel().ReplaceAllString(message, "")
		if _, rest, ok := strings.Cut(message, "` "); ok && strings.HasPrefix(message, "`") {
			return "it " + rest // the matcher is one of the policy language
		}
		return message
	}
	return ruleLabel().ReplaceAllString(message, "it ")
}

// refusal returns the mode of a later rule that refuses, the strictest of them.
func (d *Draft) refusal(r *Rule) (m stopgate.Mode, found bool) {
	m = stopgate.Skip
	for _, list := range d.lists() {
		i := slices.Index(*list, r)
		if i < 0 {
			continue
		}
		for _, o := range (*list)[i:] {
			if Refuses(o.Mode) && !o.dropped {
				m, found = stopgate.Strictest(m, o.Mode), true
			}
		}
	}
	return m, found
}

// drop removes a rule. A rule of the source that is also in another table is not reported as left
// out.
func (d *Draft) drop(r *Rule, why string) {
	r.dropped = true
	if r.From == nil {
		return
	}
	for _, list := range append(d.lists(), &d.Guards) {
		if slices.ContainsFunc(*list, func(o *Rule) bool { return o.From == r.From && !o.dropped }) {
			if why != decided {
				r.From.Stricter("%s", why)
			}
			return
		}
	}
	r.From.LeftOut("%s", why)
}

// cut removes the rules after one that matches every call.
func (d *Draft) cut(list []*Rule) {
	closed := false
	for _, r := range list {
		if r.dropped {
			continue
		}
		if closed {
			d.drop(r, decided)
		}
		closed = closed || len(r.Conds) == 0 && r.When == ""
	}
}

// precede makes a list at least as strict as that of a host with another order of rules. A rule
// that asks matches generously here: a call that it may match would be asked about, although a
// later rule refuses it. So calls that such a later rule refuses are refused first, except those
// that the earlier rules certainly match.
func precede(list []*Rule) []*Rule {
	first := slices.IndexFunc(list, func(r *Rule) bool { return r.Mode == stopgate.Ask || r.Mode == stopgate.Edit })
	if first < 0 {
		return list
	}
	var before []*Rule
	for i := first; i < len(list); i++ {
		r := list[i]
		if !Refuses(r.Mode) {
			if len(r.Conds) == 0 && r.When == "" && !r.Wide {
				break // later rules are never reached there either
			}
			continue
		}
		fronts := r.without(list[:i])
		before = append(before, fronts...)
		if len(fronts) > 0 && len(r.Conds) > 0 {
			r.dropped = true
		}
	}
	return slices.Insert(list, 0, before...)
}

// without returns rules that refuse every call that the rule may match, except those that earlier
// rules certainly decide: one for each argument that they look at.
func (r *Rule) without(above []*Rule) (fronts []*Rule) {
	var args []string
	sure := map[string][]string{}
	asks, unsure := false, false
	for _, a := range above {
		if Refuses(a.Mode) || r.apart(a) || len(a.Conds) == 1 && a.Conds[0].Exact {
			continue
		}
		asks = asks || !a.Permits()
		if len(a.Conds) == 1 && a.Conds[0].Sure != "" && a.When == "" {
			arg := a.Conds[0].Arg
			if sure[arg] == nil {
				args = append(args, arg)
			}
			sure[arg] = append(sure[arg], a.Conds[0].Sure)
		} else if !a.Permits() && !slices.ContainsFunc(a.Conds, func(c Condition) bool { return sure[c.Arg] != nil }) {
			unsure = true
		}
	}
	front := func(conds []Condition) {
		f := *r
		f.front, f.Conds, f.Match, f.NoMatch = true, conds, nil, nil
		fronts = append(fronts, &f)
	}
	no := func(arg string) string { return "(?!(?:" + strings.Join(sure[arg], "|") + ")$)" }
	switch {
	case !asks:
	case len(r.Conds) == 1 && sure[r.Conds[0].Arg] != nil && r.Conds[0].Sure != "":
		c := r.Conds[0]
		front([]Condition{{Arg: c.Arg, Matcher: "pattern", Values: []string{fmt.Sprintf("^%s(?:%s)$", no(c.Arg), c.Sure)}}})
	case len(r.Conds) > 0 || unsure || len(args) == 0:
		front(r.Conds)
	default:
		for _, arg := range args {
			front([]Condition{{Arg: arg, Matcher: "pattern", Values: []string{"^" + no(arg)}}})
		}
	}
	return fronts
}

// apart reports whether no text satisfies both conditions: two prefixes that differ.
func (r *Rule) apart(a *Rule) bool {
	if len(r.Conds) != 1 || len(a.Conds) != 1 || r.Conds[0].Arg != a.Conds[0].Arg {
		return false
	}
	x, y := r.Conds[0], a.Conds[0]
	if !x.words() || !y.words() {
		return false
	}
	for _, v := range x.Values {
		for _, u := range y.Values {
			v, u = v+" ", u+" "
			if strings.HasPrefix(v, u) || strings.HasPrefix(u, v) {
				return false
			}
		}
	}
	return true
}

// words reports whether the condition is on the first words of a command. A value of another kind
// can have several readings.
func (c Condition) words() bool {
	return (c.Matcher == "prefix" || c.Matcher == "const") && c.Raw == ""
}
