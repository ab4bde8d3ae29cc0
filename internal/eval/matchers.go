package eval

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
)

// matchers are the compiled conditions of a tool. Rules often share lists and locations, so equal
// conditions are compiled once.
type matchers map[matcherKey]*match.Matcher

type matcherKey struct {
	kind        condition.Kind
	values      *condition.Literal // by address, since lists are immutable
	count       int
	target      condition.Target
	restrictive bool
	env         *condition.Env // by address likewise
}

// compile is match.Compile with a cache; ok is false if the condition does not fit the target.
func (all matchers) compile(s condition.Spec, t condition.Target, restrictive bool, env *condition.Env) (m *match.Matcher, ok bool) {
	if len(s.Values) == 0 {
		m, err := match.CompileIn(s, t, restrictive, env)
		return m, err == nil
	}
	reads, writes := t.ReadsJudged, t.WritesJudged
	t.ReadsJudged, t.WritesJudged = false, false
	key := matcherKey{s.Kind, &s.Values[0], len(s.Values), t, restrictive, env}
	m, known := all[key]
	if !known {
		m, _ = match.CompileIn(s, t, restrictive, env) // nil with an error
		all[key] = m
	}
	if m == nil {
		return nil, false
	}
	return m.WithRedirects(reads, writes), true
}
