package match

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// Compile compiles a condition for a target and a polarity by the definition of its kind. The error
// is a [condition.SpecError].
func Compile(s condition.Spec, t condition.Target, restrictive bool, env condition.Env) (*Matcher, error) {
	return CompileIn(s, t, restrictive, &env)
}

// CompileIn is Compile in an environment that many matchers share, which must not be changed afterwards.
func CompileIn(s condition.Spec, t condition.Target, restrictive bool, env *condition.Env) (*Matcher, error) {
	m, err := compile(condition.Request{Spec: s, Target: t, Restrictive: restrictive, Env: env})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Check returns the error of Compile. For literals it does not build automata.
func Check(s condition.Spec, t condition.Target, restrictive bool, env *condition.Env) error {
	if _, err := build(condition.Request{Spec: s, Target: t, Restrictive: restrictive, Env: env, CheckOnly: true}); err != nil {
		return err
	}
	return nil
}

// compile checks a condition against the definition of its kind, and builds its tests. An argument
// vector is evaluated as the equivalent command line ([condition.Value.ResetWords]).
func compile(r condition.Request) (*Matcher, *condition.SpecError) {
	tests, err := build(r)
	if err != nil {
		return nil, err
	}
	if r.Target.Annotation == schema.Argv {
		r.Target.Annotation = schema.Command
	}
	m := &Matcher{
		kind: r.Spec.Kind, restrictive: r.Restrictive, annotation: r.Target.Annotation, env: r.Env,
		fits: tests.Fits, text: tests.Text, values: &noValues,
	}
	if tests.Fits&^schema.String != 0 || tests.Values.Count != 0 {
		m.values = &tests.Values
	}
	m.origin, _ = tests.Text.(condition.OriginTest)
	for _, lit := range r.Spec.Values {
		if lit.Kind == condition.LiteralString && m.kind != condition.Present {
			m.written = append(m.written, lit.Text)
		}
	}
	if m.kind == condition.Present {
		m.want, m.value = r.Spec.Presence()
	}
	return m, nil
}

// noValues are the values of a condition that only strings satisfy.
var noValues condition.Values

func build(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	defer func() {
		if err != nil {
			err.Kind = r.Spec.Kind
		}
	}()
	if r.Target.Annotation == schema.Argv {
		r.Target.Annotation = schema.Command
	}
	d := r.Spec.Row()
	if d.Types == 0 {
		return tests, condition.Invalid(-1, "no such matcher", "")
	}
	fits := d.Types.Intersect(r.Target.Types())
	if _, onlyNull := r.Spec.NamesNull(); fits == 0 && !onlyNull {
		return tests, condition.Invalid(-1, "looks at "+d.Types.String()+", but the parameter is "+r.Target.Types().String(), "")
	}
	switch n := len(r.Spec.Values); {
	case n == 0:
		return tests, condition.Invalid(-1, "has no value", "")
	case n > 1 && d.Values == condition.One && (r.Spec.List == "" || !d.Listed):
		return tests, condition.Invalid(1, "takes one value", "")
	}
	if d.Types == schema.String && !d.Counts {
		if err := r.CheckStrings(d); err != nil {
			return tests, err
		}
	}
	if tests, err = d.Build(r); err == nil && tests.Fits == 0 {
		tests.Fits = fits
	}
	return tests, err
}
