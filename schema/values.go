package schema

import "github.com/stopgate/stopgate/jsonstream"

// typeOf returns the types that allow a value: both Integer and Number for a
// number without a fractional part (A20). An invalid value has none.
func typeOf(v jsonstream.Value) Type {
	if d, ok := v.Decimal(); ok && d.IsInteger() {
		return Number | Integer
	}
	return typeOfKind(v.Kind())
}

// typeOfKind returns the type of all values of a kind.
func typeOfKind(k jsonstream.Kind) Type {
	switch k {
	case jsonstream.String:
		return String
	case jsonstream.Number:
		return Number
	case jsonstream.True, jsonstream.False:
		return Boolean
	case jsonstream.Array:
		return Array
	case jsonstream.Object:
		return Object
	case jsonstream.Null:
		return Null
	}
	return 0
}
