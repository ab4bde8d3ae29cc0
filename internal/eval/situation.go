package eval

import (
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Situation is what a session's data mean to the rules with a condition on them
// (`when = { session = "/mode", ... }`). The zero Situation is the one of which
// nobody knows anything: rules that restrict hold, rules that permit do not.
// Situations are comparable; equal ones lead to equal bindings.
type Situation struct {
	// settled names the conditions that are not as in doubt: those of restrictive
	// rules that do not hold, and those of permissive rules that do.
	settled string
}

// SituationOf returns the situation that String was called on.
func SituationOf(text string) Situation { return Situation{text} }

// String returns the situation as text: equal texts are equal situations.
func (s Situation) String() string { return s.settled }

// holds says whether a `when` with a condition on the session lets its rule exist.
func (s Situation) holds(w *syntax.When, permissive bool) bool {
	return strings.Contains(s.settled, w.SessionKey) == permissive
}

// With settles the condition with a [syntax.When]'s SessionKey in permissive or restrictive
// rules: whether it holds is known.
func (s Situation) With(key string, permissive, holds bool) Situation {
	if holds == permissive {
		s.settled += key + " "
	}
	return s
}

// Circumstances are what a binding depends on beside the call. The zero value is the
// strict one.
type Circumstances struct {
	// Situation is what the session's data mean.
	Situation Situation
	// Governed says that somebody beside the files decides about the tool, so that one
	// no file knows is still judged; see [Binding.Unknown].
	Governed bool
}

// applies resolves a rule's conditions on the call itself and its session (K0c,
// K60).
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
		if len(fact.globs) > 0 && !syntax.MatchesAny(fact.globs, fact.value) {
			return false
		}
	}
	return w.Session == nil || c.under.Situation.holds(w, r.Mode.Permissive())
}

// Unknown reports that no file knows the tool, and what becomes of a call then that
// nobody else permits: it is denied, or asked about (S2). Only a binding made under
// [Circumstances.Governed] lets such a call come that far.
func (b *Binding) Unknown() (otherwise stopgate.Mode, unknown bool) {
	return b.otherwise, b.unknown
}
