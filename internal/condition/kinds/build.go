package kinds

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/patch"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/schema"
)

// buildEqual sorts the literals of const and enum by type; each must fit a type of the target
// (D25-31).
func buildEqual(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	fits := (condition.AnyType &^ schema.Array).Intersect(r.Target.Types())
	if fits&schema.String != 0 && !slices.ContainsFunc(r.Spec.Values, func(lit condition.Literal) bool { return lit.Kind != condition.LiteralString }) {
		tests.Fits = schema.String
		tests.Text, err = compileText(r)
		return tests, err
	}
	strings := r
	strings.Spec.Values = nil
	var index []int // of the string literals in the values
	for i, lit := range r.Spec.Values {
		var accepted schema.Type
		switch v := &tests.Values; lit.Kind {
		case condition.LiteralString:
			accepted = schema.String
			strings.Spec.Values = append(strings.Spec.Values, lit)
			index = append(index, i)
		case condition.LiteralNumber:
			d, err := condition.ParseNumber(i, lit)
			if err != nil {
				return tests, err
			}
			accepted = schema.Number
			if d.IsInteger() {
				accepted |= schema.Integer
			}
			v.Numbers = append(v.Numbers, d)
		case condition.LiteralBool:
			accepted = schema.Boolean
			v.IsTrue = v.IsTrue || lit.Text == "true"
			v.IsFalse = v.IsFalse || lit.Text != "true"
		case condition.LiteralNull: // the schema decides whether null is allowed
			v.IsNull = true
			tests.Fits |= schema.Null
			continue
		case condition.LiteralObject:
			accepted = schema.Object
			if v.Objects == nil {
				v.Objects = make(map[string]bool)
			}
			v.Objects[lit.JSON] = true
		default:
			return tests, condition.Invalid(i, "an array cannot be compared: a pointer that ends at an array addresses its elements", "write the elements as enum")
		}
		if accepted&fits == 0 {
			return tests, condition.Invalid(i, condition.Describe(lit)+" can never equal a value of type "+fits.String(), "")
		}
		tests.Fits |= accepted & fits
	}
	if len(strings.Spec.Values) == 0 {
		return tests, nil
	}
	tests.Text, err = compileText(strings)
	if err != nil && err.Index >= 0 {
		err.Index = index[err.Index]
	}
	return tests, err
}

// buildText compiles a condition on strings by the annotation of the target.
func buildText(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	tests.Text, err = compileText(r)
	return tests, err
}

func compileText(r condition.Request) (condition.TextTest, *condition.SpecError) {
	s, t := r.Spec, r.Target
	if r.CheckOnly && t.Annotation != schema.Patch {
		if done, err := checkLiterals(s, t, r.Restrictive); done {
			return nil, err
		}
	}
	switch t.Annotation {
	case schema.Path:
		return pathname.Compile(s, t.Expands, r.Restrictive, *r.Env)
	case schema.Command:
		return commandline.Compile(s, t, r.Restrictive, r.Env)
	case schema.URL:
		return weburl.Compile(s, r.Restrictive)
	case schema.Patch:
		return pathname.CompilePatch(s, r.Restrictive, *r.Env)
	}
	return plaintext.Compile(s, r.Restrictive)
}

// checkLiterals is compileText without automata, for matchers on strings and paths that compare
// with literals or plain globs. done is false for all others.
func checkLiterals(s condition.Spec, t condition.Target, restrictive bool) (done bool, _ *condition.SpecError) {
	switch s.Kind {
	case condition.Const, condition.Enum, condition.Prefix:
	case condition.Glob:
		return allPlain(s, t.Annotation), nil
	default:
		return false, nil
	}
	switch t.Annotation {
	case schema.Path:
		for i, lit := range s.Values {
			if err := pathname.CheckPathLiteral(s.Kind, lit.Text, restrictive); err != nil {
				err.Index = i
				return true, err
			}
		}
	case schema.None:
		for i, lit := range s.Values {
			if s.Kind == condition.Prefix && lit.Text == "" {
				return true, condition.Invalid(i, "is empty, so the condition always matches", "leave the condition out")
			}
		}
	default:
		return false, nil
	}
	return true, nil
}

// allPlain reports whether globs are valid, which is certain without parsing them.
func allPlain(s condition.Spec, a schema.Annotation) bool {
	for _, lit := range s.Values {
		switch {
		case a == schema.Path && glob.PlainPath(lit.Text):
		case a == schema.None && plaintext.ValidGlob(lit.Text):
		default:
			return false
		}
	}
	return true
}

func buildLength(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	if tests.Values.Count, err = condition.ParseCount(r.Spec.Values[0]); err == nil {
		tests.Text = compileLength(tests.Values.Count, r.Target, r.Restrictive, *r.Env)
	}
	return tests, err
}

// buildPresent checks the literal of present, which package eval evaluates (K5).
func buildPresent(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	if lit := r.Spec.Values[0]; lit.Kind != condition.LiteralBool && (lit.Kind != condition.LiteralString || lit.Text != condition.PresentValue) {
		err = condition.Invalid(0, "must be true, false or \"value\"", "")
	}
	return tests, err
}

// compileLength compiles max_length. For values that are evaluated as a whole a permissive
// condition holds for a plainly written value only.
func compileLength(most int, t condition.Target, restrictive bool, env condition.Env) condition.TextTest {
	length := plaintext.LengthTest{Most: most, Restrictive: restrictive}
	switch t.Annotation {
	case schema.Path:
		p := pathform.NewContext(env, t.Expands, restrictive)
		return &plaintext.CompleteLength{Length: length, Plain: p.Plain}
	case schema.Command:
		return &plaintext.CompleteLength{Length: length, Plain: commandline.IsPlain}
	case schema.URL:
		return &plaintext.CompleteLength{Length: length, Plain: weburl.IsPlainURL}
	case schema.Patch:
		return &plaintext.CompleteLength{Length: length, Plain: func(text []byte) bool { _, ok := patch.Files(string(text)); return ok }}
	}
	return &length
}
