// Package number has the conditions on numbers, which are compared exactly in any spelling (A19-A21,
// I10), and on the number of elements of arrays.
package number

import (
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// The rows of the table of kinds.
var (
	// Minimum is the row of minimum.
	Minimum = condition.Definition{Kind: condition.Minimum, Types: schema.Number | schema.Integer, Undeclared: condition.AnyReading, Build: compare,
		Doc: "The number is at least this one."}
	// Maximum is the row of maximum.
	Maximum = condition.Definition{Kind: condition.Maximum, Types: schema.Number | schema.Integer, Undeclared: condition.AnyReading, Build: compare,
		Doc: "The number is at most this one."}
	// ExclusiveMinimum is the row of exclusive_minimum.
	ExclusiveMinimum = condition.Definition{Kind: condition.ExclusiveMinimum, Types: schema.Number | schema.Integer, Undeclared: condition.AnyReading, Build: compare,
		Doc: "The number is greater."}
	// ExclusiveMaximum is the row of exclusive_maximum.
	ExclusiveMaximum = condition.Definition{Kind: condition.ExclusiveMaximum, Types: schema.Number | schema.Integer, Undeclared: condition.AnyReading, Build: compare,
		Doc: "The number is less."}
	// MinItems is the row of min_items.
	MinItems = condition.Definition{Kind: condition.MinItems, Types: schema.Array, Undeclared: condition.AnyReading, Build: count,
		Doc: "The array has at least that many elements."}
	// MaxItems is the row of max_items.
	MaxItems = condition.Definition{Kind: condition.MaxItems, Types: schema.Array, Undeclared: condition.AnyReading, Build: count,
		Doc: "The array has at most that many elements."}
)

func compare(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	tests.Values.Bound = r.Spec.Kind
	tests.Values.Limit, err = condition.ParseNumber(0, r.Spec.Values[0])
	return tests, err
}

func count(r condition.Request) (tests condition.Tests, err *condition.SpecError) {
	tests.Values.Bound = r.Spec.Kind
	tests.Values.Count, err = condition.ParseCount(r.Spec.Values[0])
	return tests, err
}
