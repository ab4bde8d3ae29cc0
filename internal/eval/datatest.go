package eval

import (
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// DataTest is a compiled condition on a session's data. It is safe for concurrent use.
type DataTest struct {
	pointer  jsonstream.Pointer
	kind     condition.Kind
	test     *match.Matcher
	restrict bool
}

// NewDataTest compiles a condition for restrictive rules, for which one matching value of several
// is enough, or for permissive rules, for which all have to match.
func NewDataTest(c syntax.SessionCondition, restrict bool, env condition.Env) (*DataTest, error) {
	m, err := match.Compile(c.Spec, condition.Target{}, restrict, env)
	if err != nil {
		return nil, err
	}
	return &DataTest{pointer: c.Pointer, kind: c.Spec.Kind, test: m, restrict: restrict}, nil
}

// Holds reports whether the data match. The result is unknown if the value is missing or null,
// except for `present`.
func (t *DataTest) Holds(data jsonstream.Value) (holds, known bool) {
	values, complete := t.pointer.All(nil, data)
	values = slices.DeleteFunc(values, func(v jsonstream.Value) bool { return v.Kind() == jsonstream.Null })
	if t.kind == condition.Present {
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
		return kinds&schema.String != 0 && t.test.Match([]byte(v.Text()))
	case jsonstream.Number:
		d, ok := v.Decimal()
		return kinds&schema.Number != 0 && ok && t.test.Number(d)
	case jsonstream.True, jsonstream.False:
		return kinds&schema.Boolean != 0 && t.test.Bool(v.Kind() == jsonstream.True)
	case jsonstream.Array:
		if t.kind == condition.MinItems || t.kind == condition.MaxItems {
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

// dataTest is one condition of a file on the data of sessions.
type dataTest struct {
	key        string
	permissive bool
	test       *DataTest
}
