package approved

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
)

// Fold is the measurement of one group of calls that was left out: its questions under the policy, and under
// what was learned from the other groups.
type Fold struct {
	Name         string
	Calls, Asked int
	Saved        int // of the questions
	Rules        int // that were learned from the others
	Refused      int // calls that a person refuses, or would refuse
	Loosened     int // of these, permitted by what was learned and not before
	Changed      int // calls with another verdict that were not asked about
}

// Plan says what is left out, and which refusals are known.
type Plan struct {
	// Group names the group of a call; each group is left out once. "" is never left out.
	Group func(Call) string
	// Blind hides all refusals from what learns, to measure what it would permit without them.
	Blind bool
	// Trace gets the result of each fold, and every call that is still asked about; nil for none.
	Trace func(fold string, r *learn.Result, asks []Call)
}

// Validate leaves each group of calls out, learns from the others, and measures the group.
func Validate(ctx context.Context, p learn.Policy, calls []Call, plan Plan) (folds []Fold, err error) {
	calls = Spread(calls)
	definitions := Definitions(calls)
	before, err := gateFor(p, p.Text, definitions)
	if err != nil {
		return nil, err
	}
	var names []string
	rows, members := map[string][]learn.Row{}, map[string][]int{}
	modes := make([]stopgate.Mode, len(calls))
	for i, c := range calls {
		name := plan.Group(c)
		if _, ok := rows[name]; !ok {
			names = append(names, name)
		}
		r, m, err := before.Decide(ctx, calls[i:i+1])
		if err != nil {
			return nil, err
		}
		if !plan.Blind || !c.No {
			rows[name] = append(rows[name], r...)
		}
		members[name], modes[i] = append(members[name], i), m[0]
	}
	for _, name := range names {
		if name == "" {
			continue
		}
		var others []learn.Row
		for _, other := range names {
			if other != name {
				others = append(others, rows[other]...)
			}
		}
		result, err := learn.Propose(p, others, learn.Options{})
		if err != nil {
			return nil, err
		}
		text, err := result.Apply(result.Proposals)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", name, err)
		}
		after, err := gateFor(p, text, definitions)
		if err != nil {
			return nil, err
		}
		f := Fold{Name: name, Calls: len(members[name]), Rules: len(result.Proposals)}
		var asks []Call
		for _, i := range slices.Concat(members[name], members[""]) {
			_, m, err := after.Decide(ctx, calls[i:i+1])
			if err != nil {
				return nil, err
			}
			now, was := m[0], modes[i]
			switch {
			case calls[i].No:
				f.Refused++
				if now == stopgate.Unattended && was != now {
					f.Loosened++
				}
			case was != stopgate.Ask && now != was:
				f.Changed++
			case was == stopgate.Ask && now == stopgate.Unattended:
				f.Asked++
				f.Saved++
			case was == stopgate.Ask:
				f.Asked++
				asks = append(asks, calls[i])
			}
		}
		if plan.Trace != nil {
			plan.Trace(name, result, asks)
		}
		folds = append(folds, f)
	}
	return folds, nil
}

func gateFor(p learn.Policy, text []byte, definitions map[string]*stopgate.ToolDefinition) (*Gate, error) {
	program, found := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
	if program == nil {
		return nil, found.Err()
	}
	return New(program, maps.Clone(definitions))
}

// Sum adds folds.
func Sum(folds []Fold) (f Fold) {
	f.Name = "all"
	for _, each := range folds {
		f.Calls, f.Asked, f.Saved = f.Calls+each.Calls, f.Asked+each.Asked, f.Saved+each.Saved
		f.Refused, f.Loosened, f.Changed = f.Refused+each.Refused, f.Loosened+each.Loosened, f.Changed+each.Changed
	}
	return f
}

// Share is the percentage of questions that are saved.
func (f Fold) Share() float64 { return 100 * float64(f.Saved) / float64(max(f.Asked, 1)) }
