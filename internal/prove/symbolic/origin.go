package symbolic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/jsonstream"
)

// A condition on the source of a value looks at a variable of its own, which is independent of the
// value: its leaves are texts with a letter for each source, an [occurrence], which says how the value
// occurs in the texts of that source. So from = ["a"] implies from = ["a", "b"], certainty implies
// suspicion, and a condition implies the one that is widened by relation, weak or segments.

// maxSources is the number of sources that proofs tell apart. A condition on a further one is
// opaque.
const maxSources = 12

// originVariable is the origin of the values at a pointer, as conditions with some further keys see
// it.
type originVariable struct {
	variable int
	value    int // the variable of the values themselves
	pointer  jsonstream.Pointer
	carries  bool
	kind     flow.Kind
	// relation is that of all conditions on the variable, SameValue if they have the value or natural,
	// the relation that widens it.
	relation, natural flow.Relation
}

// origin translates a condition on sources.
func (t *Translation) origin(k *Condition) analysis.Condition {
	out := analysis.Condition{Variable: t.originOf(k), All: k.All, Permissive: k.Rule.Mode.Permissive(), AtMost: -1}
	var places []int
	for _, name := range k.Spec.Values {
		at := t.source(&k.Env, flow.Source(name.Text))
		if at < 0 {
			out.Subject = analysis.Opaque
			return out
		}
		places = append(places, at)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	every, states := false, string(surely)+string(lacking)
	switch permissive := out.Permissive; {
	case k.Spec.Kind == condition.NotFrom && permissive:
		every, states = true, string(nowhere)+string(lacking)
	case k.Spec.Kind == condition.NotFrom:
		every, states = true, string(nowhere)+string(perhaps)
	case !permissive:
		states = string(perhaps) + string(surely)
	}
	letters := lettersOf(widened(k), states)
	out.Holds = func(v analysis.Value) bool { return fits([]rune(v.Text), places, letters, every) }
	out.Set = &analysis.Set{Texts: analysis.Texts{Languages: []analysis.Language{{
		Walkers: func() []automaton.Walker { return []automaton.Walker{lettersAt(places, letters, every)} },
	}}}}
	out.Named = out.Set
	out.Key = t.sameKey(k) + "\x00" + k.Env.Scope + "\x00" + k.Env.Trusted
	return out
}

// fits reports whether the letter at one of some places, or at every one, is one of the letters.
func fits(text []rune, places []int, letters automaton.Set, every bool) bool {
	for _, at := range places {
		if hit := at < len(text) && letters.Contains(text[at]); hit != every {
			return hit
		}
	}
	return every
}

// lettersAt is the automaton of fits for texts of the domain.
func lettersAt(places []int, letters automaton.Set, every bool) automaton.Walker {
	n := automaton.New()
	any := written().Union(automaton.Single(lacking))
	before, after := 0, -1 // the states before a place was found, and after; with every there is one
	for at := range maxSources {
		place := slices.Contains(places, at)
		nextBefore, nextAfter := n.State(), n.State()
		switch {
		case place && every:
			n.Edge(before, letters, nextBefore)
		case place:
			n.Edge(before, any, nextBefore)
			n.Edge(before, letters, nextAfter)
		default:
			n.Edge(before, any, nextBefore)
		}
		if after >= 0 {
			n.Edge(after, any, nextAfter)
		}
		before, after = nextBefore, nextAfter
	}
	if every {
		n.Accept(before)
	} else {
		n.Accept(after)
	}
	return n.Compile().DFA()
}

// origins is the automaton of all texts of such variables, of a parameter that is optional or not.
func origins(optional bool) automaton.Walker {
	n := automaton.New()
	found, none := 0, 0
	for range maxSources {
		nextFound, nextNone := n.State(), n.State()
		n.Edge(found, written(), nextFound)
		n.Edge(none, automaton.Single(lacking), nextNone)
		found, none = nextFound, nextNone
	}
	n.Accept(found)
	if optional {
		n.Accept(none)
	}
	return n.Compile().DFA()
}

// source returns the place of a source, -1 if there are too many. Untrusted depends on the trusted
// sources of the file.
func (t *Translation) source(env *condition.Env, name flow.Source) int {
	name = env.Source(name)
	if name == flow.Untrusted {
		name += flow.Source("\n" + env.Trusted)
	}
	at := slices.Index(t.sources, name)
	if at < 0 && len(t.sources) < maxSources {
		at, t.sources = len(t.sources), append(t.sources, name)
	}
	return at
}

// originOf finds or makes the variable of a condition on sources.
func (t *Translation) originOf(k *Condition) int {
	o := originVariable{carries: k.Spec.Kind == condition.Carries, kind: k.Target.As, natural: naturalOf(&k.Target)}
	o.pointer, _ = jsonstream.ParsePointer(k.Reach.Expanded)
	key := "origin " + k.Key + "\x00" + k.Target.As.String()
	if r := relationOf(k); r != flow.SameValue && r != o.natural {
		o.relation = r
		key += "\x00relation " + strconv.Itoa(int(r))
	}
	if o.carries {
		v, _ := k.Spec.Option("tokens")
		key += "\x00carries " + v.JSON
	}
	if n, ok := t.variables[key]; ok {
		return n
	}
	o.value = t.Variable(k)
	optional := t.all[o.value].Optional
	n := len(t.all)
	t.variables[key] = n
	t.names, t.pointers, t.forms = append(t.names, k.Arg.String()), append(t.pointers, nil), append(t.forms, asText)
	t.all = append(t.all, analysis.Variable{Several: k.Several, AtMost: -1, Domain: analysis.Domain{
		Text:      true,
		Languages: func() (inside, outside []automaton.Walker) { return []automaton.Walker{origins(optional)}, nil },
		Admits:    func(v analysis.Value) bool { return v.Kind == analysis.Text && isOrigin(v.Text, optional) },
		Welcome:   func(v analysis.Value) bool { return v.Text == "" || v.Text[0] != lacking },
	}})
	o.variable = n
	t.origins = append(t.origins, o)
	return n
}

// isOrigin reports a text of the variables.
func isOrigin(text string, optional bool) bool {
	letters := []rune(text)
	found := !slices.ContainsFunc(letters, func(r rune) bool { return !written().Contains(r) })
	return len(letters) == maxSources && (found || optional && strings.Trim(text, string(lacking)) == "")
}

// oneText is the condition that one text satisfies the conditions of a rule on sources: a fact of
// its own, met or not.
func (t *Translation) oneText(r *Rule) []analysis.Condition {
	if !r.SameText {
		return nil
	}
	return []analysis.Condition{t.fact("same_text "+r.same(), []string{metFact}, false)}
}
