package symbolic

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// Memory keeps matchers and automata of conditions, for all conditions with the same values:
// in other rules, for other tools and in other policies. It belongs to one goroutine. The
// zero Memory is empty.
type Memory struct {
	matchers map[compiled]*match.Matcher
	walkers  map[compiled]*walkers
	scratch  condition.Value // the text that conditions are asked about
}

// compiled is all that a matcher depends on.
type compiled struct {
	kind        condition.Kind
	target      condition.Target
	restrictive bool
	env         condition.Env
	values      string // and further keys
}

// walkers are the automata of a matcher, see [inclusion.Walkers].
type walkers struct{ all, named []automaton.Walker }

func (k *Condition) compiled(s condition.Spec) compiled {
	var values strings.Builder
	for _, lit := range s.Values {
		values.WriteString(lit.JSON)
		values.WriteByte(0)
	}
	for _, o := range s.Options {
		values.WriteString(o.Key + "=" + o.Value.JSON + "\x00")
	}
	return compiled{s.Kind, k.Target, !k.Rule.Mode.Permissive(), k.Env, values.String()}
}

// matcher compiles the condition with other values, for its last reading.
func (k *Condition) matcher(s condition.Spec) *match.Matcher {
	key := k.compiled(s)
	if m, ok := k.memory.matchers[key]; ok {
		return m
	}
	m, err := match.Compile(s, k.Target, key.restrictive, k.Env)
	if err != nil {
		return nil // cannot happen: it was checked
	}
	if k.memory.matchers == nil {
		k.memory.matchers = make(map[compiled]*match.Matcher)
	}
	k.memory.matchers[key] = m
	return m
}

// languages returns the automata of every value of the condition, for the only reading that
// it has. It reports false if there are none.
func (k *Condition) languages() (set, named []analysis.Language, ok bool) {
	for i := range k.Spec.Values {
		one := k.Spec
		one.Values = k.Spec.Values[i : i+1]
		if one.Values[0].Kind != condition.LiteralString && !one.Row().Counts {
			continue
		}
		key := k.compiled(one)
		w, known := k.memory.walkers[key]
		if !known {
			w = &walkers{}
			if m := k.matcher(one); m != nil {
				w.all, w.named = inclusion.Walkers(m), inclusion.Named(m)
			}
			if k.memory.walkers == nil {
				k.memory.walkers = make(map[compiled]*walkers)
			}
			k.memory.walkers[key] = w
		}
		if w.all == nil || w.named == nil {
			return nil, nil, false
		}
		set = append(set, analysis.Language{Key: w, Walkers: func() []automaton.Walker { return w.all }})
		named = append(named, analysis.Language{Key: w, Walkers: func() []automaton.Walker { return w.named }})
	}
	return set, named, len(set) > 0
}
