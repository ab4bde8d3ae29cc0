package policy

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
	"github.com/stopgate/stopgate/schema"
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

// holds says whether a `when` with a condition on the session lets its rule exist.
func (s Situation) holds(w *syntax.When, permissive bool) bool {
	return strings.Contains(s.settled, w.SessionKey) == permissive
}

// with settles a condition: whether it holds is known.
func (s Situation) with(key string, permissive, holds bool) Situation {
	if holds == permissive {
		s.settled += key + " "
	}
	return s
}

// dataTest is one condition of a program on the data of sessions.
type dataTest struct {
	key        string
	permissive bool
	test       *DataTest
}

// situations prepares the conditions of all files, each once for each polarity.
func (p *Program) situations() {
	known := make(map[string]bool)
	for _, l := range p.layers {
		for r := range l.policy.Rules() {
			w := r.When
			if w == nil || w.Session == nil || known[w.SessionKey] {
				continue
			}
			known[w.SessionKey] = true
			// Parse has refused what cannot be compiled; without a test the condition stays in doubt.
			if t, err := NewDataTest(*w.Session, !r.Mode.Permissive(), l.env); err == nil {
				p.tests = append(p.tests, dataTest{key: w.SessionKey, permissive: r.Mode.Permissive(), test: t})
			}
		}
	}
	slices.SortFunc(p.tests, func(a, b dataTest) int { return strings.Compare(a.key, b.key) })
}

// LooksAtSessions reports whether a rule has a condition on the data of sessions.
func (p *Program) LooksAtSessions() bool { return len(p.tests) > 0 }

// Situation reads a session's data. A session without data has the empty object;
// what is not an object is not known.
func (p *Program) Situation(data jsonstream.Value) Situation {
	var s Situation
	if data.Kind() != jsonstream.Object {
		return s
	}
	for _, t := range p.tests {
		if holds, known := t.test.Holds(data); known {
			s = s.with(t.key, t.permissive, holds)
		}
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

// DataTest is a condition on a session's data, ready to be asked. It is safe for
// concurrent use.
type DataTest struct {
	pointer  jsonstream.Pointer
	kind     match.Kind
	test     *match.Matcher
	restrict bool
}

// NewDataTest compiles a condition for rules that restrict, to which one fitting value
// of several is enough, or for rules that permit, to which all have to fit.
func NewDataTest(c syntax.SessionCondition, restrict bool, env match.Env) (*DataTest, error) {
	m, err := match.Compile(c.Spec, match.Target{}, restrict, env)
	if err != nil {
		return nil, err
	}
	return &DataTest{pointer: c.Pointer, kind: c.Spec.Kind, test: m, restrict: restrict}, nil
}

// Holds reports whether the data fit. It is not known where the value is missing or
// null; only `present` knows then.
func (t *DataTest) Holds(data jsonstream.Value) (holds, known bool) {
	values, complete := t.pointer.All(nil, data)
	values = slices.DeleteFunc(values, func(v jsonstream.Value) bool { return v.Kind() == jsonstream.Null })
	if t.kind == match.Present {
		return (len(values) > 0) == t.test.WantsPresent(), true
	}
	fits := 0
	for _, v := range values {
		if t.fits(v) {
			fits++
		}
	}
	if t.restrict {
		return fits > 0, fits > 0 || complete && len(values) > 0
	}
	return complete && len(values) > 0 && fits == len(values), complete && len(values) > 0
}

func (t *DataTest) fits(v jsonstream.Value) bool {
	kinds := t.test.Fits()
	switch v.Kind() {
	case jsonstream.String:
		return kinds&schema.String != 0 && t.test.Whole([]byte(v.Text()))
	case jsonstream.Number:
		d, ok := v.Decimal()
		return kinds&schema.Number != 0 && ok && t.test.Number(d)
	case jsonstream.True, jsonstream.False:
		return kinds&schema.Boolean != 0 && t.test.Bool(v.Kind() == jsonstream.True)
	case jsonstream.Array:
		if t.kind == match.MinItems || t.kind == match.MaxItems {
			return t.test.Items(v.Len())
		}
		fits := 0
		for element := range v.Elements() {
			if t.fits(element) {
				fits++
			}
		}
		if fits > 0 && (t.restrict || fits == v.Len()) {
			return true
		}
	}
	return kinds&(schema.Array|schema.Object) != 0 && t.test.Canonical(jsonstream.AppendCanonical(nil, v))
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
