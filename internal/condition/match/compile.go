package match

import (
	"slices"

	"github.com/stopgate/stopgate/internal/eval/schema"
)

// Compile compiles a condition for a target and a polarity. The error is a *SpecError.
func Compile(s Spec, t Target, restrictive bool, env Env) (*Matcher, error) {
	m, err := compile(Request{Spec: s, Target: t, Restrictive: restrictive, Env: env})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Check returns the error of Compile. For literals it does not build automata.
func Check(s Spec, t Target, restrictive bool, env Env) error {
	if _, err := compile(Request{Spec: s, Target: t, Restrictive: restrictive, Env: env, CheckOnly: true}); err != nil {
		return err
	}
	return nil
}

// compile checks a condition against the definition of its kind, and builds its tests. An argument
// vector is evaluated as the equivalent command line ([Value.ResetWords]).
func compile(r Request) (*Matcher, *SpecError) {
	if r.Target.Annotation == schema.Argv {
		r.Target.Annotation = schema.Command
	}
	tests, err := build(r)
	if err != nil {
		err.Kind = r.Spec.Kind
		return nil, err
	}
	m := &Matcher{
		kind: r.Spec.Kind, restrictive: r.Restrictive, annotation: r.Target.Annotation, env: r.Env,
		fits: tests.Fits, text: tests.Text, values: tests.Values,
	}
	for _, lit := range r.Spec.Values {
		if lit.Kind == LiteralString && m.kind != Present {
			m.written = append(m.written, lit.Text)
		}
	}
	if m.kind == Present {
		m.want, m.value = r.Spec.Presence()
	}
	return m, nil
}

func build(r Request) (tests Tests, err *SpecError) {
	d := Define(r.Spec.Kind)
	if d.Types == 0 {
		return tests, literalError(-1, "no such matcher", "")
	}
	fits := d.Types.Intersect(r.Target.types())
	if _, onlyNull := r.Spec.NamesNull(); fits == 0 && !onlyNull {
		return tests, literalError(-1, "looks at "+d.Types.String()+", but the parameter is "+r.Target.types().String(), "")
	}
	switch n := len(r.Spec.Values); {
	case n == 0:
		return tests, literalError(-1, "has no value", "")
	case n > 1 && d.Values == One && (r.Spec.List == "" || !d.Listed):
		return tests, literalError(1, "takes one value", "")
	}
	if d.Types == schema.String && d.Kind != MaxLength {
		if err := r.checkStrings(d); err != nil {
			return tests, err
		}
	}
	if tests, err = d.Build(r); err == nil && tests.Fits == 0 {
		tests.Fits = fits
	}
	return tests, err
}

// types are the types of the values at the target.
func (t *Target) types() schema.Type {
	if t.Type == 0 {
		return anyType
	}
	return t.Type
}

// checkStrings checks the literals of a kind that compares strings, and the annotation of the
// strings.
func (r *Request) checkStrings(d *Definition) *SpecError {
	for i, lit := range r.Spec.Values {
		if lit.Kind != LiteralString {
			return literalError(i, "must be a string, not "+describe(lit), "")
		}
	}
	if d.Reads != nil && !slices.Contains(d.Reads, r.Target.Annotation) {
		return literalError(-1, d.Misfit, d.Remedy)
	}
	return nil
}
