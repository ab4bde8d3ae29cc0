package symbolic

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/jsonstream"
)

// A condition on the source of a value looks at a variable of its own, which is independent of the
// value: its leaves are texts with a letter for each source, which says how the value occurs in the
// texts of that source. So from = ["a"] implies from = ["a", "b"], and certainty implies suspicion.
// Conditions with other further keys (relation, weak, ...) look at other variables.

// The letters of a source.
const (
	nowhere = 'n' // no reading of the value occurs there
	perhaps = 'p' // some reading of it may
	surely  = 's' // the value does, as it is written
	// lacking is the letter of every source for a value that an optional parameter lacks: such a
	// value satisfies permissive conditions and no restrictive one.
	lacking = 'l'
)

// maxSources is the number of sources that proofs tell apart. A condition on a further one is
// opaque.
const maxSources = 12

// originVariable is the origin of the values at a pointer, as conditions with some further keys see
// it.
type originVariable struct {
	variable int
	value    int // the variable of the values themselves
	pointer  jsonstream.Pointer
	query    flow.Query // without sources
	carries  bool
	kind     flow.Kind
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
	every, letters := false, string(surely)+string(lacking)
	switch permissive := out.Permissive; {
	case k.Spec.Kind == condition.NotFrom && permissive:
		every, letters = true, string(nowhere)+string(lacking)
	case k.Spec.Kind == condition.NotFrom:
		every, letters = true, string(nowhere)+string(perhaps)
	case !permissive:
		letters = string(perhaps) + string(surely)
	}
	out.Holds = func(v analysis.Value) bool { return fits(v.Text, places, letters, every) }
	out.Set = &analysis.Set{Texts: analysis.Texts{Languages: []analysis.Language{{
		Walkers: func() []automaton.Walker { return []automaton.Walker{lettersAt(places, letters, every)} },
	}}}}
	out.Named = out.Set
	out.Key = t.sameKey(k) + "\x00" + k.Env.Scope + "\x00" + k.Env.Trusted
	return out
}

// fits reports whether the letter at one of some places, or at every one, is one of the letters.
func fits(text string, places []int, letters string, every bool) bool {
	for _, at := range places {
		if hit := at < len(text) && strings.IndexByte(letters, text[at]) >= 0; hit != every {
			return hit
		}
	}
	return every
}

// lettersAt is the automaton of fits for texts of the domain.
func lettersAt(places []int, letters string, every bool) automaton.Walker {
	n := automaton.New()
	any, hit := letterSet(string(nowhere)+string(perhaps)+string(surely)+string(lacking)), letterSet(letters)
	before, after := 0, -1 // the states before a place was found, and after; with every there is one
	for at := range maxSources {
		place := slices.Contains(places, at)
		nextBefore, nextAfter := n.State(), n.State()
		switch {
		case place && every:
			n.Edge(before, hit, nextBefore)
		case place:
			n.Edge(before, any, nextBefore)
			n.Edge(before, hit, nextAfter)
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

func letterSet(letters string) (set automaton.Set) {
	for _, r := range letters {
		set = set.Union(automaton.Single(r))
	}
	return set
}

// origins is the automaton of all texts of such variables, of a parameter that is optional or not.
func origins(optional bool) automaton.Walker {
	n := automaton.New()
	written, none := 0, 0
	for range maxSources {
		nextWritten, nextNone := n.State(), n.State()
		n.Edge(written, letterSet(string(nowhere)+string(perhaps)+string(surely)), nextWritten)
		n.Edge(none, letterSet(string(lacking)), nextNone)
		written, none = nextWritten, nextNone
	}
	n.Accept(written)
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
	o := originVariable{carries: k.Spec.Kind == condition.Carries, kind: k.Target.As}
	o.pointer, _ = jsonstream.ParsePointer(k.Reach.Expanded)
	key := "origin " + k.Key + "\x00" + k.Target.As.String()
	for _, one := range k.Spec.Options {
		key += "\x00" + one.Key + "=" + one.Value.JSON
	}
	if o.carries {
		key += "\x00carries"
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
	option := func(key string) string { v, _ := k.Spec.Option(key); return v.Text }
	if at := slices.Index(flow.Relations(), option("relation")); at >= 0 {
		o.query.Relation = flow.Relation(at)
	}
	o.query.Weak, o.query.Segments, o.variable = option("weak") == "true", option("segments") == "true", n
	t.origins = append(t.origins, o)
	return n
}

// isOrigin reports a text of the variables.
func isOrigin(text string, optional bool) bool {
	written := strings.IndexFunc(text, func(r rune) bool { return r != nowhere && r != perhaps && r != surely }) < 0
	return len(text) == maxSources && (written || optional && strings.Trim(text, string(lacking)) == "")
}

// oneText is the condition that one text satisfies the conditions of a rule on sources: a fact of
// its own, met or not.
func (t *Translation) oneText(r *Rule) []analysis.Condition {
	if !r.SameText {
		return nil
	}
	return []analysis.Condition{t.fact("same_text "+r.same(), []string{metFact})}
}
