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
	// Within counts the questions whose tool, directory, first two words of a command and host another group
	// approved, too: no generalisation can save the others.
	Within   int
	Rules    int // that were learned from the others
	Refused  int // calls that a person refuses, or would refuse
	Loosened int // of these, permitted by what was learned and not before
	Changed  int // calls with another verdict that were not asked about
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
	v := &validation{policy: p, plan: plan, calls: calls, definitions: Definitions(calls), rows: map[string][]learn.Row{}, members: map[string][]int{}}
	if v.learner, err = learn.New(p); err != nil {
		return nil, err
	}
	before, err := gateFor(p, p.Text, v.definitions)
	if err != nil {
		return nil, err
	}
	v.modes = make([]stopgate.Mode, len(calls))
	for i, c := range calls {
		name := plan.Group(c)
		if _, ok := v.rows[name]; !ok {
			v.names = append(v.names, name)
		}
		r, m, err := before.Decide(ctx, calls[i:i+1])
		if err != nil {
			return nil, err
		}
		if !plan.Blind || !c.No {
			v.rows[name] = append(v.rows[name], r...)
		}
		v.members[name], v.modes[i] = append(v.members[name], i), m[0]
	}
	for _, name := range v.names {
		if name == "" {
			continue
		}
		f, err := v.fold(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", name, err)
		}
		folds = append(folds, f)
	}
	return folds, nil
}

// validation is one run of [Validate].
type validation struct {
	policy      learn.Policy
	plan        Plan
	learner     *learn.Learner
	calls       []Call
	modes       []stopgate.Mode // of the calls, under the policy
	definitions map[string]*stopgate.ToolDefinition
	names       []string // of the groups
	rows        map[string][]learn.Row
	members     map[string][]int // the indexes of their calls
}

// fold leaves one group out.
func (v *validation) fold(ctx context.Context, name string) (f Fold, err error) {
	var others []learn.Row
	reach := map[string]bool{}
	for _, other := range v.names {
		if other == name {
			continue
		}
		others = append(others, v.rows[other]...)
		for _, i := range v.members[other] {
			if !v.calls[i].No && v.modes[i] == stopgate.Ask {
				reach[within(v.calls[i])] = true
			}
		}
	}
	result, err := v.learner.Propose(others, learn.Options{})
	if err != nil {
		return f, err
	}
	text, err := result.Apply(result.Proposals)
	if err != nil {
		return f, err
	}
	after, err := gateFor(v.policy, text, v.definitions)
	if err != nil {
		return f, err
	}
	f = Fold{Name: name, Calls: len(v.members[name]), Rules: len(result.Proposals)}
	refused := map[string]stopgate.Mode{} // equal calls of attacks are decided once
	var asks []Call
	for _, i := range slices.Concat(v.members[name], v.members[""]) {
		c, was := v.calls[i], v.modes[i]
		same := c.Tool + "\x00" + string(c.Args)
		now, known := refused[same]
		if !known || !c.No {
			_, m, err := after.Decide(ctx, v.calls[i:i+1])
			if err != nil {
				return f, err
			}
			now = m[0]
		}
		if c.No {
			refused[same] = now
		}
		switch {
		case c.No:
			f.Refused++
			if now == stopgate.Unattended && was != now {
				f.Loosened++
			}
			continue
		case was != stopgate.Ask && now != was:
			f.Changed++
		case was == stopgate.Ask && now == stopgate.Unattended:
			f.Asked++
			f.Saved++
		case was == stopgate.Ask:
			f.Asked++
			asks = append(asks, c)
		}
		if was == stopgate.Ask && reach[within(c)] {
			f.Within++
		}
	}
	if v.plan.Trace != nil {
		v.plan.Trace(name, result, asks)
	}
	return f, nil
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
		f.Refused, f.Loosened, f.Changed, f.Within = f.Refused+each.Refused, f.Loosened+each.Loosened, f.Changed+each.Changed, f.Within+each.Within
	}
	return f
}

// Share is the percentage of questions that are saved.
func (f Fold) Share() float64 { return 100 * float64(f.Saved) / float64(max(f.Asked, 1)) }

// ShareWithin is the percentage of the questions within reach that are saved.
func (f Fold) ShareWithin() float64 { return 100 * float64(f.Saved) / float64(max(f.Within, 1)) }
