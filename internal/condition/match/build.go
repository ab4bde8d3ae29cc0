package match

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// buildEqual sorts the literals of const and enum by type; each must fit a type of the target
// (D25-31).
func buildEqual(r Request) (tests Tests, err *SpecError) {
	fits := (anyType &^ schema.Array).Intersect(r.Target.types())
	strings := r
	strings.Spec.Values = nil
	var index []int // of the string literals in the values
	for i, lit := range r.Spec.Values {
		var accepted schema.Type
		switch v := &tests.Values; lit.Kind {
		case LiteralString:
			accepted = schema.String
			strings.Spec.Values = append(strings.Spec.Values, lit)
			index = append(index, i)
		case LiteralNumber:
			d, err := parseNumber(i, lit)
			if err != nil {
				return tests, err
			}
			accepted = schema.Number
			if d.IsInteger() {
				accepted |= schema.Integer
			}
			v.numbers = append(v.numbers, d)
		case LiteralBool:
			accepted = schema.Boolean
			v.isTrue = v.isTrue || lit.Text == "true"
			v.isFalse = v.isFalse || lit.Text != "true"
		case LiteralNull: // the schema decides whether null is allowed
			v.isNull = true
			tests.Fits |= schema.Null
			continue
		case LiteralObject:
			accepted = schema.Object
			if v.objects == nil {
				v.objects = make(map[string]bool)
			}
			v.objects[lit.JSON] = true
		default:
			return tests, literalError(i, "an array cannot be compared: a pointer that ends at an array addresses its elements", "write the elements as enum")
		}
		if accepted&fits == 0 {
			return tests, literalError(i, describe(lit)+" can never equal a value of type "+fits.String(), "")
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
func buildText(r Request) (tests Tests, err *SpecError) {
	tests.Text, err = compileText(r)
	return tests, err
}

func compileText(r Request) (textTest, *SpecError) {
	s, t := r.Spec, r.Target
	if r.CheckOnly && t.Annotation != schema.Patch {
		if done, err := checkLiterals(s, t, r.Restrictive); done {
			return nil, err
		}
	}
	switch t.Annotation {
	case schema.Path:
		return compilePath(s, t.Expands, r.Restrictive, r.Env)
	case schema.Command:
		return compileCommand(s, t, r.Restrictive, r.Env)
	case schema.URL:
		return compileURL(s, r.Restrictive)
	case schema.Patch:
		return compilePatch(s, r.Restrictive, r.Env)
	}
	return compileString(s, r.Restrictive)
}

func buildRange(r Request) (tests Tests, err *SpecError) {
	tests.Values.bound = r.Spec.Kind
	tests.Values.limit, err = parseNumber(0, r.Spec.Values[0])
	return tests, err
}

func buildItems(r Request) (tests Tests, err *SpecError) {
	tests.Values.bound = r.Spec.Kind
	tests.Values.count, err = parseCount(r.Spec.Values[0])
	return tests, err
}

func buildLength(r Request) (tests Tests, err *SpecError) {
	if tests.Values.count, err = parseCount(r.Spec.Values[0]); err == nil {
		tests.Text = compileLength(tests.Values.count, r.Target, r.Restrictive, r.Env)
	}
	return tests, err
}

// buildPresent checks the literal of present, which package eval evaluates (K5).
func buildPresent(r Request) (tests Tests, err *SpecError) {
	if lit := r.Spec.Values[0]; lit.Kind != LiteralBool && (lit.Kind != LiteralString || lit.Text != PresentValue) {
		err = literalError(0, "must be true, false or \"value\"", "")
	}
	return tests, err
}

func parseNumber(index int, lit Literal) (jsonstream.Decimal, *SpecError) {
	if lit.Kind != LiteralNumber {
		return jsonstream.Decimal{}, literalError(index, "must be a number, not "+describe(lit), "")
	}
	d, err := jsonstream.ParseDecimal([]byte(lit.Text))
	if err != nil {
		return jsonstream.Decimal{}, literalError(index, lit.Text+" is not a decimal number within the limits", "")
	}
	return d, nil
}

// parseCount reads the literal of min_items, max_items and max_length.
func parseCount(lit Literal) (int, *SpecError) {
	if lit.Kind == LiteralNumber {
		if n, err := strconv.ParseInt(lit.Text, 10, 32); err == nil && n >= 0 {
			return int(n), nil
		}
	}
	return 0, literalError(0, "must be a whole number from 0 to 2147483647, not "+describe(lit), "")
}
