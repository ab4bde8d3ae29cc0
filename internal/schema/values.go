package schema

import "github.com/stopgate/stopgate/jsonstream"

// typeOf returns the narrowest type that allows a value: Integer for a number
// without a fractional part (A20). An invalid value has none.
func typeOf(v jsonstream.Value) Type {
	if d, ok := v.Decimal(); ok && d.IsInteger() {
		return Integer
	}
	return typeOfKind(v.Kind())
}

// typeOfKind returns the type of all values of a kind; an invalid one has none.
func typeOfKind(k jsonstream.Kind) Type {
	return [...]Type{
		jsonstream.Invalid: 0, jsonstream.Object: Object, jsonstream.Array: Array, jsonstream.String: String, jsonstream.Number: Number,
		jsonstream.True: Boolean, jsonstream.False: Boolean, jsonstream.Null: Null,
	}[k]
}
