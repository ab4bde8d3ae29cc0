package learn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// ErrAnswered is returned for a proposal whose calls the file already permits.
var ErrAnswered = errors.New("the policy permits these calls already")

// Change returns the change of a text of the file that adds the rule of a proposal. The text is that of the
// policy, or of an earlier change of it.
func (r *Result) Change(p Proposal, text []byte) (amend.Change, error) {
	definition := p.Definition()
	text = declared(r.base.policy.Name, text, []*stopgate.ToolDefinition{&definition})
	j, err := r.base.policy.judge(text)
	if err != nil {
		return amend.Change{}, err
	}
	for _, u := range p.units {
		e := j.evaluate(u.of.call, u.args)
		if e.Verdict().Mode == stopgate.Unattended {
			continue
		}
		q, ok := j.asks(e)
		if !ok {
			return amend.Change{}, fmt.Errorf("%s: no rule answers this question", u.of.row.Record.ID)
		}
		return amend.Before(j.policy.Name, text, p.Tool, p.Rule, q.at)
	}
	return amend.Change{}, ErrAnswered
}

// Apply returns the text of the file with the rules of proposals, which is proved as a whole: every call that they
// cover runs, no refused one does, and every other verdict on a call of the rows stays.
func (r *Result) Apply(list []Proposal) ([]byte, error) {
	text, j, err := r.joined(list)
	if err != nil {
		// A rule covers calls of another one, which is then a mistake: they are added one by one.
		if text, j, err = r.added(list); err != nil {
			return nil, err
		}
	}
	return text, r.prove(j, list)
}

// joined adds all rules at once.
func (r *Result) joined(list []Proposal) ([]byte, *judge, error) {
	var definitions []*stopgate.ToolDefinition
	var rules []addition
	seen := map[stopgate.ToolName]bool{}
	for _, p := range list {
		if !seen[p.Tool] {
			seen[p.Tool] = true
			definition := p.Definition()
			definitions = append(definitions, &definition)
		}
		rules = append(rules, addition{p.Tool, p.Rule, p.units[0].at})
	}
	text, err := add(r.base.policy.Name, declared(r.base.policy.Name, r.base.text, definitions), rules)
	if err != nil {
		return nil, nil, err
	}
	j, err := r.base.policy.judge(text)
	return text, j, err
}

// added adds rules one by one, without those whose calls earlier ones permit.
func (r *Result) added(list []Proposal) ([]byte, *judge, error) {
	text := r.base.text
	for _, p := range list {
		c, err := r.Change(p, text)
		switch {
		case errors.Is(err, ErrAnswered):
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", p.Rule, err)
		}
		text = c.Text
	}
	j, err := r.base.policy.judge(text)
	return text, j, err
}

// addition is a rule, and the index of the rule before which it is added.
type addition struct {
	tool stopgate.ToolName
	rule string
	at   int
}

// add adds rules to a text of the file. Those at the end come first, then those before the last rules, so that
// indexes stay; rules at one index stay in their order.
func add(name string, text []byte, rules []addition) ([]byte, error) {
	type position struct {
		tool stopgate.ToolName
		at   int
	}
	var order []position
	groups := map[position]string{}
	for _, a := range rules {
		at := position{a.tool, a.at}
		if groups[at] == "" {
			order = append(order, at)
			groups[at] = a.rule
			continue
		}
		groups[at] += ",\n  " + a.rule
	}
	slices.SortStableFunc(order, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.tool, b.tool), -cmp.Compare(uint(a.at), uint(b.at))) // amend.End is the greatest
	})
	for _, at := range order {
		c, err := amend.Before(name, text, at.tool, groups[at], at.at)
		if err != nil {
			return nil, err
		}
		text = c.Text
	}
	return text, nil
}

// Definition returns the definition of a proposal's tool in the rows, the zero one with its name if none is known.
func (p *Proposal) Definition() stopgate.ToolDefinition {
	for _, u := range p.units {
		if d := u.of.call.Definition; d != nil {
			named := *d
			named.Name = p.Tool
			return named
		}
	}
	return stopgate.ToolDefinition{Name: p.Tool}
}

// Prove proves the effect of a proposal on the file as it is: only calls of its tool that are asked about, and
// are then permitted by its rule. It returns a call that nobody has seen which the rule permits, the zero
// call if there is none, and the findings on the rule.
func (r *Result) Prove(p Proposal) (witness stopgate.Call, notes []string, err error) {
	definition := p.Definition()
	text := declared(r.base.policy.Name, r.base.text, []*stopgate.ToolDefinition{&definition})
	c, err := r.Change(p, text)
	if err != nil {
		return witness, nil, err
	}
	c, notes, err = c.Prove(definition)
	if err != nil {
		return witness, notes, err
	}
	o := r.base.policy.Options
	o.Definitions = []stopgate.ToolDefinition{definition}
	before := policy.Source{Name: c.Name, Text: c.Before, Trusted: true}
	d, _, _ := diff.Tool(before, policy.Source{Name: c.Name, Text: c.Text, Trusted: true}, p.Tool, o)
	if d == nil {
		return witness, notes, errors.New("the change could not be compared")
	}
	for _, change := range d.Changes {
		if !p.seen(change.Witness.Args) {
			return change.Witness, notes, nil
		}
	}
	return witness, notes, nil
}

// seen reports whether a call of the proposal has these arguments.
func (p *Proposal) seen(args []byte) bool {
	for _, u := range p.units {
		if bytes.Equal(u.args, args) || bytes.Equal(u.of.args, args) {
			return true
		}
	}
	return false
}

// Narrower returns proposals for the same calls that permit less, none if this one permits only them.
func (r *Result) Narrower(p Proposal) (list []Proposal) {
	t := r.tools[p.Tool]
	if t == nil || p.width == single {
		return nil
	}
	for _, each := range r.proposals([]search{{tool: t, units: p.units, width: p.width - 1}}, false) {
		if each.ID != p.ID {
			list = append(list, each)
		}
	}
	return list
}
