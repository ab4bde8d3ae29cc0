package learn

import (
	"bytes"
	"errors"
	"fmt"

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
	text = declared(r.base.policy.Name, text, p.Tool, &definition)
	j, err := r.base.policy.judge(text)
	if err != nil {
		return amend.Change{}, err
	}
	for _, u := range p.units {
		e := j.evaluate(u.of.call, u.args)
		if e.Verdict().Mode == stopgate.Unattended {
			continue
		}
		at, _, ok := j.asks(e)
		if !ok {
			return amend.Change{}, fmt.Errorf("%s: no rule answers this question", u.of.row.Record.ID)
		}
		return amend.Before(j.policy.Name, text, p.Tool, p.Rule, at)
	}
	return amend.Change{}, ErrAnswered
}

// Apply returns the text of the file with the rules of proposals.
func (r *Result) Apply(list []Proposal) ([]byte, error) {
	text := r.base.text
	for _, p := range list {
		c, err := r.Change(p, text)
		switch {
		case errors.Is(err, ErrAnswered):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p.Rule, err)
		}
		text = c.Text
	}
	j, err := r.base.policy.judge(text)
	if err != nil {
		return nil, err
	}
	for _, e := range r.refused {
		if e.args != nil && r.permits(j, e) {
			return nil, fmt.Errorf("the rules together permit %s, which was refused: choose fewer", e.row.Record.ID)
		}
	}
	return text, nil
}

// Definition returns the definition of a proposal's tool in the rows, the zero one with its name if none is known.
func (p *Proposal) Definition() stopgate.ToolDefinition {
	for _, u := range p.units {
		if d := u.of.call.Definition; d != nil {
			return *d
		}
	}
	return stopgate.ToolDefinition{Name: p.Tool}
}

// Prove proves the effect of a proposal on the file as it is: only calls of its tool that are asked about, and
// are then permitted by its rule. It returns a call that nobody has seen which the rule permits, the zero
// call if there is none, and the findings on the rule.
func (r *Result) Prove(p Proposal) (witness stopgate.Call, notes []string, err error) {
	definition := p.Definition()
	text := declared(r.base.policy.Name, r.base.text, p.Tool, &definition)
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
	if t == nil || p.width == exact {
		return nil
	}
	for _, each := range r.proposals(t, p.units, p.width-1) {
		if each.ID != p.ID {
			list = append(list, each)
		}
	}
	return list
}
