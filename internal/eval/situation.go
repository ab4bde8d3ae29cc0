package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Situation is the result of the conditions that rules have on the groups of the principal (`when =
// { group = "payments" }`) and on a session: on its data (`when = { session = "/mode", ... }`), on
// the words of its person (`when = { says = "..." }`), and of its session policies on the texts that
// were read. In the zero Situation nothing is known of either: restrictive rules and policies hold,
// permissive ones do not. Situations are comparable; equal ones lead to equal bindings.
type Situation struct {
	// settled names the conditions whose result differs from an unknown one: those of restrictive
	// rules that do not hold, those of permissive rules that do, and the policies that do not
	// object. A key ends with a blank.
	settled string
}

// SituationOf parses the result of String.
func SituationOf(text string) Situation { return Situation{text} }

// String returns the situation as text: equal texts are equal situations.
func (s Situation) String() string { return s.settled }

// holds reports whether the condition with a [syntax.When]'s SessionKey or GroupKey holds.
func (s Situation) holds(key string, permissive bool) bool {
	return strings.Contains(s.settled, key) == permissive
}

// With returns the situation with a known result for the condition with a [syntax.When]'s
// SessionKey or GroupKey in permissive or restrictive rules.
func (s Situation) With(key string, permissive, holds bool) Situation {
	if holds == permissive {
		s.settled += key + " "
	}
	return s
}

// WithSaid returns the situation in which the words of the person match the condition with the key
// of a [syntax.Says].
func (s Situation) WithSaid(key string) Situation { return Situation{s.settled + saidKey(key)} }

// WithUnread returns the situation in which a policy on the texts that were read does not object,
// see [Policies.Flows].
func (s Situation) WithUnread(f *Flow) Situation { return Situation{s.settled + f.key} }

// And returns the situation in which also the conditions of another one are settled.
func (s Situation) And(t Situation) Situation { return Situation{s.settled + t.settled} }

func saidKey(key string) string { return "said:" + key + " " }

// Circumstances are the inputs of a binding in addition to the call. The zero value is the
// strictest.
type Circumstances struct {
	// Situation is the result of conditions on groups and the session.
	Situation Situation
	// Governed is set if session policies also decide about the tool, so that an unknown tool is
	// still evaluated; see [Binding.Unknown].
	Governed bool
}

// applies resolves a rule's conditions on the call itself and its session (K0c, K60). A fact that
// the call lacks is certain of nothing: no glob of a permissive rule matches it, not even "*".
func (c *compiler) applies(r *syntax.Rule) bool {
	w := r.When
	if w == nil {
		return true
	}
	for _, fact := range []struct {
		globs []string
		value string
	}{
		{w.Agent, string(c.call.Agent)}, {w.Surface, string(c.call.Surface)},
		{w.Server, string(c.call.Server)}, {w.Principal, string(c.call.Principal)},
	} {
		if len(fact.globs) > 0 && (fact.value == "" && r.Mode.Permissive() || !syntax.MatchesAny(fact.globs, fact.value)) {
			return false
		}
	}
	switch {
	case w.Effect != nil && *w.Effect != c.effect():
		return false
	case w.Says != nil && r.Mode.Permissive() && !strings.Contains(c.under.Situation.settled, saidKey(w.Says.Key)):
		return false
	}
	under, permissive := &c.under.Situation, r.Mode.Permissive()
	return (len(w.Group) == 0 || under.holds(w.GroupKey, permissive)) && (w.Session == nil || under.holds(w.SessionKey, permissive))
}

// Unknown reports whether no file knows the tool, and returns the mode of a call that is not
// permitted otherwise: deny or ask (S2). Such a call is evaluated only with a binding made under
// [Circumstances.Governed].
func (b *Binding) Unknown() (otherwise stopgate.Mode, unknown bool) {
	return b.otherwise, b.unknown
}
