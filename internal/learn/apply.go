package learn

import (
	"errors"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli/amend"
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
