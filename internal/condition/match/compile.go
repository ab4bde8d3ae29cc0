package match

import (
	"strconv"

	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

const anyType = schema.AnyType &^ schema.Null

// natural returns the types a matcher applies to, whatever the target.
func (k Kind) natural() schema.Type {
	switch k {
	case Const, Enum:
		return anyType &^ schema.Array
	case Pattern, Prefix, Suffix, Glob, MaxLength, Host, Scheme, Usage, Reads, Writes, Outside:
		return schema.String
	case Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum:
		return schema.Number | schema.Integer
	case MinItems, MaxItems:
		return schema.Array
	case Present:
		return anyType
	}
	return 0
}

// many reports whether several values are legal: for enum, and for a matcher on strings that has a
// named list.
func (s Spec) many() bool {
	listed := s.Kind == Const || s.Kind.natural() == schema.String && s.Kind != MaxLength
	return s.Kind == Enum || s.List != "" && listed
}

func (m *Matcher) compile(s Spec, t Target, env Env) *SpecError {
	reach := t.Type
	if reach == 0 {
		reach = anyType
	}
	natural := s.Kind.natural()
	if natural == 0 {
		return literalError(-1, "no such matcher", "")
	}
	m.fits = natural.Intersect(reach)
	if _, onlyNull := s.NamesNull(); m.fits == 0 && !onlyNull {
		return literalError(-1, "looks at "+natural.String()+", but the parameter is "+reach.String(), "")
	}
	if len(s.Values) == 0 {
		return literalError(-1, "has no value", "")
	}
	if len(s.Values) > 1 && !s.many() {
		return literalError(1, "takes one value", "")
	}
	switch s.Kind {
	case Const, Enum:
		return m.compileEqual(s, t, env)
	case Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum:
		return m.compileBounds(s)
	case MinItems, MaxItems:
		return m.compileItems(s)
	case Present:
		lit := s.Values[0]
		if lit.Kind != LiteralBool && (lit.Kind != LiteralString || lit.Text != PresentValue) {
			return literalError(0, "must be true, false or \"value\"", "")
		}
		m.want, m.value = s.Presence()
		return nil
	}
	return m.compileText(s, t, env)
}

// compileEqual sorts the literals of const and enum by type; each must fit a type of the target
// (D25-31).
func (m *Matcher) compileEqual(s Spec, t Target, env Env) *SpecError {
	fits := schema.Type(0)
	strings := Spec{Kind: s.Kind, List: s.List}
	var index []int // of the string literals in s.Values
	for i, lit := range s.Values {
		var accepted schema.Type
		switch lit.Kind {
		case LiteralString:
			accepted = schema.String
			strings.Values = append(strings.Values, lit)
			index = append(index, i)
		case LiteralNumber:
			d, err := parseNumber(i, lit)
			if err != nil {
				return err
			}
			accepted = schema.Number
			if d.IsInteger() {
				accepted |= schema.Integer
			}
			m.values.numbers = append(m.values.numbers, d)
		case LiteralBool:
			accepted = schema.Boolean
			if lit.Text == "true" {
				m.values.isTrue = true
			} else {
				m.values.isFalse = true
			}
		case LiteralNull: // the schema decides whether null is allowed
			m.values.isNull = true
			fits |= schema.Null
			continue
		case LiteralObject:
			accepted = schema.Object
			if m.values.objects == nil {
				m.values.objects = make(map[string]bool)
			}
			m.values.objects[lit.JSON] = true
		default:
			return literalError(i, "an array cannot be compared: a pointer that ends at an array addresses its elements", "write the elements as enum")
		}
		if accepted&m.fits == 0 {
			return literalError(i, describe(lit)+" can never equal a value of type "+m.fits.String(), "")
		}
		fits |= accepted & m.fits
	}
	m.fits = fits
	if len(strings.Values) == 0 {
		return nil
	}
	if err := m.compileText(strings, t, env); err != nil {
		if err.Index >= 0 {
			err.Index = index[err.Index]
		}
		return err
	}
	return nil
}

func (m *Matcher) compileBounds(s Spec) *SpecError {
	d, err := parseNumber(0, s.Values[0])
	if err != nil {
		return err
	}
	m.values.limit, m.values.bound = d, s.Kind
	return nil
}

func (m *Matcher) compileItems(s Spec) *SpecError {
	n, err := parseCount(s.Values[0])
	if err != nil {
		return err
	}
	m.values.count, m.values.bound = n, s.Kind
	return nil
}

// compileText compiles the matchers on strings by the annotation of the target.
func (m *Matcher) compileText(s Spec, t Target, env Env) (err *SpecError) {
	if s.Kind == MaxLength {
		n, err := parseCount(s.Values[0])
		if err != nil {
			return err
		}
		m.values.count = n
		m.text = compileLength(n, t, m.restrictive, env)
		return nil
	}
	for i, lit := range s.Values {
		if lit.Kind != LiteralString {
			return literalError(i, "must be a string, not "+describe(lit), "")
		}
		m.written = append(m.written, lit.Text)
	}
	if (s.Kind == Host || s.Kind == Scheme) && t.Annotation != schema.URL {
		return literalError(-1, "looks at URLs, but the parameter is a plain string", `declare it with type = "url"`)
	}
	if (s.Kind == Usage || s.Kind == Reads || s.Kind == Writes) && t.Annotation != schema.Command {
		return literalError(-1, "looks at command lines, but the parameter is none", `declare it with type = "command"`)
	}
	if s.Kind == Outside && t.Annotation != schema.Path && t.Annotation != schema.Command && t.Annotation != schema.Patch {
		return literalError(-1, "looks at paths, but the parameter is none", `declare it with type = "path"`)
	}
	if m.unbuilt && t.Annotation != schema.Patch {
		if done, err := checkLiterals(s, t, m.restrictive); done {
			return err
		}
	}
	switch t.Annotation {
	case schema.Path:
		m.text, err = compilePath(s, t.Expands, m.restrictive, env)
	case schema.Command:
		m.text, err = compileCommand(s, t, m.restrictive, env)
	case schema.URL:
		m.text, err = compileURL(s, m.restrictive)
	case schema.Patch:
		m.text, err = compilePatch(s, m.restrictive, env)
	default:
		m.text, err = compileString(s, m.restrictive)
	}
	return err
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

// describe returns the name of a literal for a message.
func describe(lit Literal) string {
	switch lit.Kind {
	case LiteralString:
		return "the string " + strconv.Quote(lit.Text)
	case LiteralNumber:
		return "the number " + lit.Text
	case LiteralBool:
		return lit.Text
	case LiteralArray:
		return "an array"
	case LiteralNull:
		return "null"
	}
	return "an object"
}
